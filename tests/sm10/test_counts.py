# SPDX-License-Identifier: Apache-2.0
"""Exact counts of a function that three threads call once each."""

import dataclasses
import importlib.machinery
import json
import os
import pathlib
import sys
import types
from collections.abc import Callable

import pytest
from conftest import Board

THREADS, TURNS = 3, 100
FUNCTION = {
    "instructions": THREADS * (2 + 7 * TURNS + 1),
    "hp": THREADS * TURNS,
    "ime2_other": 0,
    "vector_loads": THREADS * TURNS,
    "vector_load_bytes": THREADS * TURNS * 64,
    "vector_stores": THREADS * TURNS,
    "vector_store_bytes": THREADS * TURNS * 128,
}


@pytest.fixture(scope="module")
def counted(board: Board, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The file that --counts wrote."""
    file = tmp_path_factory.mktemp("counts") / "counts.tsv"
    done = board.run("--counts", file, pathlib.Path(os.environ["COUNTED"]).resolve())
    assert done.returncode == 0, done.stderr
    return file


@dataclasses.dataclass(frozen=True)
class Report:
    """What sm10-counts printed, and its exit status."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def report(board: Board, capsys: pytest.CaptureFixture[str]) -> Callable[..., Report]:
    """Calls the archive's sm10-counts with the arguments."""
    loader = importlib.machinery.SourceFileLoader("sm10_counts", str(board.folder / "sm10-counts"))
    module = types.ModuleType(loader.name)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)

    def call(*arguments: str | pathlib.Path) -> Report:
        status = module.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Report(status, printed.out, printed.err)

    return call


def test_a_function_is_counted_to_the_last_instruction_and_byte(report: Callable[..., Report], counted: pathlib.Path) -> None:
    found = json.loads(report("--json", "--function", "counted", counted).stdout)["functions"]
    assert [{key: row[key] for key in FUNCTION} for row in found] == [FUNCTION]


def test_the_total_is_the_sum_of_the_functions(report: Callable[..., Report], counted: pathlib.Path) -> None:
    found = json.loads(report("--json", counted).stdout)
    assert found["total"]["instructions"] == sum(row["instructions"] for row in found["functions"])
    assert found["total"]["hp"] == FUNCTION["hp"]


def test_a_function_that_did_not_run_is_an_error(report: Callable[..., Report], counted: pathlib.Path) -> None:
    done = report("--function", "absent", counted)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no instruction ran in absent" in done.stderr


@pytest.mark.parametrize(("lost", "text"), [("in a line", "not a line of a counts file"), ("between lines", "are missing at its end")])
def test_a_truncated_file_is_an_error(report: Callable[..., Report], counted: pathlib.Path, tmp_path: pathlib.Path, lost: str, text: str) -> None:
    whole = counted.read_text()
    cut = tmp_path / "cut.tsv"
    cut.write_text(whole.rsplit("\t", 2)[0] if lost == "in a line" else whole[: whole.rindex("\n", 0, -1) + 1])
    done = report(cut)
    assert done.returncode == 2
    assert text in done.stderr
