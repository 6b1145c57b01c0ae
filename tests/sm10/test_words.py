# SPDX-License-Identifier: Apache-2.0
"""The emulator executes what the instruction model says, and traps where the model refuses."""

import os
import pathlib

import pytest
from conftest import Board

WORDS = 3000


@pytest.mark.parametrize("seed", [1, 2])
def test_random_words_do_what_the_model_says(board: Board, seed: int) -> None:
    done = board.run(pathlib.Path(os.environ["WORDS"]).resolve(), str(WORDS), str(seed))
    lines = dict(line.split() for line in done.stdout.splitlines() if not line.startswith("wrong:"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines["wrong"] == "0"
    assert int(lines["legal"]) > WORDS // 3
    assert int(lines["refused"]) > WORDS // 5
