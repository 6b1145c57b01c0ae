# SPDX-License-Identifier: Apache-2.0
"""A board that keeps this process from its A100 cores: the model is refused when it is loaded, with the pool's reason and remedy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tiny_models import QWEN2, write_checkpoint

EMULATOR = "/guest/qemu-riscv64"
BOARD = Path("/guest/cpu").read_text(encoding="ascii").strip()

# The session's own Python runs where threads may move, so this is another one, on a board of our making.
SCRIPT = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
from conftest import start
try:
    start(pathlib.Path(sys.argv[2]), "bfloat16")
except ValueError as error:
    print(json.dumps({"refused": str(error)}))
else:
    print(json.dumps({"refused": None}))
"""


def outcome_of_loading(folder: Path) -> str | None:
    """The error of LLM(quantization="ime2") in a process that may not open /proc/set_ai_thread; None if there was none."""
    board = f"{BOARD},set-ai-thread=denied"
    command = [EMULATOR, "-board", board, "-0", sys.executable, os.path.realpath(sys.executable), "-c", SCRIPT, str(Path(__file__).parent), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])["refused"]


def test_without_permission_a_model_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    write_checkpoint(QWEN2, "bfloat16", tmp_path)
    refused = outcome_of_loading(tmp_path)
    why = "cannot open /proc/set_ai_thread: Permission denied (errno 13); allow this user to write it, and mount a container's /proc so that it can be written"
    assert refused is not None and why in refused and "SM10_IME2_PORTABLE=1" in refused, refused
