# SPDX-License-Identifier: Apache-2.0
"""Gated delta rule (linear attention): gates, decode, drafts, and prompt chunks."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from registry import FLOATS, covers, op, per_dtype, refuses
from tolerance import U32, assert_same, assert_within, exact, rounding, unit_roundoff

Pair = tuple[torch.Tensor, torch.Tensor]
L2_EPSILON = 1e-5


@dataclass(frozen=True)
class Gates:
    """a and b [token, value head]; one A and one bias per value head."""

    a_log: torch.Tensor
    dt_bias: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor

    @classmethod
    def random(cls, tokens: int, heads: int, dtype: torch.dtype, a_log: torch.dtype) -> Gates:
        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(shape).to(dtype)

        return cls(torch.rand(heads).to(a_log), normal(heads), normal(tokens, heads), normal(tokens, heads))

    def log_decay(self) -> torch.Tensor:
        """-exp(A_log) · softplus(a + bias)."""
        raised = exact(self.a) + exact(self.dt_bias)
        return -torch.exp(exact(self.a_log)) * torch.nn.functional.softplus(raised)

    def beta(self) -> torch.Tensor:
        return torch.sigmoid(exact(self.b))


def log_decay_error(gates: Gates) -> torch.Tensor:
    """The sum's rounding, exp, exp, log and the product: eight roundings, and log1p's
    argument near 1, which loses up to one rounding of 1 when it is formed as a sum."""
    scale = torch.exp(exact(gates.a_log))
    return gates.log_decay().abs() * 12 * U32 + scale * 2 * U32


@per_dtype("fused_gdn_gating_cpu")
@pytest.mark.parametrize("a_log", [torch.float32, None], ids=["A-fp32", "A-half"])
@pytest.mark.parametrize("heads", [4, 19, 32])
def test_gates_are_decay_and_sigmoid(dtype: torch.dtype, heads: int, a_log: torch.dtype | None) -> None:
    gates = Gates.random(3, heads, dtype, a_log or dtype)
    g, beta = op("fused_gdn_gating_cpu")(gates.a_log, gates.a, gates.b, gates.dt_bias)
    assert_within(g, gates.log_decay()[None], log_decay_error(gates)[None])
    # In the tail of a row the sigmoid itself is formed in the gate's type.
    value = gates.beta()[None]
    assert_within(beta, value, 3 * rounding(value, dtype))


# --- recurrence ------------------------------------------------------------


@dataclass(frozen=True)
class Heads:
    """q and k [token, key head, size], v [token, value head, value size]."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor

    @classmethod
    def random(cls, tokens: int, heads: tuple[int, int], sizes: tuple[int, int], dtype: torch.dtype) -> Heads:
        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(shape).to(dtype)

        return cls(
            normal(tokens, heads[0], sizes[0]),
            normal(tokens, heads[0], sizes[0]),
            normal(tokens, heads[1], sizes[1]),
        )

    def normalised(self, on: bool) -> Heads:
        """float64, unit length if asked for, one key head per value head, q scaled."""
        group = self.v.shape[1] // self.q.shape[1]

        def prepared(x: torch.Tensor) -> torch.Tensor:
            y = exact(x).repeat_interleave(group, 1)
            return y * torch.rsqrt(y.square().sum(-1, keepdim=True) + L2_EPSILON) if on else y

        return Heads(prepared(self.q) * self.q.shape[-1] ** -0.5, prepared(self.k), exact(self.v))


@dataclass
class DeltaRule:
    """State [head, key, value] in float64 and a running bound of its error."""

    state: torch.Tensor
    error: torch.Tensor
    unit: float  # relative error of one stage of the op's arithmetic
    beta_error: float = 0.0

    def step(self, heads: Heads, t: int, log_decay: torch.Tensor, beta: torch.Tensor) -> Pair:
        """One token: S ← e^g S;  S ← S + k ⊗ β(v - kS);  out = qS."""
        q, k, v = heads.q[t], heads.k[t][..., None], heads.v[t]
        decay = torch.exp(log_decay)[:, None, None]
        u, size = self.unit, self.state.shape[1]
        old = self.state * decay
        old_error = self.error * decay + old.abs() * (u + 16 * U32)
        memory = (old * k).sum(1)
        memory_error = (old_error * k.abs()).sum(1) + (old * k).abs().sum(1) * (u + size * U32)
        delta = (v - memory) * beta[:, None]
        delta_error = memory_error * beta[:, None] + (v.abs() + memory.abs()) * beta[:, None] * (2 * u + 4 * U32 + self.beta_error)
        self.state = old + k * delta[:, None, :]
        self.error = old_error + k.abs() * (delta_error + delta.abs() * (u + 4 * U32))[:, None, :] + self.state.abs() * U32
        out = (q[..., None] * self.state).sum(1)
        terms = (q[..., None].abs() * self.state.abs()).sum(1)
        bound = (q[..., None].abs() * self.error).sum(1) + terms * (u + (size + 4) * U32)
        return out, bound


def start_of(state: torch.Tensor, unit: float, beta_error: float) -> DeltaRule:
    return DeltaRule(exact(state), torch.zeros_like(exact(state)), unit, beta_error)


def half_beta_error(dtype: torch.dtype) -> float:
    """The decode op forms 1 / (1 + exp(-b)) in b's own type: three roundings."""
    return 3 * torch.finfo(dtype).eps / 2


@per_dtype("fused_sigmoid_gating_delta_rule_update_cpu")
@pytest.mark.parametrize("state_dtype", FLOATS, ids=["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("norm", [True, False], ids=["unit", "plain"])
def test_decode_step_follows_the_delta_rule(dtype: torch.dtype, state_dtype: torch.dtype, norm: bool) -> None:
    batch, heads, sizes = 3, (2, 4), (24, 40)
    inputs = Heads.random(batch, heads, sizes, dtype)
    inputs = inputs if norm else Heads(inputs.q, inputs.k / 8, inputs.v)
    gates = Gates.random(batch, heads[1], dtype, torch.float32)
    state = torch.randn(5, heads[1], *sizes).to(state_dtype)
    before = state.clone()
    slots = torch.tensor([4, 0, 2], dtype=torch.int32)
    out = op("fused_sigmoid_gating_delta_rule_update_cpu")(
        gates.a_log, gates.dt_bias, inputs.q[None], inputs.k[None], inputs.v[None], gates.a,
        gates.b, state, slots, torch.arange(batch + 1, dtype=torch.int32), norm,
    )  # fmt: skip
    exact_heads = inputs.normalised(norm)
    after, after_bound = exact(before), torch.zeros(before.shape).double()
    for request in range(batch):
        slot = int(slots[request])
        rule = start_of(before[slot], 8 * U32, half_beta_error(dtype))
        value, bound = rule.step(exact_heads, request, gates.log_decay()[request], gates.beta()[request])
        assert_within(out[request, 0], value, bound + rounding(value, dtype))
        after[slot] = rule.state
        after_bound[slot] = rule.error + rounding(rule.state, state_dtype)
    assert_within(state, after, after_bound)


@per_dtype("fused_sigmoid_gating_delta_rule_update_spec_cpu")
@pytest.mark.parametrize("state_dtype", FLOATS, ids=["fp32", "bf16", "fp16"])
def test_draft_steps_start_at_the_accepted_state_and_keep_each(dtype: torch.dtype, state_dtype: torch.dtype) -> None:
    heads, sizes = (2, 4), (16, 20)
    starts = torch.tensor([0, 3, 5], dtype=torch.int32)
    inputs = Heads.random(5, heads, sizes, dtype)
    gates = Gates.random(5, heads[1], dtype, torch.float32)
    state = torch.randn(8, heads[1], *sizes).to(state_dtype)
    before = state.clone()
    slots = torch.tensor([[1, 2, 3], [6, 4, 7]], dtype=torch.int32)
    accepted = torch.tensor([2, 0], dtype=torch.int32)
    out = op("fused_sigmoid_gating_delta_rule_update_spec_cpu")(
        gates.a_log, gates.dt_bias, inputs.q, inputs.k, inputs.v, gates.a, gates.b, state,
        slots, accepted, starts, True,
    )  # fmt: skip
    exact_heads = inputs.normalised(True)
    untouched = [0, 5, 7]
    for request, first in enumerate((2, 6)):
        rule = start_of(before[first], 8 * U32, 0.0)
        for place, t in enumerate(range(int(starts[request]), int(starts[request + 1]))):
            value, bound = rule.step(exact_heads, t, gates.log_decay()[t], gates.beta()[t])
            assert_within(out[t], value, bound + rounding(value, dtype))
            rule.error = rule.error + rounding(rule.state, state_dtype)
            assert_within(state[slots[request, place]], rule.state, rule.error)
    assert_same(state[untouched], before[untouched])


# --- chunks ----------------------------------------------------------------

CHUNK = 64
# Roundings to bfloat16 on the way of one token's share into a state or output:
# its unit vector, the scaled key, the inverse of the chunk's triangle (two), the
# two products with it, the state's copy, the new values and the output.
BF16_STAGES = 9
# So many roundings are taken as independent: their squares add up, and a result
# is wrong beyond six standard deviations (the seed is fixed).
DEVIATIONS = 6


@dataclass
class ChunkedRule:
    """The delta rule in float64 with the variance of the chunked form's roundings."""

    state: torch.Tensor
    variance: torch.Tensor

    def step(self, heads: Heads, t: int, log_decay: torch.Tensor, beta: torch.Tensor) -> Pair:
        q, k, v = heads.q[t][..., None], heads.k[t][..., None], heads.v[t]
        noise = BF16_STAGES * unit_roundoff(torch.bfloat16) ** 2
        decay = torch.exp(log_decay)[:, None, None]
        old, old_variance = self.state * decay, self.variance * decay**2
        memory = (old * k).sum(1)
        memory_variance = (old_variance * k**2 + noise * (old * k) ** 2).sum(1)
        delta = (v - memory) * beta[:, None]
        delta_variance = (memory_variance + noise * (v**2 + memory**2)) * beta[:, None] ** 2
        self.state = old + k * delta[:, None, :]
        self.variance = old_variance + k**2 * (delta_variance + noise * delta**2)[:, None, :]
        out = (q * self.state).sum(1)
        variance = (q**2 * self.variance + noise * (q * self.state) ** 2).sum(1)
        return out, DEVIATIONS * variance.sqrt()


@per_dtype("chunk_gated_delta_rule_cpu")
@pytest.mark.parametrize("state_dtype", FLOATS, ids=["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("norm", [True, False], ids=["unit", "plain"])
def test_chunked_prompt_follows_the_delta_rule(dtype: torch.dtype, state_dtype: torch.dtype, norm: bool) -> None:
    lengths = [1, 5, 17] if norm else [9]
    check_chunks(lengths, dtype, state_dtype, norm)


@covers("chunk_gated_delta_rule_cpu")
def test_chunked_prompt_crosses_chunks() -> None:
    check_chunks([CHUNK + 3], torch.bfloat16, torch.float32, True)


def check_chunks(lengths: list[int], dtype: torch.dtype, state_dtype: torch.dtype, norm: bool) -> None:
    heads, size = (1, 2), 64
    total = sum(lengths)
    inputs = Heads.random(total, heads, (size, size), dtype)
    inputs = inputs if norm else Heads(inputs.q, inputs.k / 16, inputs.v)
    g = -torch.rand(1, total, heads[1]) * 0.5
    beta = torch.rand(1, total, heads[1]).to(dtype)
    state = torch.randn(len(lengths) + 1, heads[1], size, size).to(state_dtype)
    before = state.clone()
    slots = torch.arange(len(lengths), 0, -1, dtype=torch.int32)
    starts = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0).int()
    out, final = op("chunk_gated_delta_rule_cpu")(
        inputs.q[None], inputs.k[None], inputs.v[None], g, beta, state, True, starts, False,
        norm, slots, L2_EPSILON,
    )  # fmt: skip
    exact_heads = inputs.normalised(norm)
    for request, length in enumerate(lengths):
        slot, begin = int(slots[request]), int(starts[request])
        rule = ChunkedRule(exact(before[slot]), torch.zeros(before[slot].shape).double())
        for t in range(begin, begin + length):
            value, bound = rule.step(exact_heads, t, exact(g[0, t]), exact(beta[0, t]))
            assert_within(out[0, t], value, bound + rounding(value, dtype))
        # Each chunk stores the state in its own type.
        limit = DEVIATIONS * rule.variance.sqrt() + rounding(rule.state, state_dtype)
        assert_within(final[slot], rule.state, limit)
    assert_same(final[0], before[0])


@refuses("chunk_gated_delta_rule_cpu")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])
def test_chunked_prompt_refuses_other_types(dtype: torch.dtype) -> None:
    tokens = torch.zeros(1, 4, 1, 64, dtype=dtype)
    with pytest.raises(RuntimeError):
        op("chunk_gated_delta_rule_cpu")(
            tokens, tokens, tokens, torch.zeros(1, 4, 1), torch.zeros(1, 4, 1, dtype=dtype),
            torch.zeros(1, 1, 64, 64), True, torch.tensor([0, 4], dtype=torch.int32), False,
            True, torch.tensor([0], dtype=torch.int32), L2_EPSILON,
        )  # fmt: skip
