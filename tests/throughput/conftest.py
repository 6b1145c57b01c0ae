# SPDX-License-Identifier: Apache-2.0
"""A folder of models, and the tool's commands as its users start them."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

# The small models are those of tests/e2e.
sys.path.append(str(Path(__file__).parents[1] / "e2e"))

MODEL = "tiny-llama"


@dataclasses.dataclass(frozen=True)
class Tool:
    """Commands of the installed tool, in a folder that holds models/tiny-llama."""

    folder: Path

    def run(self, *words: str, code: int) -> str:
        """What the command printed; it must end with `code`."""
        done = subprocess.run(words, cwd=self.folder, check=False, capture_output=True, text=True)
        assert done.returncode == code, f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def engines(self, benchmark: str, output: str, *more: str, code: int = 0) -> str:
        """A benchmark that needs models."""
        fixed = ["--models", "models", "--model", MODEL, "--wheel", str(Path(os.environ["SM10_TEST_WHEEL"]).absolute()), "--emulated"]
        return self.run("sm10-bench", benchmark, *fixed, "--repeats", "2", "--warmup", "0", "--output", output, *more, code=code)

    def expect(self, name: str, metrics: dict[str, str]) -> str:
        """An expectation file for emulated results: these metrics in these units, whatever their value."""
        lines = [f'"{metric}" = {{ unit = "{unit}" }}' for metric, unit in sorted(metrics.items())]
        (self.folder / name).write_text("\n".join(['version = 1\nmachine = "emulated"\n[metrics]', *lines, ""]))
        return name


@pytest.fixture(scope="session")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    import tiny_models

    folder = tmp_path_factory.mktemp("board")
    tiny_models.write_checkpoint(tiny_models.LLAMA, "bfloat16", folder / "models" / MODEL)
    return Tool(folder)
