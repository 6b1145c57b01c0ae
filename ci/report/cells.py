# SPDX-License-Identifier: Apache-2.0
"""From the results of a test's shards to its cell of the matrix."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence

import xml_text
from ci.report import junit_file
from ci.report.errors import DamagedFile
from ci.report.model import Case, Cell, Outcome

HOST = "host"


@dataclasses.dataclass(frozen=True)
class Part:
    """One shard of one run. xml, log: its files, None if it left none. status: what Bazel says, None if that is not known. shard: INDEX of TOTAL, from 1."""

    label: str
    xml: pathlib.Path | None
    log: pathlib.Path | None
    status: str | None = None
    shard: tuple[int, int] = (1, 1)


@dataclasses.dataclass(frozen=True)
class Collected:
    """cells: all of them. damaged: files that could not be read; their cells are errors."""

    cells: list[Cell]
    damaged: list[DamagedFile]


def environment_of(label: str, properties: dict[str, str], known: Sequence[str]) -> str:
    """What the run itself says; else what the target is named for (of several names the longest: qemu_sm10, not sm10); else the machine that builds."""
    if properties.get("environment"):
        return properties["environment"]
    return max((name for name in known if _without(label, name)), key=len, default=HOST)


def _without(label: str, environment: str) -> str | None:
    """The label without the environment; None if it does not name it."""
    package, _, name = label.rpartition(":")
    words = name.split("_")
    wanted = environment.split("_")
    for start in range(len(words) - len(wanted) + 1):
        if words[start : start + len(wanted)] == wanted and len(words) > len(wanted):
            return f"{package}:{'_'.join(words[:start] + words[start + len(wanted) :])}"
    return None


def family_of(label: str, environment: str) -> str:
    """The label without the environment, so that the same test elsewhere is in the same row."""
    return _without(label, environment) or _without(label, environment.removeprefix("qemu_")) or label


def error_case(name: str, message: str, details: str = "") -> Case:
    """For what is known of no case in particular."""
    return Case(name=name, classname="target", outcome=Outcome.ERROR, message=message, details=details or message)


def _end_of(log: pathlib.Path | None, size: int = 4096) -> str:
    """The last words of a test that could not say more."""
    if log is None or not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - size))
        return xml_text.printable(file.read().decode(errors="replace"))


def _said(status: str | None, otherwise: str = "") -> str:
    said = f"Bazel: {status}" if status else otherwise
    return f" ({said})" if said else ""


def _read(part: Part, damaged: list[DamagedFile]) -> junit_file.Results:
    where = "" if part.shard[1] == 1 else f" of shard {part.shard[0]} of {part.shard[1]}"
    if part.xml is None or not part.xml.exists():
        message = f"no test.xml{where}{_said(part.status, 'killed or crashed before it wrote one')}"
        return junit_file.Results((error_case(f"{part.label}{where}", message, _end_of(part.log)),), {})
    try:
        results = junit_file.read(part.xml)
    except DamagedFile as error:
        damaged.append(error)
        return junit_file.Results((error_case(f"{part.label}{where}", f"damaged test.xml{where}{_said(part.status)}", str(error)),), {})
    if part.status not in (None, "PASSED", "FLAKY") and not any(case.outcome.bad for case in results.cases):
        wrong = error_case(f"{part.label}{where}", f"Bazel: {part.status}, though no case{where} failed; see the log")
        return junit_file.Results((*results.cases, wrong), results.properties)
    return results


def missing_shards(parts: Sequence[Part]) -> list[Part]:
    """Shards that left nothing."""
    total = max(part.shard[1] for part in parts)
    there = {part.shard[0] for part in parts}
    return [Part(parts[0].label, None, None, None, (index, total)) for index in range(1, total + 1) if index not in there]


def make(label: str, parts: Sequence[Part], known: Sequence[str], damaged: list[DamagedFile]) -> Cell:
    """A test's cell."""
    ordered = sorted([*parts, *missing_shards(parts)], key=lambda part: part.shard)
    results = [_read(part, damaged) for part in ordered]
    properties = {name: value for result in results for name, value in result.properties.items()}
    environment = environment_of(label, properties, known)
    return Cell(
        label=label,
        family=family_of(label, environment),
        environment=environment,
        cases=tuple(case for result in results for case in result.cases),
        properties=properties,
        logs=tuple(part.log for part in ordered if part.log is not None and part.log.exists()),
    )


def without_results(label: str, known: Sequence[str], incompatible: str = "", error: str = "") -> Cell:
    """A test that did not run: by its nature, or because something went wrong."""
    environment = environment_of(label, {}, known)
    cases = (error_case(label, error),) if error else ()
    return Cell(label=label, family=family_of(label, environment), environment=environment, cases=cases, incompatible=incompatible)
