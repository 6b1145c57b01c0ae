# SPDX-License-Identifier: Apache-2.0
"""What the wheel asks of a machine, and what this one has."""

from __future__ import annotations

import email
import importlib.metadata
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vllm_sm10.verify.files import Files

if TYPE_CHECKING:
    from vllm_sm10.inventory import Capabilities

MANIFEST = "vllm_sm10/isa_manifest.json"
YES, NO, UNKNOWN = "yes", "no", "unknown"
# The extension that a core's own record tells, and not the levels' list of what is missing.
_MATRIX = "xsmtvdotii"
_GLIBC = re.compile(rb"\x00GLIBC_(\d+)\.(\d+)(?=\x00)")
_TORCH = re.compile(r"torch\b(?!-)")


@dataclass(frozen=True)
class Answer:
    """One question. verdict: yes, no or unknown. blocks: whether nothing of ours runs with a no."""

    about: str
    verdict: str
    text: str
    blocks: bool = True


def _text(files: Files, name: str) -> str:
    return (files.read(f"{files.info}/{name}") or b"").decode("utf-8", "replace")


def _tags(files: Files) -> list[str]:
    return email.message_from_string(_text(files, "WHEEL")).get_all("Tag") or []


def architecture(files: Files) -> Answer:
    """The wheel's platform tag."""
    wanted = sorted({tag.rsplit("_", 1)[-1] for tag in _tags(files)})
    here = platform.machine()
    if here in wanted:
        return Answer("architecture", YES, f"{here}, as the wheel's tag asks")
    return Answer("architecture", UNKNOWN, f"the wheel is for {', '.join(wanted) or 'an unknown machine'}, this is {here}: only the files can be checked here")


def python(files: Files) -> Answer:
    """The tag cpXY-abi3: CPython X.Y or newer."""
    here = f"{platform.python_implementation()} {platform.python_version()}"
    for tag in _tags(files):
        if match := re.match(r"cp(\d)(\d+)-abi3-", tag):
            oldest = (int(match[1]), int(match[2]))
            good = sys.implementation.name == "cpython" and sys.version_info[:2] >= oldest
            need = f"CPython {oldest[0]}.{oldest[1]} or newer"
            return Answer("Python", YES if good else NO, f"{here}; the wheel needs {need}")
    return Answer("Python", UNKNOWN, f"{here}; the wheel's tag names no Python")


def glibc(files: Files, libraries: Iterable[str]) -> Answer:
    """The newest version of the C library that a library names."""
    needed = max((tuple(map(int, found)) for name in libraries for found in _GLIBC.findall(files.read(name) or b"")), default=None)
    said = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else None
    if needed is None:
        return Answer("C library", UNKNOWN, "the libraries name no version of glibc")
    need = f"the libraries need glibc {needed[0]}.{needed[1]}"
    if not said or not said.startswith("glibc "):
        return Answer("C library", NO, f"this is no glibc; {need}")
    here = tuple(map(int, said.split()[1].split(".")[:2]))
    return Answer("C library", YES if here >= needed else NO, f"{said}; {need}")


def torch(files: Files) -> Answer:
    """The wheel's requirement; _C is bound to one release's C++ interface."""
    lines = email.message_from_string(_text(files, "METADATA")).get_all("Requires-Dist") or []
    requirement = next((line for line in lines if _TORCH.match(line) and "extra" not in line), None)
    if requirement is None:
        return Answer("torch", UNKNOWN, "the wheel names no torch")
    try:
        here = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return Answer("torch", NO, f"there is none; the wheel needs {requirement}")
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return Answer("torch", UNKNOWN, f"{here}; the wheel needs {requirement}; without the package packaging the two cannot be compared")
    good = Requirement(requirement).specifier.contains(here, prereleases=True)
    return Answer("torch", YES if good else NO, f"{here}; the wheel needs {requirement}")


def manifest(files: Files) -> dict[str, Any] | None:
    """The ISA manifest; None if the wheel has none."""
    data = files.read(MANIFEST)
    return json.loads(data) if data else None


def libraries_of(found: dict[str, Any], files: Files) -> Iterable[tuple[str, str]]:
    """Path and expected sha256 of each library that the manifest is about."""
    for row in found["libraries"]:
        name = row["library"]
        yield (name if "/" in name else f"vllm/{name if name.endswith('.so') else name + '.abi3.so'}"), row["sha256"]


def _needs(level: dict[str, Any]) -> str:
    return ", ".join([f"VLEN {level['vlen']}" if level["vlen"] else "any VLEN", *level["extensions"]])


def levels(found: dict[str, Any], here: Capabilities) -> list[Answer]:
    """Each level of the manifest on this machine's cores."""
    answers = []
    for level in found["levels"]:
        own = next((one for one in here.levels if one.name == level["level"]), None)
        about = f"level {level['level']}"
        if not level["vlen"]:
            answers.append(Answer(about, YES, "runs on every core", blocks=False))
            continue
        matrix = _MATRIX in level["extensions"]
        cores = [core for core in here.machine if core.vlen == level["vlen"] and (core.matrix or not matrix)]
        unseen = [core for core in here.machine if not core.known]
        places = "; ".join(f"harts {', '.join(map(str, core.harts))} ({core.kind})" for core in cores)
        if cores and (own is None or not own.missing):
            answers.append(Answer(about, YES, f"needs {_needs(level)}: {places}", blocks=False))
        elif cores and own is not None:
            answers.append(Answer(about, NO, f"needs {_needs(level)}; the cores lack {', '.join(own.missing)}, and run scalar", blocks=False))
        elif unseen:
            answers.append(Answer(about, UNKNOWN, f"needs {_needs(level)}; not all cores of this machine could be looked at", blocks=False))
        else:
            widths = sorted({core.vlen or 0 for core in here.machine})
            has = ", ".join(f"VLEN {width}" if width else "no vectors" for width in widths)
            answers.append(Answer(about, NO, f"needs {_needs(level)}; this machine has {has}, where other levels run", blocks=False))
    return answers


def entries(here: Capabilities) -> Answer:
    """How many ops run on this thread."""
    running = [op for op in here.ops if op.runs_at]
    without = [op.name for op in here.ops if not op.runs_at]
    text = f"{len(running)} of {len(here.ops)} run on this thread, at level {here.level} ({here.why})"
    return Answer("ops", YES if running else NO, text + (f"; not {', '.join(without)}: python -m vllm_sm10 says why" if without else ""), blocks=not running)


def core(files: Files, ask: Callable[[], Capabilities]) -> list[Answer]:
    """The manifest against this machine's cores. Loads the library, so only after its bytes were found right."""
    try:
        here = ask()
    except (ImportError, RuntimeError, OSError) as error:
        return [Answer("cores", NO, f"the library cannot be loaded: {error}")]
    if here.error:
        return [Answer("cores", NO, here.error)]
    found = manifest(files)
    if found is None:
        return [Answer("cores", UNKNOWN, f"the wheel has no {MANIFEST}"), entries(here)]
    return [*levels(found, here), entries(here)]
