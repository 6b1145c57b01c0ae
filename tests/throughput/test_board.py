# SPDX-License-Identifier: Apache-2.0
"""On a real board: each benchmark, then its gate. A gate's exit code says what is wrong (ci/gates/README.md).

The board's facts are those that its runner was set up with (`sm10-runner facts`); models are where the runner keeps them.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = Path("/var/lib/sm10-runner/models")


@dataclasses.dataclass(frozen=True)
class Tool:
    """The tool and the wheel in a venv of their own; files to keep go to `outputs`."""

    venv: Path
    outputs: Path
    facts: tuple[str, ...]

    def run(self, command: str, *words: str) -> None:
        """Must end with 0; its output is the test's."""
        done = subprocess.run([self.venv / "bin" / command, *words], cwd=self.outputs, check=False)
        assert done.returncode == 0, f"{command} {' '.join(words)} ended with {done.returncode}; its output is above"

    def judge(self, results: str, expectations: str) -> None:
        """By the board's file and the benchmark's."""
        folder = next(self.venv.glob("lib/python3.*/site-packages/sm10_ci/gates/expectations"))
        files = [str(folder / name) for name in ("board.toml", expectations)]
        self.run("sm10-gates", results, "--expectations", *files, "--html", f"{results}.html", "--summary", f"{results}.md")


@pytest.fixture(scope="session")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv], check=True)
    wheels = [str(Path(os.environ[name]).absolute()) for name in ("SM10_TEST_TOOL", "SM10_TEST_WHEEL")]
    subprocess.run([venv / "bin/pip", "install", "--quiet", "--no-index", "--no-deps", *wheels], check=True)
    runner = shutil.which("sm10-runner")
    assert runner, "sm10-runner is not installed on the board; remedy: ci/runner/README.md, step `setup`"
    facts = subprocess.run([runner, "facts"], check=True, capture_output=True, text=True).stdout.split("\n")
    return Tool(venv, Path(os.environ["TEST_UNDECLARED_OUTPUTS_DIR"]), tuple(filter(None, facts)))


def test_products(tool: Tool) -> None:
    tool.run("sm10-bench", "gemm", *tool.facts, "--kernel", "published", "--m", "1,4", "--output", "gemm.json")
    tool.judge("gemm.json", "gemm.toml")


def test_generation(tool: Tool) -> None:
    wheel = str(Path(os.environ["SM10_TEST_WHEEL"]).absolute())
    tool.run("sm10-bench", "generate", *tool.facts, "--models", str(MODELS), "--wheel", wheel, "--output", "generation.json")
    tool.judge("generation.json", "generation.toml")


def test_serving(tool: Tool) -> None:
    wheel = str(Path(os.environ["SM10_TEST_WHEEL"]).absolute())
    subject = ["--models", str(MODELS), "--model", "tinyllama-1.1b", "--way", "a100-int4", "--wheel", wheel]
    tool.run("sm10-bench", "serve", *tool.facts, *subject, "--output", "serving.json")
    tool.judge("serving.json", "serving.toml")
