# SPDX-License-Identifier: Apache-2.0
"""The ISA contract (toolchains/isa/levels.bzl, as JSON), and which level an object was built for."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from isa_proof import binutils
from isa_proof.errors import ProofError

# What GCC 15 compiles for; it decides whether zicsr and zifencei are named.
_SPECIFICATION = "-misa-spec=20191213"
_VERSIONED = re.compile(r"([a-z][a-z0-9]*?)\d+p\d+$")


@dataclasses.dataclass(frozen=True)
class Level:
    """One row; `vlen` is 0 for code that runs at any VLEN."""

    name: str
    vlen: int
    extensions: tuple[str, ...]
    march: str


@dataclasses.dataclass(frozen=True)
class Contract:
    """All rows, and the extensions that rows may name."""

    levels: dict[str, Level]
    extensions: tuple[str, ...]

    def level(self, name: str) -> Level:
        """A row; ProofError if there is none."""
        if name not in self.levels:
            raise ProofError(f"level {name}: toolchains/isa/levels.bzl has {', '.join(sorted(self.levels))}")
        return self.levels[name]


def read(path: Path) -> Contract:
    """Reads the JSON that the rules write."""
    data = json.loads(path.read_text())
    levels = {name: Level(name, row["vlen"], tuple(row["extensions"]), row["march"]) for name, row in data["levels"].items()}
    return Contract(levels, tuple(data["extensions"]))


def extensions_of(arch: str) -> frozenset[str]:
    """Extensions that a Tag_RISCV_arch names, without versions; the base (rv64i) is one."""
    found = [_VERSIONED.match(word) for word in arch.split("_")]
    if not all(found):
        raise ProofError(f"Tag_RISCV_arch {arch!r} is no list of extensions with versions")
    return frozenset(match[1] for match in found if match)


@functools.cache
def expected(assembler: str, readelf: str, march: str) -> frozenset[str]:
    """What the attributes of code for `march` name: the locked assembler's own answer for an empty file."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.o"
        binutils.output([assembler, _SPECIFICATION, f"-march={march}", "-o", empty, "-"], stdin="")
        arch = binutils.parse_arch(binutils.output([readelf, "--arch-specific", empty]))
    assert arch is not None
    return extensions_of(arch)


def built_for(contract: Contract, tools: binutils.Tools, arch: str) -> str | None:
    """Name of the level whose attributes these are; None: of no level."""
    found = extensions_of(arch)
    names = [name for name, level in contract.levels.items() if expected(tools.assembler, tools.readelf, level.march) == found]
    return names[0] if names else None


def attribute_problem(contract: Contract, tools: binutils.Tools, level: Level, arch: str | None, *, prebuilt: bool = False) -> str | None:
    """Why an object's attributes do not fit its level, with the remedy; None if they do."""
    if arch is None:
        return (
            "it has no Tag_RISCV_arch, so nothing says which cores may run it; "
            f"compile it with the toolchain of level {level.name} (level_objects) and do not strip .riscv.attributes"
        )
    found, wanted = extensions_of(arch), expected(tools.assembler, tools.readelf, level.march)
    if found == wanted or (prebuilt and found < wanted):
        return None
    if (other := built_for(contract, tools, arch)) is not None:
        return (
            f"it was built for level {other} and is listed as level {level.name}; list it where {other}'s objects are, "
            f'or build it with level_objects(level = "{level.name}")'
        )
    return (
        f"its attributes say {arch}, which is no level of toolchains/isa/levels.bzl ({_names(contract.levels)}) and not level {level.name} ({level.march}); "
        f'build it with level_objects(level = "{level.name}"), without an -march of its own'
    )


def _names(levels: Iterable[str]) -> str:
    return ", ".join(sorted(levels))
