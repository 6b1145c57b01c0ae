# SPDX-License-Identifier: Apache-2.0
"""torch's BLAS on wide cores: OpenBLAS chooses its kernels once per process, and those that it takes at VLEN 256 and above are wrong above 256."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "OPENBLAS_CORETYPE"
RIGHT_EVERYWHERE = "riscv64_generic"
LAST_RIGHT_VLEN = 256
_WRONG = "zvl256b"


class BlasError(RuntimeError):
    """torch's products would be wrong on the calling thread's core; the text says what to do."""


@dataclass(frozen=True)
class OpenBlas:
    """An OpenBLAS that the process has loaded."""

    path: str
    kernels: str  # its own name for the kernels that it chose

    def is_right_at(self, vlen: int | None) -> bool:
        return (vlen or 0) <= LAST_RIGHT_VLEN or _WRONG not in self.kernels.lower()


def loaded(maps: Path = Path("/proc/self/maps")) -> tuple[OpenBlas, ...]:
    """Every OpenBLAS of this process."""
    lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
    paths = sorted({line.split(maxsplit=5)[5] for line in lines if "blas" in line and ".so" in line})
    found = []
    for path in paths:
        try:
            name = ctypes.CDLL(path).openblas_get_corename
        except (OSError, AttributeError):
            continue
        name.restype = ctypes.c_char_p
        found.append(OpenBlas(path, (name() or b"unknown").decode()))
    return tuple(found)


def require(vlen: int | None) -> None:
    """Raises BlasError if a loaded OpenBLAS computes wrong products on a core with this VLEN."""
    if (vlen or 0) <= LAST_RIGHT_VLEN:
        return
    for blas in loaded():
        if not blas.is_right_at(vlen):
            raise BlasError(
                f"the calling thread is on a core with VLEN {vlen}, where torch's OpenBLAS ({blas.path}) with its kernels {blas.kernels} "
                f"computes wrong products; start the process with {VARIABLE}={RIGHT_EVERYWHERE}, or start it on cores with VLEN 256"
            )
