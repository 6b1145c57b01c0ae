# SPDX-License-Identifier: Apache-2.0
"""Threads of both types that change type at random while signals arrive and the process forks."""

import os
import pathlib

import pytest
from conftest import Board

THREADS, ROUNDS = 16, 1500


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_no_thread_ever_computes_a_wrong_number(board: Board, seed: int) -> None:
    done = board.run(pathlib.Path(os.environ["STRESS"]).resolve(), str(THREADS), str(ROUNDS), str(seed))
    counts = dict(line.split() for line in done.stdout.splitlines())
    assert done.returncode == 0, done.stderr
    assert counts["errors"] == "0"
    # The run was what it is meant to be.
    assert int(counts["x100_rounds"]) + int(counts["a100_rounds"]) == THREADS * ROUNDS
    assert all(int(counts[key]) > 0 for key in ("x100_rounds", "a100_rounds", "moved_by_itself", "moved_by_other", "signals", "forks"))
