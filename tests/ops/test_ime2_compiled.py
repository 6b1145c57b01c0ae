# SPDX-License-Identifier: Apache-2.0
"""torch can trace the IME2 ops: schemas that tell the truth, and shapes that are known without data, also for an M that changes."""

from __future__ import annotations

import pytest
import torch

from ime2_paths import packed
from ime2_reference import random_weight
from registry import at_levels, op
from tolerance import assert_same

# Importing torch's compiler takes half a minute of emulation; nothing here depends on the core.
LEVEL = "x100"
N, K = 40, 64
WEIGHT = random_weight(N, K)
BLOB = packed(WEIGHT)

CALLS = {
    "ime2_gemm_packed": ((torch.ones(3, K), BLOB), {"portable": True}),
    "ime2_gemm_packed.out": ((torch.ones(3, K), BLOB), {"portable": True, "out": torch.empty(3, N)}),
    "ime2_hp_gemm_cpu": ((torch.ones(3, K), WEIGHT.qweight, WEIGHT.scales), {"portable": True}),
    "ime2_pack_weight": ((WEIGHT.qweight, WEIGHT.scales), {}),
}


@at_levels(LEVEL)
@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("check", ["test_schema", "test_autograd_registration", "test_faketensor"])
def test_op_keeps_torchs_rules(name: str, check: str) -> None:
    arguments, keywords = CALLS[name]
    torch.library.opcheck(op(name).overload(), arguments, keywords, test_utils=check)


@at_levels(LEVEL)
def test_layer_compiles_to_one_graph_for_every_m() -> None:
    gemm, graphs = op("ime2_gemm_packed").overload(), []

    def backend(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> torch.fx.GraphModule:
        graphs.append(graph)
        return graph

    def layer(a: torch.Tensor) -> torch.Tensor:
        return gemm(a, BLOB, portable=True) + 1

    compiled = torch.compile(layer, backend=backend, dynamic=True, fullgraph=True)
    for m in (2, 5, 9):
        a = torch.randn(m, K)
        assert_same(compiled(a), layer(a))
    assert len(graphs) == 1
