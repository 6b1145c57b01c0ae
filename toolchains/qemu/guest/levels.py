# SPDX-License-Identifier: Apache-2.0
"""Which emulated core the guest runs on.

The levels come from the ISA contract (toolchains/isa) through a generated JSON file; no CPU string is written here.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re

from guest.errors import UsageError

# What QEMU's vector unit accepts.
VLENS = (128, 256, 512, 1024)

# A CPU property of third_party/qemu.
IME2_PROPERTY = ",xsmtvdotii=true"

# OpenBLAS 0.3.34 takes its 256-bit kernels on every wider core and computes wrong products there.
OPENBLAS_LAST_RIGHT_VLEN = 256
OPENBLAS_SAFE_CORE = "riscv64_generic"


@dataclasses.dataclass(frozen=True)
class Core:
    """An emulated core, or a board of several types of cores, which has a name in place of a level.

    vlen: in bits, None for a core without vector unit; a board's is that of the cores on which threads start. cpu: QEMU's -cpu string, or -board string.
    ime2: whether it needs the emulator with IME2.
    """

    level: str
    vlen: int | None
    cpu: str
    ime2: bool = False
    board: bool = False

    def options(self) -> list[str]:
        """QEMU's arguments."""
        return ["-board" if self.board else "-cpu", self.cpu]

    def environment(self) -> dict[str, str]:
        """Variables that libraries need on this core."""
        if self.vlen is not None and self.vlen > OPENBLAS_LAST_RIGHT_VLEN:
            return {"OPENBLAS_CORETYPE": OPENBLAS_SAFE_CORE}
        return {}


def load_levels(path: pathlib.Path) -> dict[str, Core]:
    """Reads the generated table: [{"level": ..., "vlen": N or null, "cpu": ..., "ime2": true or false, "board": true}, ...]; only boards have the last."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["level"]: Core(level=row["level"], vlen=row["vlen"], cpu=row["cpu"], ime2=row["ime2"], board=row.get("board", False)) for row in rows}


def choose_core(levels: dict[str, Core], level: str, vlen: int | None) -> Core:
    """The core of a level, or one of another width with that level's extensions, but for IME2, which exists at the level's own VLEN only."""
    if level not in levels:
        raise UsageError(f"unknown level {level!r}", f"choose one of: {', '.join(sorted(levels))}")
    core = levels[level]
    if vlen is None or vlen == core.vlen:
        return core
    if vlen not in VLENS:
        raise UsageError(f"VLEN {vlen} is not possible", f"choose one of: {', '.join(map(str, VLENS))}")
    if core.board:
        raise UsageError(f"{level!r} is a board, whose cores have VLENs of their own", "leave --vlen out, or name a level")
    if core.vlen is None:
        vector_levels = sorted(name for name, other in levels.items() if other.vlen is not None and not other.board)
        raise UsageError(
            f"level {level!r} has no vector unit, so it cannot have VLEN {vlen}",
            f"leave --vlen out, or name a level with vectors: {', '.join(vector_levels)}",
        )
    return Core(level=level, vlen=vlen, cpu=re.sub(r"\bvlen=\d+", f"vlen={vlen}", core.cpu.replace(IME2_PROPERTY, "")))


def started_on(levels: dict[str, Core], board: Core, level: str) -> Core:
    """The board, with the program started on a core of one of its levels, as the child of a thread of that core is."""
    return dataclasses.replace(board, vlen=levels[level].vlen, cpu=f"{board.cpu},hart={level}")
