# SPDX-License-Identifier: Apache-2.0
"""The machine's harts by type, from the kernel (riscv_hwprobe), and threads of the other core type."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_ONLINE = Path("/sys/devices/system/cpu/online")
_SET_AI_THREAD = Path("/proc/set_ai_thread")
_NR_RISCV_HWPROBE = 258
_KEYS = (0, 1, 2)  # RISCV_HWPROBE_KEY_MVENDORID, _MARCHID, _MIMPID
_SET_BYTES = 128

# Names for people; nothing depends on them.
_NAMES = {(0x710, 0x8000000058000002): "SpacemiT X100", (0x710, 0x8000000041000002): "SpacemiT A100"}


class _Pair(ctypes.Structure):
    _fields_ = (("key", ctypes.c_int64), ("value", ctypes.c_uint64))


@dataclass(frozen=True)
class Identity:
    """mvendorid, marchid and mimpid of a hart; None where the kernel does not tell."""

    mvendorid: int | None
    marchid: int | None
    mimpid: int | None

    @property
    def name(self) -> str:
        return _NAMES.get((self.mvendorid or 0, self.marchid or 0), "unknown core")


def numbers(text: str) -> tuple[int, ...]:
    """`0-3,8` to 0, 1, 2, 3, 8."""
    result: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            result.extend(range(int(first), int(last or first) + 1))
    return tuple(result)


def ranges(harts: tuple[int, ...]) -> str:
    """0, 1, 2, 3, 8 to `0-3,8`."""
    parts: list[list[int]] = []
    for hart in harts:
        if parts and hart == parts[-1][-1] + 1:
            parts[-1].append(hart)
        else:
            parts.append([hart])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def online() -> tuple[int, ...]:
    """Harts that the kernel runs threads on."""
    try:
        return numbers(_ONLINE.read_text(encoding="ascii"))
    except OSError:
        return ()


def identity(hart: int) -> Identity:
    """What the kernel says of one hart."""
    pairs = (_Pair * len(_KEYS))(*(_Pair(key, 0) for key in _KEYS))
    cpus = (ctypes.c_ubyte * _SET_BYTES)()
    cpus[hart // 8] = 1 << hart % 8
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    failed = syscall(_NR_RISCV_HWPROBE, ctypes.byref(pairs), len(_KEYS), _SET_BYTES, ctypes.byref(cpus), 0)
    if failed:
        return Identity(None, None, None)
    values = [pair.value if pair.key == key else None for pair, key in zip(pairs, _KEYS, strict=True)]
    return Identity(*values)


def by_type() -> dict[Identity, tuple[int, ...]]:
    """Harts of each core type, the type of the lowest hart first."""
    types: dict[Identity, list[int]] = {}
    for hart in online():
        types.setdefault(identity(hart), []).append(hart)
    return {key: tuple(harts) for key, harts in types.items()}


def on_a100_cores(function: Callable[[], T]) -> T:
    """What the function returns in a short-lived thread that has moved to the A100 cores; OSError if none may move."""
    outcome: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            _SET_AI_THREAD.write_bytes(b"0")
            outcome.append(function())
        except BaseException as error:  # noqa: BLE001  raised again by the caller
            failures.append(error)

    thread = threading.Thread(target=run, name="vllm_sm10-a100")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return outcome[0]
