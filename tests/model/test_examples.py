# SPDX-License-Identifier: Apache-2.0
"""Results known without any formula of ours: the vendor's printed examples, and cases small enough for mental arithmetic."""

from __future__ import annotations

import ime2_model
import numpy as np
import pytest
from ime2_model import Mode, Reason, State

import words

Registers = dict[int, np.ndarray]


def run(*texts: str, registers: Registers, sew: int = 8, mode: Mode = Mode.r3) -> np.ndarray:
    """The 32 registers after instructions, started from zeros but for the given arrays (of one or more registers)."""
    v = np.zeros((32, 128), np.uint8)
    for first, array in registers.items():
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1, 128)
        v[first : first + len(data)] = data
    state = State(sew=sew, vl=1024 // sew, mode=mode)
    for text in texts:
        after = ime2_model.step(v.tobytes(), words.instruction(f"smt.{text}").word, state)
        v = np.frombuffer(after, np.uint8).reshape(32, 128)
    return v


def int32(v: np.ndarray, vd: int) -> np.ndarray:
    """The 8x8 int32 tile of a register pair."""
    return v[vd : vd + 2].reshape(-1).view("<i4").reshape(8, 8)


def float32(v: np.ndarray, vd: int) -> np.ndarray:
    """The 8x8 fp32 tile of a register pair."""
    return v[vd : vd + 2].reshape(-1).view("<f4").reshape(8, 8)


def half(v: np.ndarray, vd: int) -> np.ndarray:
    """The 8x8 fp16 tile of a register."""
    return v[vd].view("<f2").reshape(8, 8)


def ramp(rows: int, columns: int) -> np.ndarray:
    """Element (m, k) is m + k."""
    return np.add.outer(np.arange(rows), np.arange(columns))


def halves(*values: float) -> np.ndarray:
    """A register of fp16 that starts with `values`, the rest zero."""
    return np.array([*values, *[0.0] * (64 - len(values))], np.float16)


def bytes_at(positions: dict[int, int]) -> np.ndarray:
    """A register of zero bytes but for some."""
    register = np.zeros(128, np.uint8)
    register[list(positions)] = list(positions.values())
    return register


# The vendor's ISA document (v0.6) prints these inputs and results.


def test_vendor_example_of_vmadot_hp() -> None:
    tile = ramp(8, 16).astype(np.int8)
    c = half(run("vmadot.hp v16, v2, v8, v0, 0, i8", registers={0: halves(*range(1, 9)), 2: tile, 8: tile}), 16)
    assert c[0].tolist() == [1240, 2720, 4440, 6400, 8600, 11040, 13720, 16640]
    assert c[7].tolist() == [2080, 4624, 7632, 11104, 15040, 19440, 24304, 29632]


def test_vendor_example_of_vfwmadot_with_slides() -> None:
    a, b = ramp(16, 8).astype(np.float16), ramp(8, 8).astype(np.float16)
    c = float32(run("vfwmadot v16, v2, v8", "vfwmadot1 v16, v2, v8", "vfwmadot2 v16, v2, v8", registers={2: a, 8: b}, sew=16), 16)
    assert c[0].tolist() == [504, 612, 720, 828, 936, 1044, 1152, 1260]
    assert c[7].tolist() == [1092, 1368, 1644, 1920, 2196, 2472, 2748, 3024]


def test_vendor_example_of_vmadot_sp() -> None:
    a, b = ramp(8, 32).astype(np.int8), ramp(8, 16).astype(np.int8)
    a[3:, 16:] -= 1  # as printed
    b[7, 3] = 0  # as printed
    mask = bytes_at(dict(enumerate(byte for byte in [0x99, 0xAA, 0xCC, 0x55, 0x66, 0x33, 0x99, 0xAA] for _ in range(4))))
    c = int32(run("vmadot.sp v16, v2, v8, v0, 0, i8", registers={0: mask, 2: a, 8: b}), 16)
    assert c[0].tolist() == [2544, 2856, 3184, 3200, 3528, 3576, 4032, 4322]
    assert c[3].tolist() == [2812, 3164, 3532, 3588, 3956, 4044, 4540, 4840]
    assert c[7].tolist() == [3292, 3708, 4140, 4260, 4692, 4844, 5404, 5728]


# Signs, nibbles, tiles.


@pytest.mark.parametrize(("suffix", "sum_of_16"), [("", -16), ("u", 255 * 16), ("su", -16), ("us", 255 * 16)])
def test_first_letter_is_the_sign_of_a(suffix: str, sum_of_16: int) -> None:
    ones = np.ones(128, np.uint8)
    assert int32(run(f"vmadot{suffix} v16, v2, v8, i8", registers={2: ones * 0xFF, 8: ones}), 16)[0, 0] == sum_of_16


@pytest.mark.parametrize(("suffix", "sum_of_16"), [("", -16), ("u", 255 * 16), ("su", 255 * 16), ("us", -16)])
def test_second_letter_is_the_sign_of_b(suffix: str, sum_of_16: int) -> None:
    ones = np.ones(128, np.uint8)
    assert int32(run(f"vmadot{suffix} v16, v2, v8, i8", registers={2: ones, 8: ones * 0xFF}), 16)[0, 0] == sum_of_16


@pytest.mark.parametrize(("suffix", "product"), [("", 1), ("u", 225), ("su", -15), ("us", -15)])
def test_signs_of_hp_are_its_sub_opcode(suffix: str, product: int) -> None:
    nibble = bytes_at({0: 0x0F})
    assert half(run(f"vmadot{suffix}.hp v16, v2, v8, v0, 0, i4", registers={0: halves(1), 2: nibble, 8: nibble}), 16)[0, 0] == product


def test_hp_su_has_a_signed() -> None:
    v = run("vmadotsu.hp v16, v2, v8, v0, 0, i4", registers={0: halves(1), 2: bytes_at({0: 0x0F}), 8: bytes_at({0: 1})})
    assert half(v, 16)[0, 0] == -1


@pytest.mark.parametrize(("a", "b", "product"), [(0x03, 0x05, 15), (0x30, 0x50, 15), (0x03, 0x50, 0), (0x30, 0x05, 0)])
def test_even_nibbles_are_low(a: int, b: int, product: int) -> None:
    assert int32(run("vmadot v16, v2, v8, i4", registers={2: bytes_at({0: a}), 8: bytes_at({0: b})}), 16)[0, 0] == product


@pytest.mark.parametrize(("data_type", "row_bytes"), [("i4", 16), ("i8", 16)])
def test_rows_of_a_are_rows_of_c_and_rows_of_b_its_columns(data_type: str, row_bytes: int) -> None:
    v = run(f"vmadot v16, v2, v8, {data_type}", registers={2: bytes_at({5 * row_bytes + 3: 2}), 8: bytes_at({1 * row_bytes + 3: 3})})
    assert np.argwhere(int32(v, 16)).tolist() == [[5, 1]]


@pytest.mark.parametrize("slide", [1, 2, 3])
def test_slides_start_so_many_rows_later(slide: int) -> None:
    a = np.repeat(np.arange(16, dtype=np.uint8), 16)
    v = run(f"vmadot{slide} v16, v2, v8, i8", registers={2: a, 8: bytes_at({0: 1})})
    assert int32(v, 16)[:, 0].tolist() == list(range(slide, slide + 8))


def test_int32_wraps() -> None:
    c = np.full(64, 2**31 - 1, np.int32)
    v = run("vmadot v16, v2, v8, i8", registers={2: bytes_at({0: 1}), 8: bytes_at({0: 1}), 16: c})
    assert int32(v, 16)[0, 0] == -(2**31)


# Scales and rounding.


@pytest.mark.parametrize("imm", range(8))
@pytest.mark.parametrize("scale", [0, 1])
def test_imm3_selects_eight_scales_of_v0_or_v1(scale: int, imm: int) -> None:
    one = bytes_at({0: 1, 16: 1, 32: 1, 48: 1, 64: 1, 80: 1, 96: 1, 112: 1})
    registers = {0: np.arange(64, dtype=np.float16), 1: np.arange(64, 128, dtype=np.float16), 2: one, 8: one}
    c = half(run(f"vmadot.hp v16, v2, v8, v{scale}, {imm}, i4", registers=registers), 16)
    assert c.tolist() == [[64 * scale + 8 * imm + n for n in range(8)]] * 8


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        # d = 2049, s = 1.5, c = 1: d*s = 3073.5; steps of fp16 are 2 there, d itself rounds to 2048.
        pytest.param(Mode.r3, 3074.0, id="r3"),  # 3074.5
        pytest.param(Mode.r2, 3072.0, id="r2"),  # 3072 + 1 = 3073, tie to even
        pytest.param(Mode.r1, 3072.0, id="r1"),
    ],
)
def test_where_a_sum_is_rounded(mode: Mode, result: float) -> None:
    a, b = bytes_at({0: 127, 1: 1}), bytes_at({0: 16, 1: 17})
    v = run("vmadot.hp v16, v2, v8, v0, 0, i8", registers={0: halves(1.5), 2: a, 8: b, 16: halves(1)}, mode=mode)
    assert half(v, 16)[0, 0] == result


def test_r1_rounds_the_product_and_r2_does_not() -> None:
    # 3*s + c with s = 1 + 2^-10, c = -2^-10: exact 3 + 2^-9; r1 first makes 3 + 2^-8 of the product.
    registers = {0: halves(1 + 2.0**-10), 2: bytes_at({0: 3}), 8: bytes_at({0: 1}), 16: halves(-(2.0**-10))}
    results = {mode: half(run("vmadot.hp v16, v2, v8, v0, 0, i8", registers=registers, mode=mode), 16)[0, 0] for mode in Mode}
    assert results == {Mode.r3: 3 + 2.0**-9, Mode.r2: 3 + 2.0**-9, Mode.r1: 3 + 2.0**-8}


def test_a_nan_in_one_row_leaves_the_others_alone() -> None:
    ones = np.full(128, 0x11, np.uint8)
    c = half(run("vmadot.hp v16, v2, v8, v0, 0, i4", registers={0: halves(*[1] * 8), 2: ones, 8: ones, 16: halves(*[np.nan] * 8)}), 16)
    assert np.isnan(c[0]).all() and (c[1:] == 32).all()


def test_an_infinite_scale_of_a_zero_sum_is_the_canonical_nan() -> None:
    v = run("vmadot.hp v16, v2, v8, v0, 0, i4", registers={0: halves(np.inf)})
    assert v[16].view("<u2")[0] == 0x7E00


@pytest.mark.parametrize(("high", "low", "weights"), [("su", "u", "unsigned"), ("", "us", "signed")])
def test_int8_times_int4_is_two_scaled_products(high: str, low: str, weights: str) -> None:
    rng = np.random.default_rng(3)
    q = rng.integers(-128, 128, (8, 32))
    w = rng.integers(0, 16, (8, 32)) - (8 if weights == "signed" else 0)

    def nibbles(x: np.ndarray) -> np.ndarray:
        pairs = (x & 15).reshape(8, 16, 2)
        return (pairs[:, :, 0] | pairs[:, :, 1] << 4).astype(np.uint8)

    registers = {0: halves(*[2.0**-12] * 8), 1: halves(*[2.0**-16] * 8), 2: nibbles(q >> 4), 3: nibbles(q), 8: nibbles(w)}
    c = half(run(f"vmadot{high}.hp v16, v2, v8, v0, 0, i4", f"vmadot{low}.hp v16, v3, v8, v1, 0, i4", registers=registers), 16)
    np.testing.assert_allclose(c.astype(np.float64), (q @ w.T) * 2.0**-16, rtol=0, atol=np.abs(c).max() * 2.0**-10)


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        # 2^24 + 8 times 1: one rounding keeps all of it, step by step each 1 is a tie that is lost.
        pytest.param(Mode.r3, 2.0**24 + 8, id="r3"),
        pytest.param(Mode.r2, 2.0**24 + 8, id="r2"),
        pytest.param(Mode.r1, 2.0**24, id="r1"),
    ],
)
def test_float_sums_step_by_step_or_at_once(mode: Mode, result: float) -> None:
    ones, c = np.ones(64, np.float16), np.full(64, 2.0**24, np.float32)
    assert float32(run("vfwmadot v16, v2, v8", registers={2: ones, 8: ones, 16: c}, sew=16, mode=mode), 16)[0, 0] == result


@pytest.mark.parametrize(("mode", "result"), [(Mode.r3, 2.0**24 + 2), (Mode.r2, 2.0**24)], ids=["r3", "r2"])
def test_float_dot_product_rounded_alone_or_with_c(mode: Mode, result: float) -> None:
    # 2^24 + (1 + 2^-24): the dot product rounds to 1, which is then a tie.
    a, b = halves(1, 2.0**-12), halves(1, 2.0**-12)
    v = run("vfwmadot v16, v2, v8", registers={2: a, 8: b, 16: np.array([2.0**24] + [0] * 63, np.float32)}, sew=16, mode=mode)
    assert float32(v, 16)[0, 0] == result


@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.name)
@pytest.mark.parametrize(("c", "bits"), [(-0.0, 0x80000000), (0.0, 0)], ids=["minus_zero", "zero"])
def test_float_zeros_sum_to_minus_zero_only_among_themselves(c: float, bits: int, mode: Mode) -> None:
    registers = {2: np.full(64, -0.0, np.float16), 8: np.ones(64, np.float16), 16: np.full(64, c, np.float32)}
    v = run("vfwmadot v16, v2, v8", registers=registers, sew=16, mode=mode)
    assert v[16].view("<u4")[0] == bits


@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.name)
@pytest.mark.parametrize(("scale", "bits"), [(-1.0, 0x8000), (1.0, 0)], ids=["minus_zero", "zero"])
def test_scaled_zeros_keep_their_sign(scale: float, bits: int, mode: Mode) -> None:
    v = run("vmadot.hp v16, v2, v8, v0, 0, i4", registers={0: halves(scale), 16: halves(-0.0)}, mode=mode)
    assert v[16].view("<u2")[0] == bits


# Sparsity.


@pytest.mark.parametrize("nibble", range(16))
def test_a_mask_selects_two_of_four_or_nothing(nibble: int) -> None:
    kept = [i for i in range(4) if nibble >> i & 1]
    registers = {0: bytes_at({0: nibble}), 2: bytes_at({0: 1, 1: 10, 2: 100, 3: 50}), 8: bytes_at({0: 2, 1: 3})}
    expected = 2 * [1, 10, 100, 50][kept[0]] + 3 * [1, 10, 100, 50][kept[1]] if len(kept) == 2 else 0
    assert int32(run("vmadot.sp v16, v2, v8, v0, 0, i8", registers=registers), 16)[0, 0] == expected


@pytest.mark.parametrize(("data_type", "segment", "first_byte"), [("i4", 0, 0), ("i4", 1, 64), ("i8", 0, 0), ("i8", 1, 32), ("i8", 2, 64), ("i8", 3, 96)])
def test_segments_of_the_mask(data_type: str, segment: int, first_byte: int) -> None:
    registers = {1: bytes_at({first_byte: 0x03}), 2: bytes_at({0: 1}), 8: bytes_at({0: 1})}
    assert int32(run(f"vmadot.sp v16, v2, v8, v1, {segment}, {data_type}", registers=registers), 16)[0, 0] == 1


# Layout.


def test_vpack_interleaves_elements() -> None:
    sources = {r: np.array([100 * r + i for i in range(16)], np.uint64) for r in range(4)}
    v = run("vpack.vv v8, v0, v1, 0", "vpack.vv v10, v2, v3, 0", "vpack.vv v4, v8, v10, 0", registers=sources, sew=64)
    assert v[4].view("<u8")[:8].tolist() == [0, 200, 100, 300, 1, 201, 101, 301]


def test_vupack_undoes_vpack() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 256, 128, np.uint8), rng.integers(0, 256, 128, np.uint8)
    for imm in range(4):
        v = run(f"vpack.vv v8, v2, v3, {imm}", f"vupack.vv v10, v8, v9, {imm}", registers={2: a, 3: b}, sew=16)
        assert v[10:12].tolist() == [a.tolist(), b.tolist()]


@pytest.mark.parametrize(("imm", "block"), [(0, 4), (1, 8), (2, 16), (3, 32)])
def test_vnpack4_interleaves_output_blocks(imm: int, block: int) -> None:
    v = run(f"vnpack4.vv v17, v3, v9, {imm}", registers={3: np.full(128, 0x51, np.uint8), 9: np.full(128, 0x72, np.uint8)})
    assert v[17].tolist() == ([0x11] * block + [0x22] * block) * (64 // block)


def test_vnpack4_puts_the_first_byte_low() -> None:
    assert run("vnpack4.vv v17, v3, v9, 0", registers={3: bytes_at({0: 0x1A, 1: 0x2B})})[17, 0] == 0xBA


@pytest.mark.parametrize(("byte", "nibble"), [(7, 7), (8, 7), (127, 7), (0xF8, 8), (0xF7, 8), (0x80, 8), (0xFF, 15), (0, 0)])
def test_vnspack4_saturates(byte: int, nibble: int) -> None:
    assert run("vnspack4.vv v17, v3, v9, 0", registers={3: bytes_at({0: byte})})[17, 0] & 15 == nibble


@pytest.mark.parametrize(("x", "narrow"), [(127, 127), (128, 127), (32767, 127), (-128, -128), (-129, -128), (-32768, -128), (-1, -1)])
def test_vnspack_saturates(x: int, narrow: int) -> None:
    assert run("vnspack.vv v17, v3, v9, 0", registers={3: np.full(64, x, np.int16)})[17].view(np.int8)[0] == narrow


# Overlap.


def test_overlap_is_refused_when_strict_and_reads_first_when_lenient() -> None:
    v = np.random.default_rng(9).integers(0, 256, (32, 128), np.uint8)
    apart, v[16] = words.instruction("smt.vmadot.hp v16, v2, v8, v0, 3, i4").word, v[2]
    over = words.instruction("smt.vmadot.hp v2, v2, v8, v0, 3, i4").word
    with pytest.raises(ime2_model.IllegalInstruction) as caught:
        ime2_model.step(v.tobytes(), over, State())
    assert caught.value.args[1] == Reason.OVERLAP_VS1
    after = [np.frombuffer(ime2_model.step(v.tobytes(), word, State(strict=False)), np.uint8).reshape(32, 128) for word in (apart, over)]
    assert after[0][16].tolist() == after[1][2].tolist()
