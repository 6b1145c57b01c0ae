# SPDX-License-Identifier: Apache-2.0
"""The table for people and the JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ime2.counts.measure import Row, Shape

BASELINE = "published"
# Instructions per K256 x N32 of the kernels that are public, by rows: from a trace of theirs. Ours needs fewer vsetvli.
PUBLIC = {1: 281, 4: 378}
_COLUMNS: Mapping[str, Callable[[Row, Row | None], str]] = {
    "kernel": lambda row, base: row.kernel,
    "M": lambda row, base: str(row.m),
    "instructions": lambda row, base: str(row.facts["instructions"]),
    "per 1000 MAC": lambda row, base: f"{1000 * row.facts['instructions'] / row.macs:.3f}",
    "ratio": lambda row, base: _ratio(row, base, "instructions"),
    "to public": lambda row, base: f"{ratio_to_public(row):.3f}",
    ".hp": lambda row, base: str(row.facts["hp"]),
    ".hp %": lambda row, base: f"{100 * row.facts['hp'] / row.facts['instructions']:.1f}",
    "bytes loaded": lambda row, base: str(row.facts["load_bytes"]),
    "stored": lambda row, base: str(row.facts["store_bytes"]),
    "of weights": lambda row, base: str(row.facts["weight_bytes"]),
    "ratio of these": lambda row, base: _ratio(row, base, "weight_bytes"),
}
_QUANTIZER = ("kernel", "M", "instructions", "bytes loaded", "stored")


def ratio(row: Row, base: Row, fact: str) -> float:
    """A fact relative to the published kernel's, both for one product."""
    return row.facts[fact] / base.facts[fact]


def ratio_to_public(row: Row) -> float:
    """Instructions relative to what the public kernels need in their loops: the four-row one as often as it goes, then the other."""
    blocks = (row.shape.k + 255) // 256 * (row.shape.n // 32)
    return row.facts["instructions"] / (blocks * (row.m // 4 * PUBLIC[4] + row.m % 4 * PUBLIC[1]))


def _ratio(row: Row, base: Row | None, fact: str) -> str:
    return "-" if base is None else f"{ratio(row, base, fact):.3f}"


def baseline(rows: Sequence[Row], row: Row) -> Row | None:
    """The published kernel's row for the same product."""
    same = [other for other in rows if (other.kernel, other.part, other.shape, other.m) == (BASELINE, row.part, row.shape, row.m)]
    return same[0] if same else None


def _grid(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [header, *lines])


def _part(rows: Sequence[Row], shape: Shape, part: str, columns: Sequence[str]) -> str:
    chosen = sorted((row for row in rows if (row.shape, row.part) == (shape, part)), key=lambda row: (row.m, row.kernel != BASELINE))
    return _grid(columns, [[_COLUMNS[column](row, baseline(rows, row)) for column in columns] for row in chosen])


def table(rows: Sequence[Row]) -> str:
    """Two tables for each shape, the product's and the quantiser's."""
    blocks = []
    for shape in sorted({row.shape for row in rows}):
        blocks.append(f"K={shape.k} N={shape.n}, whole call\n" + _part(rows, shape, "gemm", tuple(_COLUMNS)))
        blocks.append(f"K={shape.k}, quantiser\n" + _part(rows, shape, "quantize", _QUANTIZER))
    return "\n\n".join(blocks)


def as_json(rows: Sequence[Row]) -> dict[str, object]:
    """The same, exact."""
    return {
        "rows": [{"kernel": row.kernel, "part": row.part, "k": row.shape.k, "n": row.shape.n, "m": row.m, **row.facts} for row in rows],
    }


def fact_lines(rows: Sequence[Row]) -> list[str]:
    """One fact a line, sorted: the form that is reviewed."""
    lines = [
        (row.shape, row.kernel, row.part, row.m, i, f"{row.kernel}\t{row.part}\t{row.shape.k}\t{row.shape.n}\t{row.m}\t{fact}\t{value}")
        for row in rows
        for i, (fact, value) in enumerate(row.facts.items())
    ]
    return [line[-1] for line in sorted(lines)]
