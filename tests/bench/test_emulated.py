# SPDX-License-Identifier: Apache-2.0
"""The whole path on the emulated SM10: measure, judge by function, be refused by a board's gate. No time is asserted."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pytest
from ci.bench import cli, gemm, shapes
from ci.gates import cli as gate
from ci.gates import compare_cli

PROGRAM = os.environ.get("SM10_GEMM", "")
NAMES = ["gemm/packed/cores1/other-k256-n64/m4", "gemm/packed/cores4/other-k256-n64/m4", "gemm/published/cores1/other-k256-n64/m4"]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("archive")
    with tarfile.open(os.environ["SM10_ARCHIVE"]) as archive:
        archive.extractall(folder, filter="data")
    return str(folder / "sm10-emulator/sm10")


def bench(emulator: str, output: Path, *more: str) -> int:
    tiny = ["--shape", "256,64", "--m", "4", "--cores", "1,4", "--repeats", "2", "--min-ms", "0"]
    return cli.main(["gemm", "--program", PROGRAM, "--emulator", emulator, "--output", str(output), *tiny, *more])


def test_an_emulated_run_passes_its_gate_and_no_boards(emulator: str, tmp_path: Path) -> None:
    results, expected = tmp_path / "results.json", tmp_path / "expected.toml"
    assert bench(emulator, results) == 0
    expected.write_text('version = 1\nmachine = "emulated"\n[metrics]\n' + "\n".join(f'"{name}" = {{ unit = "GOP/s" }}' for name in NAMES) + "\n")
    assert gate.main([str(results), "--expectations", str(expected)]) == 0
    assert gate.main([str(results)]) == 17


def test_a_and_b_take_turns(emulator: str, tmp_path: Path) -> None:
    results = tmp_path / "ab.json"
    assert bench(emulator, results, "--against", PROGRAM) == 0
    samples = json.loads(results.read_text())["metrics"][0]["samples"]
    assert [sample["wheel"] for sample in samples] == ["A", "B", "B", "A"]
    assert compare_cli.main([str(results)]) == 17


def test_a_program_that_fails_is_named(emulator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["gemm", "--program", PROGRAM, "--emulator", emulator, "--output", str(tmp_path / "r.json"), "--shape", "256,64", "--cores", "16"])
    assert "there are 8 A100 cores" in capsys.readouterr().err
    assert code == 2
    assert not (tmp_path / "r.json").exists()


def test_elsewhere_than_on_a_board_nothing_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["gemm", "--program", PROGRAM, "--output", str(tmp_path / "r.json")])
    assert "the fingerprint is incomplete" in capsys.readouterr().err
    assert code == 2


def test_the_plan_is_the_issues() -> None:
    rows = gemm.plan(gemm.KERNELS, shapes.SHAPES, gemm.ROWS, gemm.CORES)
    assert len(rows) == 9 * 5 * (1 + 4)
    assert len({row.name for row in rows}) == len(rows)


def test_the_expected_metrics_are_in_the_plan() -> None:
    from ci.gates import report
    from ci.gates.expectations import read_expectations

    expected = {name for name in read_expectations(report.default_expectations()).figures if name.startswith("gemm/")}
    assert expected == {row.name for row in gemm.plan(["published"], shapes.SHAPES, [1, 4], [1])}
