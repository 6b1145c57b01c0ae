# SPDX-License-Identifier: Apache-2.0
"""What the user sets by environment variables, read once for each model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vllm_sm10.errors import Ime2Error

CACHE = "SM10_IME2_CACHE"
PORTABLE = "SM10_IME2_PORTABLE"


@dataclass(frozen=True)
class Settings:
    """portable: C++ code for any core, slow, with the same results. cache: folder of packed weights, or None."""

    portable: bool = False
    cache: Path | None = None


def _switch(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "")
    if value not in ("", "0", "1"):
        raise Ime2Error(f"{name}={value} is neither 0 nor 1", "set it to 1 to run without a matrix unit, or unset it")
    return value == "1"


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises Ime2Error for a value that has no meaning."""
    folder = environment.get(CACHE, "")
    return Settings(_switch(environment, PORTABLE), Path(folder).absolute() if folder else None)
