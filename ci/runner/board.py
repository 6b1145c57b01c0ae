# SPDX-License-Identifier: Apache-2.0
"""Is the board in the state for measuring? Each finding by itself, each with its remedy."""

from __future__ import annotations

import array
import dataclasses
import fcntl
import grp
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from ci.bench import machine
from ci.bench.errors import BenchError
from ci.runner import places
from ci.runner.config import Config

CORES = 16
_GOVERNORS = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"
# linux/fs.h; the argument is an int, whatever the request's name says.
_FS_IOC_GETFLAGS = 0x80086601
_FS_APPEND_FL = 0x20
_PRIVILEGED = ("adm", "disk", "docker", "lxd", "root", "shadow", "sudo", "wheel")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    good: bool
    found: str
    remedy: str

    def __str__(self) -> str:
        line = f"{'ok ' if self.good else 'BAD'} {self.name}: {self.found}"
        return line if self.good else f"{line}\n    remedy: {self.remedy}"


def _fact(root: Path, name: str, config: Config) -> str | int | float | bool:
    given = dict(config.facts)
    return given[name] if name in given else machine.read_fact(root, name)


def governors(root: Path) -> dict[str, str]:
    """Governor by file, of every core that has one."""
    return {str(path.relative_to(root)): path.read_text(encoding="ascii").strip() for path in sorted(root.glob(_GOVERNORS))}


def set_governor(root: Path, wanted: str) -> list[str]:
    """Sets every core's governor; returns the files that were changed."""
    changed = [name for name, found in governors(root).items() if found != wanted]
    for name in changed:
        (root / name).write_text(wanted, encoding="ascii")
    return changed


def _governor(root: Path, config: Config) -> Finding:
    found = governors(root)
    other = sorted({value for value in found.values() if value != config.governor})
    if not found:
        return Finding("governor", False, f"no /{_GOVERNORS}", "a kernel with cpufreq: Bianbu's has it")
    return Finding("governor", not other, f"{config.governor} on {len(found)} cores" if not other else ", ".join(other), "sudo sm10-runner prepare")


def _temperature(root: Path, config: Config) -> Finding:
    found = _fact(root, "temperature_c", config)
    return Finding(
        "temperature",
        float(found) <= config.start_celsius,
        f"{found:.1f} °C at the hottest sensor, at most {config.start_celsius} to start",
        "wait; if it stays warm: heat sink, fan, air",
    )


def _throttled(root: Path, config: Config) -> Finding:
    found = bool(_fact(root, "throttled", config))
    return Finding("throttling", not found, "a CPU's clock is held down" if found else "none", "cool the board: heat sink, fan, supply")


def _cores(root: Path, config: Config) -> Finding:
    found = str(_fact(root, "core_map", config))
    good = re.fullmatch(r"0-7 (0x[0-9a-f]+), 8-15 (0x[0-9a-f]+)", found)
    return Finding("cores", good is not None and good[1] != good[2], found, "16 cores of two types, 8 each, all online: `cat /sys/devices/system/cpu/online`")


def _kernel(root: Path, config: Config) -> Finding:
    return Finding("kernel", True, str(_fact(root, "kernel", config)), "")


def _memory(root: Path, config: Config) -> Finding:
    match = re.search(r"^MemAvailable:\s+(\d+) kB$", (root / "proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    free = int(match[1]) // 1024 if match else 0
    return Finding("memory", free >= config.memory_mib, f"{free} MiB free, {config.memory_mib} wanted", "end what else runs: a desktop, another server")


def _ai_thread(root: Path, config: Config) -> Finding:
    del config
    path = root / places.AI_THREAD
    if not path.exists():
        return Finding("A100 cores", False, f"no /{places.AI_THREAD}", "boot the vendor's kernel: mainline does not have it")
    status = path.stat()
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)
    mode = stat.S_IMODE(status.st_mode)
    found = f"/{places.AI_THREAD} is {mode:04o}, group {group}"
    return Finding("A100 cores", group == places.AI_GROUP and mode & 0o022 == 0o020, found, "sudo sm10-runner prepare")


def append_only(path: Path) -> bool:
    """Has a file the attribute `a`?"""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        flags = array.array("i", [0])
        fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, flags)
        return bool(flags[0] & _FS_APPEND_FL)
    finally:
        os.close(descriptor)


def _ledger(root: Path, config: Config) -> Finding:
    del config
    path = root / places.LEDGER
    good = append_only(path)
    return Finding(
        "ledger", good, "append-only" if good else f"/{places.LEDGER} can be overwritten", f"chattr +a /{places.LEDGER}; on a file system that has it"
    )


def groups_of(user: str, group_file: str) -> list[str]:
    """Supplementary groups, by the text of /etc/group."""
    rows = [line.split(":") for line in group_file.splitlines()]
    return sorted(row[0] for row in rows if len(row) == 4 and user in row[3].split(","))


def _user(root: Path, config: Config) -> Finding:
    del config
    groups = groups_of(places.USER, (root / "etc/group").read_text(encoding="utf-8"))
    bad = sorted(set(groups) & set(_PRIVILEGED))
    found = f"{places.USER} is in {', '.join(groups) or 'no group'}"
    good = places.AI_GROUP in groups and not bad
    return Finding("user", good, found, f"gpasswd -d {places.USER} {bad[0]}" if bad else "sudo sm10-runner setup")


_LOOKS: tuple[Callable[[Path, Config], Finding], ...] = (_cores, _kernel, _governor, _temperature, _throttled, _memory)
_SETTINGS: tuple[Callable[[Path, Config], Finding], ...] = (_ai_thread, _user, _ledger)


def examine(root: Path, config: Config, *, settings: bool = True) -> Iterator[Finding]:
    """What is found: the board's state, and what set-up makes."""
    for look in _LOOKS + (_SETTINGS if settings else ()):
        try:
            yield look(root, config)
        except (BenchError, OSError, ValueError) as error:
            yield Finding(look.__name__.strip("_").replace("_", " "), False, str(error).splitlines()[0], "is this the board, with the vendor's kernel?")
