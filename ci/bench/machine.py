# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of the machine that is measured. What it does not tell must be given: nothing is guessed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from .errors import BenchError

Facts = dict[str, str | int | float | bool]

_CPU = "sys/devices/system/cpu/cpu{}/cpufreq/{}"
_X100, _A100 = 0, 8


def _text(root: Path, *places: str) -> str:
    """The first of some files that is there."""
    for place in places:
        try:
            text = (root / place).read_bytes().decode("utf-8", "replace").strip("\0\n ")
        except OSError:
            continue
        if text:
            return text
    raise BenchError(f"cannot read /{' or /'.join(places)}")


def _mhz(root: Path, core: int) -> int:
    return int(_text(root, _CPU.format(core, "scaling_max_freq"))) // 1000


def _governor(root: Path) -> str:
    found = [_text(root, _CPU.format(core, "scaling_governor")) for core in (_X100, _A100)]
    return found[0] if found[0] == found[1] else "/".join(found)


def _core_map(root: Path) -> str:
    """Which core is of which type, by marchid: 0-7 0x58, 8-15 0x41."""
    text = _text(root, "proc/cpuinfo")
    cores = [int(number) for number in re.findall(r"^processor\s*:\s*(\d+)$", text, re.M)]
    types = re.findall(r"^marchid\s*:\s*(0x[0-9a-f]+)$", text, re.M)
    if not cores or len(cores) != len(types):
        raise BenchError("/proc/cpuinfo does not give each processor its marchid")
    runs = [[core for core, _ in group] for _, group in itertools.groupby(zip(cores, types, strict=True), key=lambda pair: pair[1])]
    return ", ".join(f"{run[0]}-{run[-1]} {types[cores.index(run[0])]}" for run in runs)


def _temperature(root: Path) -> float:
    zones = sorted((root / "sys/class/thermal").glob("thermal_zone*/temp"))
    if not zones:
        raise BenchError("no /sys/class/thermal/thermal_zone*/temp")
    return max(int(zone.read_text()) for zone in zones) / 1000


def _throttled(root: Path) -> bool:
    """Does a cooling device hold a CPU's clock down?"""
    states = [
        int((device / "cur_state").read_text())
        for device in sorted((root / "sys/class/thermal").glob("cooling_device*"))
        if re.search("cpu", (device / "type").read_text(), re.I)
    ]
    if not states:
        raise BenchError("no /sys/class/thermal/cooling_device* of a CPU: throttling would not be seen")
    return any(states)


def _memory(root: Path) -> int:
    raise BenchError("no known file tells the memory's transfers a second")


_READERS: Mapping[str, Callable[[Path], str | int | float | bool]] = {
    "a100_mhz": lambda root: _mhz(root, _A100),
    "board": lambda root: _text(root, "proc/device-tree/model"),
    "core_map": _core_map,
    "firmware": lambda root: _text(root, "proc/device-tree/chosen/u-boot,version", "sys/class/dmi/id/bios_version"),
    "governor": _governor,
    "kernel": lambda root: _text(root, "proc/sys/kernel/osrelease"),
    "memory_mts": _memory,
    "temperature_c": _temperature,
    "throttled": _throttled,
    "x100_mhz": lambda root: _mhz(root, _X100),
}
# What a person may know better than the machine tells. Never the state.
GIVABLE = tuple(sorted(set(_READERS) - {"temperature_c", "throttled"}))


def read_fact(root: Path, name: str) -> str | int | float | bool:
    """One fact of the fingerprint.

    Raises:
      BenchError, OSError, ValueError: the machine does not tell.
    """
    return _READERS[name](root)


def read_board(root: Path, given: Mapping[str, str | int]) -> Facts:
    """The board's fingerprint now.

    Raises:
      BenchError: with all facts that can neither be read nor were given.
    """
    facts: Facts = {}
    problems = []
    for name, reader in _READERS.items():
        if name in given:
            facts[name] = given[name]
            continue
        try:
            facts[name] = reader(root)
        except (BenchError, OSError, ValueError) as error:
            problems.append(f"  {name}: {error}")
    if problems:
        lines = "\n".join(problems)
        raise BenchError(
            f"the fingerprint is incomplete:\n{lines}\n  remedy: --fact NAME=VALUE for what you know; temperature_c and throttled must be readable"
        )
    return facts


def emulated() -> Facts:
    """An emulator's: it has no clocks, no memory speed and no temperature. Board gates refuse it by its kind."""
    return {
        "a100_mhz": 1,
        "board": "emulated SM10",
        "core_map": "0-7 x100, 8-15 a100",
        "firmware": "none",
        "governor": "none",
        "kernel": "emulated",
        "memory_mts": 1,
        "temperature_c": 0.0,
        "throttled": False,
        "x100_mhz": 1,
    }
