# SPDX-License-Identifier: Apache-2.0
"""Which distributions the wheel requires: upstream's list for riscv64, with the reviewed differences."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from wheelbuild.errors import WheelError

PYTHON_VERSIONS = ("3.11", "3.12", "3.13", "3.14")


@dataclass(frozen=True)
class Differences:
    """requirements.toml: names to drop, and requirements that replace or join upstream's, by canonical name."""

    drop: frozenset[str]
    replace: dict[str, Requirement]
    add: dict[str, Requirement]


def read_differences(path: Path) -> Differences:
    """Reads requirements.toml; WheelError for an unknown table or a name that its requirement contradicts."""
    tables = tomllib.loads(path.read_text())
    if unknown := sorted(tables.keys() - {"add", "drop", "replace"}):
        raise WheelError(f"{path}: unknown table [{unknown[0]}]; there are [add], [drop] and [replace]")

    def parsed(table: str) -> dict[str, Requirement]:
        found = {}
        for name, text in tables.get(table, {}).items():
            requirement = _requirement(text, path)
            if canonicalize_name(requirement.name) != canonicalize_name(name):
                raise WheelError(f"{path}: [{table}] {name} holds a requirement of {requirement.name}")
            found[canonicalize_name(name)] = requirement
        return found

    drop = frozenset(canonicalize_name(name) for name in tables.get("drop", {}))
    return Differences(drop, parsed("replace"), parsed("add"))


def upstream_requirements(path: Path) -> list[Requirement]:
    """The requirements of a pip requirements file and of those that it includes by -r."""
    found = []
    for line in path.read_text().splitlines():
        text = line.split(" #")[0].strip()
        if text.startswith("-r "):
            found += upstream_requirements(path.parent / text.split()[1])
        elif text and not text.startswith(("#", "--")):
            found.append(_requirement(text, path))
    return found


def _requirement(text: str, path: Path) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise WheelError(f"{path}: `{text}` is no requirement (PEP 508): {error}") from error


def concerns_riscv64(requirement: Requirement) -> bool:
    """Whether the marker holds on riscv64 Linux for any Python that vLLM supports."""
    if requirement.marker is None:
        return True
    machine = {"platform_machine": "riscv64", "platform_system": "Linux", "sys_platform": "linux", "os_name": "posix"}
    return any(
        requirement.marker.evaluate({**machine, "python_version": version, "python_full_version": f"{version}.0", "extra": ""}) for version in PYTHON_VERSIONS
    )


def wheel_requirements(upstream: list[Requirement], differences: Differences) -> list[str]:
    """Requires-Dist values, sorted; WheelError for a difference that changes nothing."""
    found: set[str] = set()
    unused = set(differences.drop) | set(differences.replace)
    names = set()
    for requirement in upstream:
        if not concerns_riscv64(requirement):
            continue
        name = canonicalize_name(requirement.name)
        names.add(name)
        unused.discard(name)
        if name not in differences.drop:
            found.add(str(differences.replace.get(name, requirement)))
    if unused:
        raise WheelError(f"requirements.toml: upstream no longer requires {sorted(unused)[0]} on riscv64; remove its entry")
    if both := sorted(names & differences.add.keys()):
        raise WheelError(f"requirements.toml: upstream requires {both[0]} on riscv64 itself; remove it from [add]")
    return sorted(found | {str(requirement) for requirement in differences.add.values()}, key=str.lower)
