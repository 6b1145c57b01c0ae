# SPDX-License-Identifier: Apache-2.0
"""What one step of a kernel executed, out of the emulator's counts."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ime2.counts.errors import CountError
from toolchains.qemu.sm10.counts import Instruction, Symbol, function_of, parse_instruction, symbols_of

# Facts that are held and printed, in this order.
FACTS = ("instructions", "hp", "ime2_other", "load_bytes", "store_bytes", "weight_bytes")
_PT_LOAD = 1


@dataclasses.dataclass(frozen=True)
class Slot:
    """An instruction's place in the program, and its word."""

    offset: int
    word: int


@dataclasses.dataclass(frozen=True)
class Count:
    """How often an instruction ran and how many bytes it moved."""

    kind: str
    executed: int
    moved: int


Profile = Mapping[Slot, Count]


@dataclasses.dataclass(frozen=True)
class Steps:
    """What the guest program printed: process of each step by (name, M), and by M where weights are loaded."""

    process: Mapping[tuple[str, int], int]
    weight_loads: Mapping[int, frozenset[int]]


@dataclasses.dataclass(frozen=True)
class Program:
    """The guest program: its functions, and how addresses become file offsets."""

    path: Path
    symbols: Sequence[Symbol]
    segments: Sequence[tuple[int, int, int]]

    def offset(self, address: int) -> int:
        for start, offset, length in self.segments:
            if start <= address < start + length:
                return address - start + offset
        raise CountError(f"{self.path}: address {address:#x} is in no segment; is this the program that ran?")

    def function(self, offset: int) -> str:
        return function_of(self.symbols, offset)


def read_program(path: Path) -> Program:
    data = path.read_bytes()
    at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    headers = (struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count))
    return Program(path, symbols_of(data), [(address, offset, length) for kind, _, offset, address, _, length in headers if kind == _PT_LOAD])


def parse_steps(text: str, program: Program) -> Steps:
    """Reads the guest program's lines."""
    process: dict[tuple[str, int], int] = {}
    loads: dict[int, set[int]] = {}
    for line in text.splitlines():
        match line.split("\t"):
            case ["step", pid, name, m]:
                process[name, int(m)] = int(pid)
            case ["weight_load", m, address]:
                loads.setdefault(int(m), set()).add(program.offset(int(address, 0)))
            case _:
                raise CountError(f"{program.path}: unexpected line {line!r}; build the guest program again")
    return Steps(process, {m: frozenset(found) for m, found in loads.items()})


def read_profiles(path: Path) -> Mapping[int, Profile]:
    """Counts of each process."""
    profiles: dict[int, dict[Slot, Count]] = {}
    missing: dict[int, int] = {}
    current = 0
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        cells = line.split("\t")
        if cells[0] == "process":
            current = int(cells[1])
            profiles[current] = {}
        elif cells[0] == "total":
            if cells[1] == "instructions":
                missing[current] = int(cells[2])
        else:
            item: Instruction = parse_instruction(cells, f"{path}:{number}")
            profiles[current][Slot(item.offset, item.word)] = Count(item.kind, item.executed, item.moved)
            missing[current] -= item.executed
    lost = [pid for pid, instructions in missing.items() if instructions]
    if lost:
        raise CountError(f"{path}: instructions of process {lost[0]} are missing; was the emulator killed? Run again")
    return profiles


def less(step: Profile, nothing: Profile) -> dict[Slot, Count]:
    """What the step's process did beyond one that did nothing."""
    found = {}
    for slot, count in step.items():
        other = nothing.get(slot, Count(count.kind, 0, 0))
        if count.executed != other.executed:
            found[slot] = Count(count.kind, count.executed - other.executed, count.moved - other.moved)
    return found


def of_the_call(profile: Profile, program: Program) -> dict[Slot, Count]:
    """Without the guest program's own functions, which have step_ in their names."""
    return {slot: count for slot, count in profile.items() if "step_" not in program.function(slot.offset)}


def check_watched(call: Profile, watched: Profile, program: Program) -> None:
    """Each load of the call must have run under the watch too: else nobody knows what it reads."""
    for slot, count in call.items():
        if count.kind == "vload" and slot not in watched:
            raise CountError(
                f"the load {slot.word:#x} in {program.function(slot.offset)} did not run in step watch, so what it reads is unknown; "
                "raise kWatchedTiles in ime2/counts/steps.cc until it does"
            )


def facts(profile: Profile, weight_loads: Iterable[int] | None) -> dict[str, int]:
    """FACTS of a profile; without weight_loads, without weight_bytes."""
    counts = list(profile.values())
    found = {
        "instructions": sum(count.executed for count in counts),
        "hp": sum(count.executed for count in counts if count.kind == "hp"),
        "ime2_other": sum(count.executed for count in counts if count.kind == "ime2"),
        "load_bytes": sum(count.moved for count in counts if count.kind == "vload"),
        "store_bytes": sum(count.moved for count in counts if count.kind == "vstore"),
    }
    if weight_loads is not None:
        places = set(weight_loads)
        found["weight_bytes"] = sum(count.moved for slot, count in profile.items() if slot.offset in places)
    return found
