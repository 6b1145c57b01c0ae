# SPDX-License-Identifier: Apache-2.0
"""What runs where: the calling thread's core, the machine's, the levels in vllm._C, and each op. Asked of the library and the kernel."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any

from vllm_sm10 import blas, harts, library

_NAMESPACE = "_C"
_SCALAR = "scalar"
# Ops that ask for the matrix unit themselves have this argument (//ime2/torch).
_PORTABLE = "portable"
_MATRIX_LEVEL = "a100"
# Registered, but upstream's code only raises on riscv64, at every level. A test holds this against the checks of tests/ops.
COMPUTES_NOTHING = {
    "create_onednn_scaled_mm_handler": "this build has no oneDNN",
    "dynamic_4bit_int_moe": "upstream's kernel needs AArch64",
    "dynamic_scaled_fp8_quant": "upstream has only a placeholder",
    "release_dnnl_matmul_handler": "this build has no oneDNN",
}
_ABOUT_US = ("ime2_start_workers", "ime2_stop_workers", "sm10_level")


@dataclass(frozen=True)
class Core:
    """The calling thread's core."""

    hart: int
    kind: str
    vlen: int | None  # bits; None: no vector unit
    extensions: tuple[str, ...]  # of those that levels ask for
    matrix: bool  # executes the IME2 instructions

    @property
    def vlenb(self) -> int | None:
        return None if self.vlen is None else self.vlen // 8


@dataclass(frozen=True)
class CoreType:
    """Harts of one type."""

    kind: str
    harts: tuple[int, ...]
    mvendorid: int | None
    marchid: int | None
    mimpid: int | None
    known: bool  # whether a thread of this process could look: vlen, matrix and level hold only then
    vlen: int | None
    matrix: bool
    level: str | None


@dataclass(frozen=True)
class Level:
    """One set of kernels in the library."""

    name: str
    vlen: int | None  # None: any core
    needs: tuple[str, ...]
    missing: tuple[str, ...]  # what this machine's cores of that VLEN lack
    enabled: bool


@dataclass(frozen=True)
class OpState:
    """One op as the calling thread finds it."""

    name: str
    levels: tuple[str, ...]  # that have code for it
    runs_at: str | None  # None: it raises here
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Capabilities:
    """The record that capabilities() returns."""

    library: str
    error: str  # why the library cannot be used; empty if it can
    core: Core
    machine: tuple[CoreType, ...]
    levels: tuple[Level, ...]
    level: str
    why: str
    ops: tuple[OpState, ...]
    openblas: tuple[blas.OpenBlas, ...]


def _kind(hart: int, types: dict[harts.Identity, tuple[int, ...]]) -> str:
    return next((identity.name for identity, members in types.items() if hart in members), "unknown core")


def _levels(rows: list[dict[str, Any]]) -> tuple[Level, ...]:
    return tuple(Level(row["name"], row["vlen"] or None, tuple(row["needs"]), tuple(row["missing"]), row["enabled"]) for row in rows)


def _look(handle: ctypes.CDLL) -> tuple[int, dict[str, Any]]:
    text = library.describe(handle)
    return text["core"]["hart"], text


def _machine(types: dict[harts.Identity, tuple[int, ...]], handle: ctypes.CDLL, here: dict[str, Any]) -> tuple[CoreType, ...]:
    seen = [(here["core"]["hart"], here)]
    if here["mixed"]:
        try:
            seen.append(harts.on_a100_cores(lambda: _look(handle)))
        except OSError:
            pass  # shown as not known
    result = []
    for identity, members in types.items():
        text = next((text for hart, text in seen if hart in members), None)
        known = text is not None
        core: dict[str, Any] = text["core"] if text else {"vlen": 0, "matrix": False}
        level = text["level"] if text else None
        result.append(
            CoreType(identity.name, members, identity.mvendorid, identity.marchid, identity.mimpid, known, core["vlen"] or None, core["matrix"], level)
        )
    return tuple(result)


def _needs(level: Level) -> str:
    return f"VLEN {level.vlen}" + "".join(f", {name}" for name in level.needs)


def _guarded(row: dict[str, Any], here: dict[str, Any], levels: tuple[Level, ...]) -> OpState:
    name, having, current = row["name"], tuple(row["levels"]), here["level"]
    if name in COMPUTES_NOTHING or not having:
        return OpState(name, (), None, COMPUTES_NOTHING.get(name, "it computes nothing in this build"), "use a model or setting that does not need it")
    if current in having:
        return OpState(name, having, current)
    needed = "; ".join(f"{level.name}: {_needs(level)}" for level in levels if level.name in having)
    reason = f"it has code for {needed}; this thread runs level {current}: {here['why']}"
    return OpState(name, having, None, reason, "run on cores of one of those levels (pin the process to them), or use a model that does not need it")


def _own(name: str, here: dict[str, Any], machine: tuple[CoreType, ...]) -> OpState:
    """An op of //ime2/torch, which asks for the core itself."""
    import torch

    packet = getattr(getattr(torch.ops, _NAMESPACE), name)
    schemas = [getattr(packet, overload)._schema for overload in packet.overloads()]
    if not any(argument.name == _PORTABLE for schema in schemas for argument in schema.arguments):
        return OpState(name, (_SCALAR,), _SCALAR)
    levels = (_MATRIX_LEVEL, _SCALAR)
    if here["core"]["matrix"]:
        return OpState(name, levels, _MATRIX_LEVEL)
    if any(core.matrix for core in machine):
        return OpState(name, levels, _MATRIX_LEVEL, "by worker threads on the A100 cores")
    found = f"it needs VLEN 1024 and xsmtvdotii; {here['why']}, and no core of this machine has the matrix unit"
    return OpState(name, levels, None, found, "run on an SM10, or pass portable=True for the portable code, slowly")


def _ops(here: dict[str, Any], levels: tuple[Level, ...], machine: tuple[CoreType, ...]) -> tuple[OpState, ...]:
    import torch

    states = [_guarded(row, here, levels) for row in here["ops"]]
    prefix = f"{_NAMESPACE}::"
    registered = {name.removeprefix(prefix).partition(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith(prefix)}
    others = registered - {state.name for state in states} - set(_ABOUT_US)
    return tuple(sorted([*states, *(_own(name, here, machine) for name in others)], key=lambda state: state.name))


def capabilities() -> Capabilities:
    """Of the calling thread, now. Loads torch and vllm._C if they are not loaded; raises library.LibraryError without our library."""
    import torch  # noqa: F401  the library's ops are registered with it

    file = library.path()
    handle = library.load(file)
    here = library.describe(handle)
    types = harts.by_type()
    core = here["core"]
    levels = _levels(here["levels"])
    machine = _machine(types, handle, here)
    return Capabilities(
        library=os.fspath(file),
        error=here["error"],
        core=Core(core["hart"], _kind(core["hart"], types), core["vlen"] or None, tuple(core["extensions"]), core["matrix"]),
        machine=machine,
        levels=levels,
        level=here["level"],
        why=here["why"],
        ops=() if here["error"] else _ops(here, levels, machine),
        openblas=blas.loaded(),
    )
