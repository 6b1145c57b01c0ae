# SPDX-License-Identifier: Apache-2.0
"""exp, tanh and erf at the ends of their range, through the ops that use them.

An exp() without a clamp gives NaN for large negative arguments: vLLM shipped
that once for RISC-V. It must stay away.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from paged_cache import Case, random_inputs, reference, run
from registry import FLOATS, covers, op, per_dtype
from tolerance import U32, assert_within, exact, exp_relative_error, rounding

# Where exp() over- and underflows in float32, far beyond, and next to zero.
EDGES = [
    0.0, -0.0, 1e-45, -1e-45, 1e-39, -1e-39, 1e-20, -1e-20, 1e-3, -1e-3,
    0.49, -0.51, 9.0, -9.0, 18.0, -18.0, 20.0, -20.0, 86.6, -86.6,
    87.3, -87.3, 87.4, -87.4, 88.3, -88.3, 88.4, -88.4, 88.7, -88.7,
    88.8, -88.8, 100.0, -100.0, 103.97, -103.97, 104.1, -104.1, 1e4, -1e4,
]  # fmt: skip


def edges(dtype: torch.dtype) -> torch.Tensor:
    """One row, padded to whole 16-element vectors."""
    return torch.tensor([*EDGES, *EDGES[:8]]).to(dtype)[None]


def gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    # 1 + tanh(y) is 2 / (1 + exp(-2y)), without the cancellation.
    return x * torch.sigmoid(2 * inner)


FUNCTIONS = {
    "silu_and_mul": lambda x: x * torch.sigmoid(x),
    "gelu_and_mul": lambda x: x / 2 * torch.erfc(-x * math.sqrt(0.5)),
    "gelu_tanh_and_mul": gelu_tanh,
    "gelu_tanh": gelu_tanh,
    "gelu_new": gelu_tanh,
    "gelu_fast": gelu_tanh,
    "gelu_quick": lambda x: x * torch.sigmoid(1.702 * x),
}
# 1 + tanh and 1 + erf of a negative argument cancel down to float32's granularity,
# times |x|; from |x| = 10 on nothing is left to cancel.
CANCELLATION = 10 * 2.0**-22


def expected_at(name: str, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The function's value, and the bound that holds for all of these functions."""
    x, dtype = exact(source), source.dtype
    value = FUNCTIONS[name](x)
    relative = exp_relative_error((1.702 * x.abs()).clamp(max=89.0)) + 8 * U32
    absolute = torch.where(x < 0, CANCELLATION, 0.0)
    return value, value.abs() * relative + absolute + rounding(value, dtype)


def check_edges(name: str, dtype: torch.dtype) -> None:
    x = edges(dtype)
    source = torch.cat((x, torch.ones_like(x)), -1) if name.endswith("_and_mul") else x
    out = torch.full_like(x, torch.nan)
    op(name)(out, source)
    assert_within(out, *expected_at(name, x))


@per_dtype("silu_and_mul")
def test_silu_at_the_ends_of_exp(dtype: torch.dtype) -> None:
    check_edges("silu_and_mul", dtype)


@per_dtype("gelu_quick")
def test_gelu_quick_at_the_ends_of_exp(dtype: torch.dtype) -> None:
    check_edges("gelu_quick", dtype)


@per_dtype("gelu_and_mul")
def test_gelu_at_the_ends_of_erf(dtype: torch.dtype) -> None:
    check_edges("gelu_and_mul", dtype)


@per_dtype("gelu_tanh_and_mul")
def test_gelu_tanh_and_mul_at_the_ends_of_tanh(dtype: torch.dtype) -> None:
    check_edges("gelu_tanh_and_mul", dtype)


@per_dtype("gelu_tanh", "gelu_new", "gelu_fast")
def test_tanh_gelus_at_the_ends_of_tanh(dtype: torch.dtype) -> None:
    for name in ("gelu_tanh", "gelu_new", "gelu_fast"):
        check_edges(name, dtype)


# sigmoid(±inf) is 0 or 1 exactly: the gate is ±0·inf (NaN, as in torch) or inf.
SPECIAL = [math.nan, math.inf, -math.inf, 1.0]


@pytest.mark.parametrize("dtype", FLOATS, ids=["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=covers(name)) for name in FUNCTIONS])
def test_nan_and_infinity_stay_in_their_element(name: str, dtype: torch.dtype) -> None:
    x = torch.tensor(SPECIAL * 4).to(dtype)[None]
    source = torch.cat((x, torch.ones_like(x)), -1) if name.endswith("_and_mul") else x
    out = torch.zeros_like(x)
    op(name)(out, source)
    nan, plus, minus, one = (out[0, i::4] for i in range(4))
    assert bool(nan.isnan().all()), f"f(NaN) is {nan.tolist()}"
    assert bool((plus == math.inf).all()), f"f(inf) is {plus.tolist()}"
    assert bool((minus.isnan() | (minus == 0)).all()), f"f(-inf) is {minus.tolist()}"
    assert_within(one, *expected_at(name, torch.ones(4, dtype=dtype)))


# --- softmax ---------------------------------------------------------------

DECODE = Case(lengths=(40, 33), queries=(1, 5), isa="rvv")
ATTENTION = ("cpu_attn_reshape_and_cache", "get_scheduler_metadata", "cpu_attention_with_kv_cache")


def spread_case(case: Case, dtype: torch.dtype, gap: float) -> tuple:
    """One key of each request wins: all other logits lie `gap` below."""
    inputs = random_inputs(case, dtype)
    query = torch.ones_like(inputs.query)
    # A logit is scale · sum(key): with equal elements, scale · size · element.
    low = -gap / (case.scale * case.size)
    keys = []
    for length in case.lengths:
        key = torch.full((length, case.heads[1], case.size), low, dtype=dtype)
        key[min(2, length - 1)] = 0
        keys.append(key)
    return replace(inputs, query=query, keys=keys)


@covers(*ATTENTION)
@pytest.mark.parametrize("isa", ["rvv", "vec"])
@pytest.mark.parametrize("gap", [20.0, 86.0, 87.4, 88.7, 100.0, 1e4, 1e30])
def test_softmax_of_far_apart_logits_takes_the_largest(gap: float, isa: str) -> None:
    case = replace(DECODE, isa=isa)
    inputs = spread_case(case, torch.float32, gap)
    out = run(case, inputs, torch.float32)
    assert_within(out, *reference(case, inputs, torch.float32))


@covers(*ATTENTION)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bf16", "fp16"])
@pytest.mark.parametrize("gap", [88.7, 1e4])
def test_softmax_of_far_apart_logits_in_half_precision(dtype: torch.dtype, gap: float) -> None:
    inputs = spread_case(DECODE, dtype, gap)
    out = run(DECODE, inputs, dtype)
    assert_within(out, *reference(DECODE, inputs, dtype))


@covers(*ATTENTION)
@pytest.mark.parametrize("isa", ["rvv", "vec"])
@pytest.mark.parametrize("ratio", [5.0, 40.0, 88.3, 88.5, 100.0, 1e4])
@pytest.mark.parametrize("sign", [1, -1])
def test_softcap_of_huge_logits_is_the_cap(ratio: float, sign: int, isa: str) -> None:
    """tanh(ratio) is 1: every logit is the cap, every weight the same."""
    case = replace(DECODE, softcap=2.0, isa=isa)
    inputs = random_inputs(case, torch.float32)
    logit = sign * ratio * case.softcap
    inputs = replace(
        inputs,
        query=torch.ones_like(inputs.query),
        keys=[torch.full_like(key, logit / (case.scale * case.size)) for key in inputs.keys],
    )
    out = run(case, inputs, torch.float32)
    assert_within(out, *reference(case, inputs, torch.float32))


@covers(*ATTENTION)
@pytest.mark.parametrize("isa", ["rvv", "vec"])
def test_nan_in_one_query_stays_in_its_row(isa: str) -> None:
    case = replace(DECODE, isa=isa)
    inputs = random_inputs(case, torch.float32)
    expected, bound = reference(case, inputs, torch.float32)
    inputs.query[1] = math.nan
    out = run(case, inputs, torch.float32)
    others = torch.arange(out.shape[0]) != 1
    assert_within(out[others], expected[others], bound[others])


@covers(*ATTENTION)
@pytest.mark.parametrize("isa", ["rvv", "vec"])
def test_sink_far_below_takes_no_part(isa: str) -> None:
    case = replace(DECODE, sinks=torch.float32, isa=isa)
    inputs = random_inputs(case, torch.float32)
    inputs = replace(inputs, sinks=torch.full_like(inputs.sinks, -1e4))
    out = run(case, inputs, torch.float32)
    assert_within(out, *reference(case, inputs, torch.float32))
