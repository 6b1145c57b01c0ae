# SPDX-License-Identifier: Apache-2.0
"""What the tests of the IME2 ops share: which of the two paths this run's core has, and packed weights."""

from __future__ import annotations

import pytest
import torch

import registry
from ime2_reference import Weight

# The portable path runs anywhere, the instructions at level a100 only.
PATHS = (True, False) if registry.level() == registry.MATRIX_LEVEL else (True,)

per_path = pytest.mark.parametrize("portable", PATHS, ids=["portable" if path else "instructions" for path in PATHS])


def packed(weight: Weight) -> torch.Tensor:
    """As the op packs it, also where `--mutate` damages what ops return."""
    return registry.op("ime2_pack_weight").overload()(weight.qweight, weight.scales)
