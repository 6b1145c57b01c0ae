# SPDX-License-Identifier: Apache-2.0
"""What the kernels execute at K=2048, N=5632 is what counts.tsv says, and meets the goals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from ime2.counts import cli, profile, report
from ime2.counts.errors import CountError
from ime2.counts.measure import KERNELS, ROWS, Row, Shape, Tools, in_runfiles, measure

SHAPE = Shape(2048, 5632)
EXPECTED = "tests/ime2/counts.tsv"
UPDATE = f"./bazelw run //ime2:counts -- --shape {SHAPE} --facts {EXPECTED}"
# Instructions relative to the public kernels: what was asked for.
GOALS = {1: 0.32, 4: 0.24, 16: 0.16, 128: 0.16}
# To our own published kernel in the same run. It has the public ones' method and matrix instructions but needs 0.81 (one
# row) and 0.71 (four) of their instructions, so this is the harder comparison, and only M=1 meets the goal in it.
HELD = {1: 0.31, 4: 0.265, 16: 0.20, 128: 0.21}
# K256 x N32 blocks of the weights; a block is 4608 bytes.
BLOCKS = SHAPE.k * SHAPE.n // 8192


@pytest.fixture(scope="module")
def tools() -> Tools:
    return in_runfiles(Path.cwd())


@pytest.fixture(scope="module")
def rows(tools: Tools) -> list[Row]:
    """Both kernels, all M."""
    return [row for kernel in KERNELS for row in measure(tools, kernel, SHAPE, ROWS)]


def find(rows: Sequence[Row], kernel: str, m: int, part: str = "gemm") -> Row:
    return next(row for row in rows if (row.kernel, row.m, row.part) == (kernel, m, part))


def reviewed() -> list[str]:
    return [line for line in Path(EXPECTED).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def difference(expected: Sequence[str], found: Sequence[str]) -> str:
    """The lines to take out and to put in."""
    return "\n".join([f"-{line}" for line in expected if line not in found] + [f"+{line}" for line in found if line not in expected])


def test_counts_are_the_reviewed_ones(rows: list[Row]) -> None:
    found = report.fact_lines(rows)
    assert found == reviewed(), f"{EXPECTED} must become:\n{difference(reviewed(), found)}\nIf that is meant: {UPDATE}"


@pytest.mark.parametrize("m", ROWS)
def test_a_published_product_reads_each_packed_weight_once_for_four_rows(rows: list[Row], m: int) -> None:
    assert find(rows, "published", m).facts["weight_bytes"] == BLOCKS * 4608 * ((m + 3) // 4)


@pytest.mark.parametrize("m", ROWS)
def test_the_packed_kernel_needs_the_wanted_part_of_the_public_kernels_instructions(rows: list[Row], m: int) -> None:
    assert report.ratio_to_public(find(rows, "packed", m)) <= GOALS[m]


@pytest.mark.parametrize("m", ROWS)
def test_the_packed_kernel_needs_a_fraction_of_our_published_kernels_instructions(rows: list[Row], m: int) -> None:
    assert report.ratio(find(rows, "packed", m), find(rows, "published", m), "instructions") <= HELD[m]


@pytest.mark.parametrize("m", ROWS)
def test_our_published_kernel_needs_no_more_than_the_public_ones(rows: list[Row], m: int) -> None:
    assert 0.65 <= report.ratio_to_public(find(rows, "published", m)) <= 1


def test_most_of_16_rows_is_matrix_instructions(rows: list[Row]) -> None:
    facts = find(rows, "packed", 16).facts
    assert facts["hp"] >= 0.55 * facts["instructions"]


@pytest.mark.parametrize(("m", "part"), [(1, 1.004), (4, 1), (16, 1 / 4), (128, 1 / 8)])
def test_the_packed_kernel_reads_weights_for_as_many_rows_as_registers_hold(rows: list[Row], m: int, part: float) -> None:
    assert report.ratio(find(rows, "packed", m), find(rows, "published", m), "weight_bytes") <= part


def test_counts_of_columns_add_up(tools: Tools) -> None:
    one, two, three = (find(measure(tools, "published", Shape(512, 32 * tiles), [4]), "published", 4) for tiles in (4, 5, 6))
    assert all(three.facts[fact] - two.facts[fact] == two.facts[fact] - one.facts[fact] > 0 for fact in one.facts)


def test_a_shape_that_is_not_of_whole_tiles_is_refused() -> None:
    with pytest.raises(SystemExit):
        cli.parse_arguments(["--shape", "2048,33"])


def test_a_failing_guest_program_is_an_error(tools: Tools) -> None:
    with pytest.raises(CountError, match="no such kernel"):
        measure(tools, "absent", Shape(32, 32), [1])


def test_files_hold_what_the_table_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--shape", "512,64", "--m", "2", "--kernel", "published"]
    assert cli.main([*wanted, "--json", str(tmp_path / "counts.json"), "--facts", str(tmp_path / "counts.tsv")]) == 0
    gemm, quantize = json.loads((tmp_path / "counts.json").read_text())["rows"]
    assert (gemm["part"], quantize["part"]) == ("gemm", "quantize")
    assert str(gemm["instructions"]) in capsys.readouterr().out
    assert f"published\tgemm\t512\t64\t2\tweight_bytes\t{gemm['weight_bytes']}" in (tmp_path / "counts.tsv").read_text().splitlines()


def test_a_load_that_the_watch_did_not_see_is_an_error(tools: Tools) -> None:
    call = {profile.Slot(0, 0x2050407): profile.Count("vload", 3, 384)}
    with pytest.raises(CountError, match="what it reads is unknown"):
        profile.check_watched(call, {}, profile.read_program(tools.steps.resolve()))


def test_a_truncated_counts_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "counts.tsv"
    file.write_text("process\t7\ntotal\tinstructions\t5\ninsn\tother\t0x13\t4\t0\t0x100\t-\n")
    with pytest.raises(CountError, match="process 7 are missing"):
        profile.read_profiles(file)
