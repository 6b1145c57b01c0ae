# SPDX-License-Identifier: Apache-2.0
"""Speculative decoding: bookkeeping of draft tokens, and rejection sampling."""

from __future__ import annotations

import pytest
import torch

from registry import covers, op, states
from tolerance import assert_same

FILL = -77  # what output buffers hold before the call


def ints(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def ints32(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def blank(*shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.full(shape, FILL, dtype=dtype)


# --- EAGLE -----------------------------------------------------------------


@covers("eagle_prepare_inputs_padded_kernel_impl")
def test_rejected_tokens_are_counted_and_skipped() -> None:
    # Four requests with 2, 0, 3 and 1 draft tokens, of which 2, 1, 1 and 2
    # tokens (with the sampled one) stay valid.
    index, rejected = blank(4, dtype=torch.int32), blank(4)
    op("eagle_prepare_inputs_padded_kernel_impl")(ints(2, 2, 5, 6), ints(2, 1, 1, 2), ints32(0, 3, 4, 8, 10), index, rejected, 4)
    assert_same(rejected, ints(1, 0, 3, 0))
    assert_same(index, ints32(2 - 1, 3, 7 - 3, 9))


@covers("eagle_prepare_next_token_padded_kernel_impl")
def test_next_token_is_the_last_valid_one() -> None:
    sampled = torch.tensor([[5, 6, -1], [-1, -1, -1], [7, 100, 8], [9, 3, 4]])
    token, valid = blank(4), blank(4)
    op("eagle_prepare_next_token_padded_kernel_impl")(
        sampled, torch.tensor([False, False, False, True]), ints(10, 11, 12, 13),
        token, valid, 100, 3, 4,
    )  # fmt: skip
    # No valid token, or a discarded request: the backup; 100 is outside the vocabulary.
    assert_same(token, ints(6, 11, 8, 13))
    assert_same(valid, ints(2, 0, 2, 0))


@covers("eagle_step_slot_mapping_metadata_kernel_impl")
def test_step_moves_each_request_to_its_next_slot() -> None:
    # Block size 4, at most 16 tokens; the third request is full; two padding slots.
    table = torch.tensor([[3, 5, 1, 8], [9, 2, 6, 7], [4, 10, 11, 12]], dtype=torch.int32)
    lengths = ints32(4, 8, 16)
    position, slot = blank(3), blank(5)
    op("eagle_step_slot_mapping_metadata_kernel_impl")(ints(3, 6, 15), table, lengths, position, slot, 4, 16, -1)
    assert_same(position, ints(4, 7, 0))
    assert_same(slot, ints(5 * 4 + 0, 2 * 4 + 3, -1, -1, -1))
    assert_same(lengths, ints32(5, 9, 1))


def expanded(shift: bool, padding: int) -> dict[str, torch.Tensor]:
    """Expected buffers of the expansion of two requests, written out by its rules."""
    target = ints(10, 11, 12, 13, 20, 21, 22)
    position = ints(4, 5, 6, 7, 30, 31, 32)
    begin, end, following = [0, 4], [2, 6], [4, 7]
    bonus = [91, 92]
    per_request = padding - 1 if shift else padding
    total = 7 + 2 * per_request
    ids, places = blank(total), blank(total)
    rejected = torch.zeros(total, dtype=torch.bool)
    masked = torch.zeros(total, dtype=torch.bool)
    fresh = blank(2 * padding, dtype=torch.int32)
    hidden = blank(7, dtype=torch.int32)
    for request in range(2):
        start = begin[request] + request * per_request
        first = begin[request] + (1 if shift else 0)
        kept = target[first : end[request] + 1].tolist()
        row = [(token, False, False) for token in kept]
        row += [(bonus[request], False, False)]
        row += [(-5, False, True)] * (padding - 1)
        row += [(-9, True, False)] * (following[request] - end[request] - 1)
        for offset, (token, is_rejected, is_masked) in enumerate(row):
            ids[start + offset] = token
            places[start + offset] = 0 if is_rejected else position[begin[request]] + offset
            rejected[start + offset], masked[start + offset] = is_rejected, is_masked
        for offset in range(padding):
            fresh[request * padding + offset] = start + len(kept) + offset
        if shift:
            count = following[request] - begin[request]
            hidden[begin[request] : following[request]] = start + torch.arange(count).int()
    return {
        "ids": ids, "positions": places, "rejected": rejected,
        "masked": masked, "fresh": fresh, "hidden": hidden,
    }  # fmt: skip


@covers("copy_and_expand_eagle_inputs_kernel_impl")
@pytest.mark.parametrize("padding", [1, 3])
@pytest.mark.parametrize("shift", [True, False], ids=["shifted", "whole"])
def test_eagle_inputs_are_expanded_with_bonus_and_parallel_tokens(shift: bool, padding: int) -> None:
    expected = expanded(shift, padding)
    buffers = {name: torch.zeros_like(value) if value.dtype == torch.bool else torch.full_like(value, FILL) for name, value in expected.items()}
    op("copy_and_expand_eagle_inputs_kernel_impl")(
        ints(10, 11, 12, 13, 20, 21, 22), ints(4, 5, 6, 7, 30, 31, 32), ints(91, 92),
        *buffers.values(), ints32(0, 4, 7), ints32(2, 6), -9, -5, 7, padding, shift,
    )  # fmt: skip
    for name, value in expected.items():
        assert_same(buffers[name], value)


# --- DFlash ----------------------------------------------------------------


@covers("copy_and_expand_dflash_inputs_kernel_impl")
@pytest.mark.parametrize("with_rejected", [True, False], ids=["rejected", "all-kept"])
def test_dflash_queries_follow_the_last_kept_position(with_rejected: bool) -> None:
    block, queries, speculative = 4, 3, 2
    position = ints(0, 1, 2, 9, 10)  # two requests with 3 and 2 context tokens
    table = torch.tensor([[5, 6, 7, 8], [1, 2, 3, 4]], dtype=torch.int32)
    rejected = ints(1, 0)
    ids, where, slots = blank(6), blank(6), blank(6)
    context, context_slots = blank(5), blank(5)
    sample = blank(4, dtype=torch.int32)
    op("copy_and_expand_dflash_inputs_kernel_impl")(
        ints(70, 71), position, ids, context, where, context_slots, slots, sample, table,
        ints32(0, 3, 5), rejected if with_rejected else None, -5, block, queries, speculative,
        5, with_rejected,
    )  # fmt: skip
    last = [1 if with_rejected else 2, 10]
    expected = torch.tensor([[p + 1 + i for i in range(queries)] for p in last])

    def slot(request: int, place: int) -> int:
        return int(table[request, place // block]) * block + place % block

    assert_same(ids, ints(70, -5, -5, 71, -5, -5))
    assert_same(where, expected.flatten())
    assert_same(slots, ints(*(slot(r, int(p)) for r in range(2) for p in expected[r])))
    assert_same(context, position)
    assert_same(context_slots, ints(*(slot(r, int(p)) for r, p in zip([0, 0, 0, 1, 1], position, strict=True))))
    assert_same(sample, ints32(1, 2, 4, 5))


# --- rejection sampling ----------------------------------------------------

DRAFTS = ints(3, 3, 5, 9)  # cumulative: 3, 0, 2 and 4 draft tokens


def per_request(flat: torch.Tensor) -> list[list[int]]:
    begin = [0, *DRAFTS.tolist()]
    return [flat[a:b].tolist() for a, b in zip(begin, begin[1:], strict=False)]


@covers("rejection_greedy_sample_kernel_impl")
@pytest.mark.parametrize("greedy", [None, (True, True, False, True)], ids=["all", "some"])
def test_greedy_rejection_keeps_drafts_up_to_the_first_difference(
    greedy: tuple[bool, ...] | None,
) -> None:
    draft = ints(1, 2, 3, 4, 5, 6, 7, 8, 9)
    target = ints(1, 2, 3, 4, 55, 6, 77, 8, 9)
    bonus = torch.tensor([[100], [101], [102], [103]])
    out = blank(4, 5)
    mask = None if greedy is None else torch.tensor(greedy)
    op("rejection_greedy_sample_kernel_impl")(out, DRAFTS, draft, target, bonus, mask, 4)
    expected = blank(4, 5)
    expected[0, :4] = ints(1, 2, 3, 100)
    expected[1, 0] = 101
    if greedy is None:
        expected[2, :2] = ints(4, 55)
    expected[3, :2] = ints(6, 77)
    assert_same(out, expected)


@covers("rejection_random_sample_kernel_impl")
@pytest.mark.parametrize("with_draft_probs", [True, False], ids=["probabilities", "one-hot"])
def test_random_rejection_accepts_with_the_ratio_of_probabilities(with_draft_probs: bool) -> None:
    vocabulary = 11
    target = torch.softmax(torch.randn(9, vocabulary), -1)
    draft_probs = torch.softmax(torch.randn(9, vocabulary), -1)
    draft = torch.randint(vocabulary, (9,))
    draft_probs[7, draft[7]] = 0.0  # never proposed: never accepted
    uniform = torch.rand(9) * 0.9 + 0.05
    uniform[[0, 1, 5]] = 0.001
    recovered = torch.arange(200, 209)
    bonus = torch.tensor([[100], [101], [102], [103]])
    greedy = torch.tensor([False, False, True, False])
    out = blank(4, 5)
    op("rejection_random_sample_kernel_impl")(
        out, DRAFTS, draft, draft_probs if with_draft_probs else None, target, bonus,
        recovered, uniform, greedy, 4, vocabulary, not with_draft_probs,
    )  # fmt: skip
    rows = torch.arange(9)
    p = target[rows, draft].double()
    q = draft_probs[rows, draft].double() if with_draft_probs else torch.ones(9).double()
    accepted = (q > 0) & (p / q.clamp(min=1e-30) >= uniform.double())
    expected = blank(4, 5)
    begin = 0
    for request, taken in enumerate(per_request(accepted)):
        for place, ok in enumerate(taken if request != 2 else []):
            token = begin + place
            expected[request, place] = draft[token] if ok else recovered[token]
            if not ok:
                break
        else:
            if request != 2:
                expected[request, len(taken)] = bonus[request, 0]
        begin += len(taken)
    assert_same(out, expected)
    assert {True, False} <= set(accepted.tolist()), "the case must accept and reject"


@covers("sample_recovered_tokens_kernel_impl")
@pytest.mark.parametrize("with_draft_probs", [True, False], ids=["probabilities", "one-hot"])
def test_recovered_token_maximises_the_remaining_probability(with_draft_probs: bool) -> None:
    vocabulary = 37
    target = torch.softmax(2 * torch.randn(9, vocabulary), -1)
    draft_probs = torch.softmax(2 * torch.randn(9, vocabulary), -1)
    draft = target.argmax(-1)
    inverse = torch.rand(4, vocabulary) + 0.1
    out = blank(9)
    op("sample_recovered_tokens_kernel_impl")(
        out, DRAFTS, draft, draft_probs if with_draft_probs else None, target, inverse,
        vocabulary, not with_draft_probs,
    )  # fmt: skip
    request = torch.repeat_interleave(torch.arange(4), ints(3, 0, 2, 4))
    rest = target - draft_probs if with_draft_probs else target.scatter(1, draft[:, None], 0.0)
    assert_same(out, (rest.clamp(min=0) * inverse[request]).argmax(-1))


@covers("expand_kernel_impl")
def test_expansion_repeats_each_value_and_replaces_one() -> None:
    out = blank(10)
    op("expand_kernel_impl")(out, ints(4, 5, -1, 6), DRAFTS, -1, 0)
    assert_same(out, ints(4, 4, 4, 0, 0, 6, 6, 6, 6, FILL))


@states("rejection_greedy_sample_kernel_impl")
def test_rejection_of_an_empty_batch_does_nothing() -> None:
    nothing = torch.empty(0, dtype=torch.int64)
    out = blank(0, 5)
    op("rejection_greedy_sample_kernel_impl")(out, nothing, nothing, nothing, torch.empty(0, 1, dtype=torch.int64), None, 4)
    assert out.numel() == 0
