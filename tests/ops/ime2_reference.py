# SPDX-License-Identifier: Apache-2.0
"""The two IME2 methods in numpy, step by step as ime2/README.md tells them: what the ops return, bit for bit.

fp16 sums are rounded once from the exact value (r3; emulator-defined until a board has run it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

GROUP, GROUP_BYTES, TILE = 32, 16, 32
F16, F32, F64 = np.float16, np.float32, np.float64


@dataclass(frozen=True)
class Weight:
    """qweight uint8 [N, K/32, 16] and scales float32 [N, K/32]."""

    qweight: torch.Tensor
    scales: torch.Tensor

    @property
    def n(self) -> int:
        return self.qweight.shape[0]

    @property
    def k(self) -> int:
        return self.qweight.shape[1] * GROUP

    def integers(self) -> np.ndarray:
        """[N, K/32, 32], each 0 to 15."""
        bytes_ = self.qweight.numpy().astype(np.int64)
        return np.stack((bytes_ & 15, bytes_ >> 4), axis=-1).reshape(self.n, -1, GROUP)


def random_weight(n: int, k: int) -> Weight:
    scales = (torch.rand(n, k // GROUP) + 0.5) / 64
    return Weight(torch.randint(256, (n, k // GROUP, GROUP_BYTES), dtype=torch.uint8), scales)


def exact_product(a: torch.Tensor, weight: Weight) -> torch.Tensor:
    """What both methods approximate."""
    values = torch.from_numpy(weight.integers() - 8).double() * weight.scales.double()[:, :, None]
    return a.double() @ values.reshape(weight.n, -1).T


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """float32 a * b + c, rounded once: a and b are fp16 or their product fits float64."""
    return (a.astype(F64) * b.astype(F64) + c.astype(F64)).astype(F32)


def scaled_add(total: np.ndarray, dot: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (total.astype(F64) + dot * scale.astype(F64)).astype(F16)


# --- ime2_hp_gemm_cpu -------------------------------------------------------------------------------------------------

SUPER = 8  # groups that share an average


@dataclass(frozen=True)
class Record:
    """One superblock of rows that share their scales."""

    relative: np.ndarray  # fp16 [groups]
    q: np.ndarray  # [rows, groups, 32]
    correction: np.ndarray  # fp16 [rows, groups]
    average: np.float16


def record_of(rows: np.ndarray) -> Record:
    """rows: float32 [rows, groups, 32]."""
    count, groups = rows.shape[:2]
    scale = np.abs(rows).max((0, 2)) / F32(127)
    average = F32(0)
    for value in scale:
        average = F32(average + value)
    average = F32(average / F32(groups))
    if not np.isfinite(average):
        return Record(np.zeros(groups, F16), np.zeros((count, groups, GROUP)), np.zeros((count, groups), F16), F16(np.nan))
    used = np.where(scale == 0, F32(1), scale)
    q = np.where(scale[None, :, None] == 0, 0, np.clip(np.rint(rows / used[None, :, None]), -128, 127))
    correction = ((-q.sum(-1)).astype(F16).astype(F32) * F32(8)).astype(F16)
    relative = np.where(scale == 0, F32(0), scale / (average or F32(1))).astype(F16)
    return Record(relative, q, correction, F16(average))


def hp_tile(record: Record, row: int, integers: np.ndarray, scales: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Adds a superblock to `result` of columns inside tiles; integers [N, groups, 32], scales fp16 [N, groups]."""
    total, zero_point = np.zeros(len(integers), F16), np.zeros(len(integers), F32)
    for g in range(integers.shape[1]):
        scale = (scales[:, g].astype(F32) * F32(record.relative[g])).astype(F16)
        q = record.q[row, g].astype(np.int64)
        total = scaled_add(total, integers[:, g] @ (q >> 4), (scale.astype(F32) * F32(16)).astype(F16))
        total = scaled_add(total, integers[:, g] @ (q & 15), scale)
        zero_point = fused(scale, record.correction[row, g], zero_point)
    return fused(np.asarray(record.average), zero_point + total.astype(F32), result)


def hp_tail(record: Record, row: int, integers: np.ndarray, scales: np.ndarray, result: np.ndarray) -> np.ndarray:
    for g in range(integers.shape[1]):
        scale = (F32(record.average) * F32(record.relative[g])) * scales[:, g].astype(F32)
        dot = (integers[:, g] @ record.q[row, g].astype(np.int64)).astype(F32)
        result = result + scale * (dot + F32(record.correction[row, g]))
    return result


def hp_gemm(a: torch.Tensor, weight: Weight) -> torch.Tensor:
    m, k = a.shape
    rows, integers = a.numpy().reshape(m, -1, GROUP), weight.integers()
    scales, inside = weight.scales.numpy().astype(F16), weight.n // TILE * TILE
    out = np.zeros((m, weight.n), F32)
    fours = m // 4 * 4
    starts = [(row, 4) for row in range(0, fours, 4)] + [(row, 1) for row in range(fours, m)]
    with np.errstate(over="ignore", invalid="ignore"):
        for first, count in starts:
            for g in range(0, k // GROUP, SUPER):
                record = record_of(rows[first : first + count, g : g + SUPER])
                for row in range(count):
                    result, part = out[first + row], slice(g, g + SUPER)
                    result[:inside] = hp_tile(record, row, integers[:inside, part], scales[:inside, part], result[:inside])
                    result[inside:] = hp_tail(record, row, integers[inside:, part], scales[inside:, part], result[inside:])
    return torch.from_numpy(out)


# --- ime2_gemm_packed -----------------------------------------------------------------------------

CHUNK = 4  # groups that share an activation scale
SHIFT = 16  # column and row factors have it with opposite signs


@dataclass(frozen=True)
class Column:
    """Weights of one column: integer * scale * factor."""

    factor: np.float32
    scales: np.ndarray  # fp16 [groups]
    integers: np.ndarray  # [groups, 32], -8 to 7


def columns_of(weight: Weight) -> list[Column]:
    result = []
    for scales, integers in zip(weight.scales.numpy(), weight.integers() - 8, strict=True):
        largest = np.abs(scales).max()
        exponent = max(int(np.floor(np.log2(F64(largest)))), -110) if largest else 0
        result.append(Column(F32(2.0 ** (exponent - SHIFT)), np.ldexp(scales, -exponent).astype(F16), integers))
    return result


@dataclass(frozen=True)
class Row:
    """One row of A in two signed digits."""

    factor: np.float32
    high: np.ndarray  # [groups, 32]
    low: np.ndarray
    high_scale: list[np.float16]  # of each chunk
    low_scale: list[np.float16]


def next_up(value: np.float16) -> np.float16:
    return np.uint16(value.view(np.uint16) + 1).view(F16)


def chunk_scale(x: np.ndarray, exponent: int) -> tuple[np.float16, np.float32]:
    """(scale in units of 2^exponent, what x is multiplied with)."""
    up, down = max(x.max(), F32(0)), -min(x.min(), F32(0))
    per_high, per_low = F32(1) / F32(119), F32(1) / F32(136)
    positive, negative = max(F32(up * per_high), F32(down * per_low)), max(F32(down * per_high), F32(up * per_low))
    wanted = F32(min(positive, negative) * F32(2.0**-exponent))
    if wanted == 0:
        return F16(0), F32(0)
    scale = F16(wanted)
    if F32(scale) < wanted:
        scale = next_up(scale)
    if positive > negative:
        scale = F16(-scale)
    return scale, F32(F32(1) / F32(F32(scale) * F32(2.0**exponent)))


def row_of(row: np.ndarray) -> Row | None:
    """None for a row that is not finite."""
    if not np.isfinite(row).all():
        return None
    largest = np.abs(row).max()
    biased = min(max(int(largest.view(np.uint32)) >> 23, 1), 253)
    x = row * F32(2.0 ** (127 - biased))
    top = F32(F32(largest * F32(2.0 ** (127 - biased))) * (F32(1) / F32(119)))
    exponent = max((int(top.view(np.uint32)) >> 23) - 127 - 10, -37)
    high, low, scales = [], [], []
    for first in range(0, len(row), CHUNK * GROUP):
        part = x[first : first + CHUNK * GROUP]
        scale, inverse = chunk_scale(part, exponent)
        q = np.clip(np.rint(part * inverse), -136, 119).astype(np.int64)
        high.append((q + 8) >> 4)
        low.append(((q + 8) & 15) - 8)
        scales.append(scale)
    factor = F32(2.0 ** (biased - 127 + exponent + SHIFT))
    as_groups = [np.concatenate(digits).reshape(-1, GROUP) for digits in (high, low)]
    return Row(factor, *as_groups, [F16(F32(s) * F32(16)) for s in scales], scales)


def packed_row(row: Row | None, columns: list[Column], k: int) -> np.ndarray:
    if row is None:
        return np.full(len(columns), np.nan, F32)
    integers = np.stack([column.integers for column in columns])
    scales = np.stack([column.scales for column in columns])
    total = np.zeros(len(columns), F32)
    for chunk, first in enumerate(range(0, k // GROUP, CHUNK)):
        high, low = np.zeros(len(columns), F16), np.zeros(len(columns), F16)
        for g in range(first, min(first + CHUNK, k // GROUP)):
            high = scaled_add(high, integers[:, g] @ row.high[g], scales[:, g])
            low = scaled_add(low, integers[:, g] @ row.low[g], scales[:, g])
        total = total + F32(row.high_scale[chunk]) * high.astype(F32)
        total = total + F32(row.low_scale[chunk]) * low.astype(F32)
    return total * np.array([column.factor for column in columns]) * row.factor


def gemm_packed(a: torch.Tensor, weight: Weight) -> torch.Tensor:
    """In a's type."""
    columns = columns_of(weight)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = [packed_row(row_of(row), columns, weight.k) for row in a.float().numpy()]
    return torch.from_numpy(np.stack(rows) if rows else np.zeros((0, weight.n), F32)).to(a.dtype)
