# SPDX-License-Identifier: Apache-2.0
"""Mamba: the causal convolution's step, the state's step, and the scan over a prompt."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from registry import covers, op, per_dtype
from tolerance import U32, assert_same, assert_within, dot_error, exact, rounding

Pair = tuple[torch.Tensor, torch.Tensor]
PAD = -1


def silu(x: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(x)


# --- causal convolution ----------------------------------------------------


def convolved(
    window: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, act: bool,
    dtype: torch.dtype,
) -> Pair:  # fmt: skip
    """One step: [batch, channel, width] times [channel, width]."""
    value = (window * weight).sum(-1)
    size = (window * weight).abs().sum(-1)
    if bias is not None:
        value, size = value + exact(bias), size + exact(bias).abs()
    error = dot_error(size, window.shape[-1] + 1)
    if act:
        # silu's slope is at most 1.1; its own arithmetic adds four roundings.
        value, error = silu(value), 1.1 * error + 5 * U32 * silu(value).abs()
    return value, error + rounding(value, dtype)


@per_dtype("causal_conv1d_update_cpu_vec")
@pytest.mark.parametrize("act", ["silu", None])
@pytest.mark.parametrize("transposed", [False, True], ids=["by-channel", "by-step"])
def test_convolution_step_shifts_the_state(dtype: torch.dtype, act: str | None, transposed: bool) -> None:
    batch, channels, width, steps = 3, 11, 4, 2
    x = torch.randn(batch, channels, steps).to(dtype)
    shape = (5, width - 1, channels) if transposed else (5, channels, width - 1)
    state = torch.randn(shape).to(dtype)
    state = state.transpose(1, 2) if transposed else state
    weight = torch.randn(channels, width).to(dtype)
    bias = torch.randn(channels).to(dtype)
    before = state.clone()
    # The second request is padding: its output and every state stay.
    slots = torch.tensor([4, PAD, 1], dtype=torch.int32)
    out = op("causal_conv1d_update_cpu_vec")(x, state, weight, bias, act, slots, None, PAD)
    expected_state, value, bound = before.clone(), exact(x), torch.zeros(x.shape).double()
    for request in (0, 2):
        slot = int(slots[request])
        series = torch.cat((before[slot], x[request]), -1)
        expected_state[slot] = series[:, -(width - 1) :]
        for step in range(steps):
            window = exact(series[:, step : step + width])
            value[request, :, step], bound[request, :, step] = convolved(window, exact(weight), bias, act == "silu", dtype)
    assert_within(out, value, bound)
    assert_same(state, expected_state)


@covers("causal_conv1d_update_cpu_vec")
def test_convolution_of_single_tokens_without_bias_or_slots() -> None:
    x, state, weight = torch.randn(2, 8), torch.randn(2, 8, 3), torch.randn(8, 4)
    series = torch.cat((state, x[..., None]), -1)
    out = op("causal_conv1d_update_cpu_vec")(x, state, weight, None, None, None, None, PAD)
    assert_within(out, *convolved(exact(series), exact(weight), None, False, torch.float32))
    assert_same(state, series[..., 1:].contiguous())


# --- state space -----------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Per-head parameters."""

    a: torch.Tensor
    d: torch.Tensor | None
    dt_bias: torch.Tensor | None

    @classmethod
    def random(cls, heads: int, optional: bool) -> Model:
        return cls(
            a=-torch.rand(heads) - 0.1,
            d=torch.randn(heads) if optional else None,
            dt_bias=torch.randn(heads) if optional else None,
        )


@dataclass(frozen=True)
class Tokens:
    """x and z [token, head, dim], dt [token, head], b and c [token, group, state]."""

    x: torch.Tensor
    dt: torch.Tensor
    b: torch.Tensor
    c: torch.Tensor
    z: torch.Tensor | None

    @classmethod
    def random(
        cls, count: int, heads: int, groups: int, dim: int, state: int, dtype: torch.dtype,
        gated: bool,
    ) -> Tokens:  # fmt: skip
        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(shape).to(dtype)

        return cls(
            x=normal(count, heads, dim),
            dt=torch.rand(count, heads),
            b=normal(count, groups, state),
            c=normal(count, groups, state),
            z=normal(count, heads, dim) if gated else None,
        )


@dataclass
class Recurrence:
    """State [head, dim, state] in float64, with a running bound of its error."""

    state: torch.Tensor
    error: torch.Tensor

    def step(self, model: Model, tokens: Tokens, t: int, softplus: bool, stored: torch.dtype) -> Pair:
        """One token: its output [head, dim] and bound; the state is kept in `stored`."""
        heads = model.a.shape[0]
        group = heads // tokens.b.shape[1]
        dt = exact(tokens.dt[t])
        if model.dt_bias is not None:
            dt = dt + exact(model.dt_bias)
        if softplus:
            dt = torch.log1p(torch.exp(dt))
        decay = torch.exp(exact(model.a) * dt)[:, None, None]
        b = exact(tokens.b[t]).repeat_interleave(group, 0)[:, None, :]
        c = exact(tokens.c[t]).repeat_interleave(group, 0)[:, None, :]
        x = exact(tokens.x[t])
        added = x[..., None] * dt[:, None, None] * b
        # dt has at most six roundings (bias, exp, log1p); exp(A·dt) two more and
        # A·dt's share; the sum and products four.
        roundings = (12 + (exact(model.a) * dt).abs()[:, None, None] * 8) * U32
        fresh = self.state * decay
        self.error = self.error * decay + (fresh.abs() + added.abs()) * roundings
        self.state = fresh + added
        out = (self.state * c).sum(-1)
        size = (self.state * c).abs().sum(-1)
        bound = (self.error * c.abs()).sum(-1) + dot_error(size, self.state.shape[-1])
        if model.d is not None:
            skip = x * exact(model.d)[:, None]
            out, bound = out + skip, bound + 2 * U32 * (skip.abs() + out.abs())
        if tokens.z is not None:
            gate = silu(exact(tokens.z[t]))
            out, bound = out * gate, bound * gate.abs() + 6 * U32 * (out * gate).abs()
        self.error = self.error + rounding(self.state, stored)
        return out, bound


def run_steps(
    start: torch.Tensor, model: Model, tokens: Tokens, order: range, softplus: bool,
    stored: torch.dtype, dtype: torch.dtype,
) -> tuple[Pair, Pair]:  # fmt: skip
    """Outputs of the tokens and the final state, each with its bound."""
    walk = Recurrence(exact(start), torch.zeros_like(exact(start)))
    steps = [walk.step(model, tokens, t, softplus, stored) for t in order]
    out = torch.stack([value for value, _ in steps])
    bound = torch.stack([error for _, error in steps]) + rounding(out, dtype)
    return (out, bound), (walk.state, walk.error)


def expanded(vector: torch.Tensor, *shape: int) -> torch.Tensor:
    """Per-head values as the engine passes them: expanded views with stride 0."""
    return vector.view(-1, *(1 for _ in shape)).expand(-1, *shape)


def call_update(
    state: torch.Tensor, model: Model, tokens: Tokens, out: torch.Tensor, softplus: bool,
    source: torch.Tensor | None = None, target: torch.Tensor | None = None,
    accepted: torch.Tensor | None = None, starts: torch.Tensor | None = None,
) -> None:  # fmt: skip
    dim, size = state.shape[2:]
    op("selective_state_update_cpu")(
        state, tokens.x, tokens.dt[..., None].expand(-1, -1, dim), expanded(model.a, dim, size),
        tokens.b, tokens.c, None if model.d is None else expanded(model.d, dim), tokens.z,
        None if model.dt_bias is None else expanded(model.dt_bias, dim), softplus,
        source, target, PAD, out, accepted, starts,
    )  # fmt: skip


@per_dtype("selective_state_update_cpu")
@pytest.mark.parametrize("optional", [True, False], ids=["D-z-bias-softplus", "bare"])
@pytest.mark.parametrize("size", [8, 19])
def test_state_step_decays_and_adds(dtype: torch.dtype, size: int, optional: bool) -> None:
    batch, heads, groups, dim = 3, 4, 2, 5
    model = Model.random(heads, optional)
    tokens = Tokens.random(batch, heads, groups, dim, size, dtype, optional)
    state = torch.randn(6, heads, dim, size).to(dtype)
    before = state.clone()
    slots = torch.tensor([5, PAD, 2], dtype=torch.int32)
    out = torch.full((batch, heads, dim), 3.0, dtype=dtype)
    call_update(state, model, tokens, out, optional, slots)
    value, bound = exact(out.clone().fill_(3.0)), torch.zeros(out.shape).double()
    after, after_bound = exact(before), torch.zeros(before.shape).double()
    for request in (0, 2):
        slot = int(slots[request])
        output, final = run_steps(before[slot], model, tokens, range(request, request + 1), optional, dtype, dtype)
        value[request], bound[request] = output[0][0], output[1][0]
        after[slot], after_bound[slot] = final
    assert_within(out, value, bound)
    assert_within(state, after, after_bound)


@covers("selective_state_update_cpu")
def test_state_step_keeps_a_float32_state_of_half_precision_tokens() -> None:
    model = Model.random(2, True)
    tokens = Tokens.random(2, 2, 1, 3, 16, torch.bfloat16, True)
    state = torch.randn(2, 2, 3, 16)
    before = state.clone()
    out = torch.empty(2, 2, 3, dtype=torch.float16)
    call_update(state, model, tokens, out, True)
    for request in range(2):
        output, final = run_steps(
            before[request], model, tokens, range(request, request + 1), True,
            torch.float32, torch.float16,
        )  # fmt: skip
        assert_within(out[request], output[0][0], output[1][0])
        assert_within(state[request], *final)


@covers("selective_state_update_cpu")
def test_state_step_writes_to_the_target_slot() -> None:
    model = Model.random(2, False)
    tokens = Tokens.random(1, 2, 1, 3, 8, torch.float32, False)
    state = torch.randn(4, 2, 3, 8)
    before = state.clone()
    call_update(
        state, model, tokens, torch.empty(1, 2, 3), False,
        torch.tensor([1], dtype=torch.int32), torch.tensor([3], dtype=torch.int32),
    )  # fmt: skip
    _, final = run_steps(before[1], model, tokens, range(1), False, torch.float32, torch.float32)
    assert_within(state[3], *final)
    assert_same(state[[0, 2]], before[[0, 2]])


@covers("selective_state_update_cpu")
def test_state_steps_of_draft_tokens_keep_every_state() -> None:
    drafts = 3
    model = Model.random(2, True)
    tokens = Tokens.random(2 * drafts, 2, 1, 3, 9, torch.float32, True)
    state = torch.randn(9, 2, 3, 9)
    before = state.clone()
    targets = torch.tensor([[2, 3, 4], [5, 6, 7]], dtype=torch.int32)
    out = torch.empty(2 * drafts, 2, 3)
    call_update(
        state, model, tokens, out, True, torch.tensor([0, 8], dtype=torch.int32), targets,
        torch.tensor([1, 1], dtype=torch.int32),
        torch.tensor([0, drafts, 2 * drafts], dtype=torch.int32),
    )  # fmt: skip
    for request, slot in enumerate((0, 8)):
        for count in range(1, drafts + 1):
            order = range(request * drafts, request * drafts + count)
            output, final = run_steps(before[slot], model, tokens, order, True, torch.float32, torch.float32)
            assert_within(state[targets[request, count - 1]], *final)
        assert_within(out[order.start : order.stop], *output)


@per_dtype("mamba_chunk_scan_fwd_cpu")
@pytest.mark.parametrize("optional", [True, False], ids=["D-z", "bare"])
def test_chunk_scan_is_the_recurrence_over_each_sequence(dtype: torch.dtype, optional: bool) -> None:
    heads, groups, dim, size = 4, 2, 3, 21
    lengths = [5, 1, 7]
    starts = torch.tensor([0, 5, 6, 13], dtype=torch.int32)
    model = Model.random(heads, optional)
    model = Model(model.a, model.d, None)
    tokens = Tokens.random(13, heads, groups, dim, size, dtype, optional)
    final = torch.randn(3, heads, dim, size)
    before = final.clone()
    out = torch.full((13, heads, dim), torch.nan, dtype=dtype)
    op("mamba_chunk_scan_fwd_cpu")(out, final, tokens.x, tokens.dt, model.a, tokens.b, tokens.c, model.d, tokens.z, starts)
    for request, length in enumerate(lengths):
        begin = int(starts[request])
        output, state = run_steps(
            before[request], model, tokens, range(begin, begin + length), False,
            torch.float32, dtype,
        )  # fmt: skip
        assert_within(out[begin : begin + length], *output)
        assert_within(final[request], *state)
