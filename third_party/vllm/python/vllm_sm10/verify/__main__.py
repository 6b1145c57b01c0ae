# SPDX-License-Identifier: Apache-2.0
"""Verifies the vllm-sm10 wheel: every byte against RECORD, every file that was added, byte code against its source, and what runs on this machine.

Without WHEEL: the wheel that this Python has installed. A WHEEL file needs no installation and no riscv64 machine:
PYTHONPATH=WHEEL python3 -m vllm_sm10.verify WHEEL

exit codes: 0 as built; 1 altered; 2 nothing could be verified; 3 as built, but it does not run on this machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vllm_sm10.verify import files, integrity, machine, provenance
from vllm_sm10.verify.errors import VerifyError

_SHOWN = 20


@dataclass(frozen=True)
class Report:
    """What was found. statement: the provenance that the file was compared with, or why none. machine: empty if the files are not as built."""

    place: str
    wheel: bool
    integrity: integrity.Integrity
    statement: str
    machine: tuple[machine.Answer, ...]

    @property
    def code(self) -> int:
        if self.integrity.problems:
            return 1
        return 3 if any(answer.blocks and answer.verdict == machine.NO for answer in self.machine) else 0


def _manifest_problems(found: files.Files) -> Iterator[tuple[str, str]]:
    try:
        manifest = machine.manifest(found)
        for name, digest in machine.libraries_of(manifest, found) if manifest else ():
            data = found.read(name)
            if data is None or hashlib.sha256(data).hexdigest() != digest:
                yield name, f"is not the library that {machine.MANIFEST} is about"
    except (ValueError, KeyError, TypeError) as error:
        yield machine.MANIFEST, f"is no ISA manifest: {error!r}"


def _machine(found: files.Files) -> Iterator[machine.Answer]:
    first = machine.architecture(found)
    yield first
    yield machine.python(found)
    if first.verdict != machine.YES:
        return
    libraries = [path for path in found.present(["vllm", "vllm_sm10"]) if path.endswith(".so")]
    rest = [machine.glibc(found, libraries), machine.torch(found)]
    yield from rest
    if isinstance(found, files.Wheel):
        yield machine.Answer("cores", machine.UNKNOWN, "what runs on which core is known when the wheel is installed", blocks=False)
    elif all(answer.verdict != machine.NO for answer in rest):
        from vllm_sm10 import capabilities

        yield from machine.core(found, capabilities)


def report(wheel: Path | None, statement: Path | None, byte_code: bool) -> Report:
    """Looks at everything; VerifyError."""
    found: files.Files = files.wheel(wheel) if wheel else files.installed()
    looked = integrity.check(found, byte_code)
    problems = list(looked.problems)
    said = ""
    if wheel:
        statement = statement or provenance.beside(wheel)
        if statement is None:
            said = "no provenance statement: RECORD vouches for the files, and nothing for the archive around them"
        elif problem := provenance.problem(wheel, statement):
            problems.append((wheel.name, problem))
        else:
            said = f"the file is the one that {statement.name} is about"
    if not problems:
        problems += _manifest_problems(found)
    looked = dataclasses.replace(looked, problems=tuple(problems))
    return Report(found.place, wheel is not None, looked, said, () if problems else tuple(_machine(found)))


def lines(found: Report) -> Iterator[str]:
    """The text for people."""
    looked = found.integrity
    yield f"{found.place}: {looked.files} files looked at"
    if looked.byte_code:
        yield f"  {looked.byte_code} byte-code files are compared with what their sources compile to"
    if looked.unchecked:
        yield f"  {looked.unchecked} byte-code files are not looked at (--no-byte-code)"
    if found.statement:
        yield f"  {found.statement}"
    if looked.problems:
        yield f"NOT as built: {len(looked.problems)} findings. Do not run it; install the wheel anew from where you trust."
        for path, problem in looked.problems[:_SHOWN]:
            yield f"  {path} {problem}"
        if len(looked.problems) > _SHOWN:
            yield f"  and {len(looked.problems) - _SHOWN} more (--json lists all)"
        return
    yield "as built: every file is as RECORD says, and none was added"
    marks = {machine.YES: "ok", machine.NO: "no", machine.UNKNOWN: "? "}
    yield "on this machine:"
    for answer in found.machine:
        yield f"  {marks[answer.verdict]} {answer.about}: {answer.text}"
    if any(answer.blocks and answer.verdict == machine.UNKNOWN for answer in found.machine):
        yield "whether it runs here could not be told: see the lines marked ?"
    else:
        yield "it runs here" if found.code == 0 else "it does NOT run here: see the lines marked no"


def main(words: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m vllm_sm10.verify", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", nargs="?", type=Path, metavar="WHEEL", help="a wheel file; default: what is installed")
    parser.add_argument("--provenance", type=Path, metavar="FILE", help="statement that vouches for the whole WHEEL; default: the one beside it")
    parser.add_argument("--no-byte-code", action="store_true", help="do not compile sources anew to compare byte code (a minute on a slow machine)")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    options = parser.parse_args(words)
    if options.provenance and not options.wheel:
        parser.error("--provenance is about a WHEEL file; name it")
    try:
        found = report(options.wheel, options.provenance, not options.no_byte_code)
    except VerifyError as error:
        print(f"vllm_sm10.verify: error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(dataclasses.asdict(found) | {"code": found.code}, indent=1) if options.json else "\n".join(lines(found)))
    return found.code


if __name__ == "__main__":
    sys.exit(main())
