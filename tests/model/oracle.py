# SPDX-License-Identifier: Apache-2.0
"""What the instructions do, formulated with numpy arrays and exact fractions instead of the model's loops over bytes."""

from __future__ import annotations

import fractions
from collections.abc import Callable

import numpy as np
from ime2_model import Form, Instruction, Mode, Reason, Type

Array = np.ndarray
_HALF_NAN = 0x7E00
_FLOAT_NAN = 0x7FC00000
_FLOAT_OVERFLOW = fractions.Fraction(2) ** 128 - fractions.Fraction(2) ** 103


def elements(data: Array, width: int, signed: bool) -> Array:
    """Integers of `width` bits out of bytes, lowest bits first."""
    bits = np.unpackbits(data.ravel(), bitorder="little").reshape(-1, width).astype(np.int64)
    weights = [1 << i for i in range(width)]
    if signed:
        weights[-1] = -weights[-1]
    return bits @ np.array(weights, np.int64)


def step(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    """The 32x128 registers after an instruction, whatever overlaps."""
    after = v.copy()
    result = np.frombuffer(_RESULTS[insn.form](v, insn, sew, mode).tobytes(), np.uint8).reshape(-1, 128)
    after[insn.vd : insn.vd + len(result)] = result
    return after


def _width(insn: Instruction) -> int:
    return 4 if insn.type == Type.I4 else 8


def _operand_b(v: Array, insn: Instruction) -> Array:
    """Rows of B transposed: [n, k]."""
    return elements(v[insn.vs2], _width(insn), insn.b_signed).reshape(8, -1)


def _dot(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    pair = np.concatenate([v[insn.vs1], v[(insn.vs1 + 1) % 32]])
    rows = elements(pair, _width(insn), insn.a_signed).reshape(16, -1)[insn.slide : insn.slide + 8]
    return _accumulated(v, insn, rows @ _operand_b(v, insn).T)


def _accumulated(v: Array, insn: Instruction, products: Array) -> Array:
    old = elements(v[insn.vd : insn.vd + 2], 32, True)
    return (old + products.ravel()).astype(np.uint64).astype(np.uint32)


def _sparse_dot(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    width = _width(insn)
    a = elements(v[insn.vs1 : insn.vs1 + 2], width, insn.a_signed).reshape(8, -1)
    kept = _operand_b(v, insn).reshape(8, -1, 2)
    groups = kept.shape[1]
    segment = np.unpackbits(v[insn.scale], bitorder="little").reshape(-1, 8, groups, 4)[insn.imm].astype(bool)
    valid = segment.sum(axis=2) == 2
    dense = np.zeros((8, groups, 4), np.int64)
    dense[segment & valid[:, :, None]] = kept[valid].ravel()
    return _accumulated(v, insn, a @ dense.reshape(8, -1).T)


def _halves(data: Array) -> Array:
    return data.view("<f2").astype(np.float64)


def _half_bits(x: Array) -> Array:
    half = x.astype(np.float16)
    return np.where(np.isnan(half), np.uint16(_HALF_NAN), half.view(np.uint16)).astype("<u2")


def _rounded(x: Array) -> Array:
    return x.astype(np.float16).astype(np.float64)


def _scaled_dot(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    a = elements(v[insn.vs1], _width(insn), insn.a_signed).reshape(8, -1)
    products = (a @ _operand_b(v, insn).T).astype(np.float64)
    scale = _halves(v[insn.scale]).reshape(8, 8)[insn.imm]
    old = _halves(v[insn.vd]).reshape(8, 8)
    with np.errstate(all="ignore"):
        if mode == Mode.r3:
            new = old + products * scale
        elif mode == Mode.r2:
            new = old + _rounded(products) * scale
        else:
            new = old + _rounded(_rounded(products) * scale)
        return _half_bits(new)


def float_bits(x: fractions.Fraction) -> int:
    """fp32 bits of a fraction other than 0, rounded to nearest even."""
    if abs(x) >= _FLOAT_OVERFLOW:
        return 0x7F800000 if x > 0 else 0xFF800000
    near = np.float32(min(abs(float(x)), float(np.finfo(np.float32).max)))
    around = [np.nextafter(near, np.float32(0)), near, np.nextafter(near, np.float32(np.inf))]
    finite = [candidate for candidate in around if np.isfinite(candidate)]
    best = min(finite, key=lambda c: (abs(fractions.Fraction(float(c)) - abs(x)), int(c.view(np.uint32)) & 1))
    return int(best.view(np.uint32)) | (0x80000000 if x < 0 else 0)


def _sum_bits(terms: list[float]) -> int:
    """fp32 bits of the exact sum of doubles, rounded once."""
    special = sum(term for term in terms if not np.isfinite(term))
    if np.isnan(special):
        return _FLOAT_NAN
    if np.isinf(special):
        return 0x7F800000 if special > 0 else 0xFF800000
    exact = sum((fractions.Fraction(term) for term in terms), fractions.Fraction(0))
    if exact == 0:
        return 0x80000000 if all(np.signbit(term) for term in terms) else 0
    return float_bits(exact)


def _float(bits: int) -> np.float32:
    return np.uint32(bits).view(np.float32)


def _added(c: np.float32, x: np.float32) -> np.float32:
    return np.float32(c + x)


def _float_dot(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    rows = np.concatenate([_halves(v[insn.vs1]), _halves(v[(insn.vs1 + 1) % 32])]).reshape(16, 8)
    a = rows[insn.slide : insn.slide + 8]
    b = _halves(v[insn.vs2]).reshape(8, 8)
    old = v[insn.vd : insn.vd + 2].reshape(-1).view("<f4").reshape(8, 8)
    out = np.zeros((8, 8), "<u4")
    with np.errstate(all="ignore"):
        for m in range(8):
            for n in range(8):
                products = [float(x) for x in a[m] * b[n]]
                if mode == Mode.r3:
                    out[m, n] = _sum_bits([float(old[m, n]), *products])
                    continue
                total = old[m, n]
                for x in [_float(_sum_bits(products))] if mode == Mode.r2 else products:
                    total = _added(total, np.float32(x))
                out[m, n] = _FLOAT_NAN if np.isnan(total) else total.view(np.uint32)
    return out


def _blocks(data: Array, bits: int) -> Array:
    return np.unpackbits(data.ravel(), bitorder="little").reshape(-1, bits)


def _zipped(a: Array, b: Array) -> Array:
    return np.packbits(np.stack([a, b], axis=1).ravel(), bitorder="little")


def _pack_length(insn: Instruction, sew: int) -> int:
    return [sew, 128, 256, 512][insn.imm]


def _pack(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    length = _pack_length(insn, sew)
    return _zipped(_blocks(v[insn.vs1], length), _blocks(v[insn.vs2], length))


def _unpack(v: Array, insn: Instruction, sew: int, mode: Mode) -> Array:
    blocks = _blocks(np.stack([v[insn.vs1], v[insn.vs2]]), _pack_length(insn, sew))
    return np.packbits(np.stack([blocks[0::2], blocks[1::2]]).ravel(), bitorder="little")


def _narrowed(data: Array, width: int, target: int, saturate: bool) -> Array:
    """Bits of elements narrowed from `width` to `target` bits."""
    if not saturate:
        return _blocks(data, width)[:, :target]
    limit = 1 << (target - 1)
    clamped = np.clip(elements(data, width, True), -limit, limit - 1)
    return clamped[:, None] >> np.arange(target) & 1


def _narrow(width: int, target: int, v: Array, insn: Instruction) -> Array:
    length = [32, 64, 128, 256][insn.imm]
    a, b = (_narrowed(v[r], width, target, insn.saturate).reshape(-1, length) for r in (insn.vs1, insn.vs2))
    return _zipped(a.astype(np.uint8), b.astype(np.uint8))


_RESULTS: dict[Form, Callable[[Array, Instruction, int, Mode], Array]] = {
    Form.DOT: _dot,
    Form.FDOT: _float_dot,
    Form.HP: _scaled_dot,
    Form.NPACK: lambda v, insn, sew, mode: _narrow(2 * sew, sew, v, insn),
    Form.NPACK4: lambda v, insn, sew, mode: _narrow(8, 4, v, insn),
    Form.PACK: _pack,
    Form.SP: _sparse_dot,
    Form.UNPACK: _unpack,
}


def legality(f7: int, f3: int, strict: bool) -> Array:
    """[vs2, vs1, vd] of Reason values for all words with these function codes, in a state that is itself legal."""
    vs2, vs1, vd = np.ogrid[0:32, 0:32, 0:32]
    reasons = np.full((32, 32, 32), Reason.LEGAL.value, np.uint8)

    def refuse(where: Array | bool, reason: Reason) -> None:
        reasons[np.broadcast_to(where, reasons.shape) & (reasons == Reason.LEGAL.value)] = reason.value

    def refuse_overlap(vd_count: int, vs1_count: int, scale: int | None) -> None:
        if not strict:
            return
        first = vd & ~(vd_count - 1)
        refuse((first // vd_count == vs1 // vd_count) if vs1_count == 1 else (first == (vs1 & ~1)), Reason.OVERLAP_VS1)
        refuse(first == (vs2 & ~(vd_count - 1)), Reason.OVERLAP_VS2)
        if scale is not None:
            refuse(first == (scale & ~(vd_count - 1)), Reason.OVERLAP_SCALE)

    data_type, sub, b25 = f7 >> 4 & 3, f7 >> 1 & 7, f7 & 1
    if f7 == 0x4F:
        refuse(f3 < 4, Reason.RESERVED_FUNCT3)
        refuse(vd % 2 == 1, Reason.ODD_VD)
        refuse((f3 > 4) & (vs1 % 2 == 1), Reason.ODD_VS1)
        refuse_overlap(2, 2 if f3 > 4 else 1, None)
    elif f7 in (0x21, 0x31):
        refuse_overlap(1, 1, None)
    elif f7 == 0x33:
        refuse(vd % 2 == 1, Reason.ODD_VD)
        refuse_overlap(2, 1, None)
    elif f7 < 0x40:
        refuse(True, Reason.RESERVED_FUNCT7)
    elif data_type < 2:
        refuse(True, Reason.RESERVED_TYPE)
    elif (sub, b25) == (0, 1):
        refuse(f3 > 3, Reason.RESERVED_FUNCT3)
        refuse(vd % 2 == 1, Reason.ODD_VD)
        refuse_overlap(2, 1, None)
    elif (sub, b25, data_type) == (1, 1, 3):
        refuse((vs1 % 2 == 1) & (f3 > 3), Reason.RESERVED_SLIDE)
        refuse(vd % 2 == 1, Reason.ODD_VD)
        refuse_overlap(2, 2, None)
    elif sub == 2:
        refuse(f3 > 3, Reason.RESERVED_FUNCT3)
        refuse((data_type == 2) & (vs1 % 2 == 1), Reason.RESERVED_SEGMENT)
        refuse_overlap(2, 2, b25)
    elif sub in (3, 4, 5, 6):
        refuse_overlap(1, 1, b25)
        if strict:
            refuse(vs1 == b25, Reason.VS1_IS_SCALE)
    else:
        refuse(True, Reason.RESERVED_SUB)
    return reasons
