# SPDX-License-Identifier: Apache-2.0
"""The README's commands are known here: run, if they can be without a board, or named with what they need."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import made
import pytest
from ci.bench import cli as bench
from ci.gates import calibrate_cli
from ci.runner import cli
from ci.runner.faults import Kind

README = Path("ci/runner/README.md")
TEXT = README.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ {7,8}(\S.*)$", TEXT, re.MULTILINE)
# What needs a board, root, GitHub or a network.
ELSEWHERE = {
    "cd": "the unpacked runner",
    "gh": "GitHub",
    "git": "a network",
    "ls": "the board's kernel",
    "python3 -m venv": "vLLM's dependencies",
    "sudo apt-get": "root and a network",
    "sudo chgrp": "root and a registered runner",
    "sudo install": "root",
    "sudo RUNNER_ALLOW_RUNASROOT=1": "the runner and a token",
    "sudo systemctl": "systemd",
    "uname": "nothing to check: it prints the kernel",
}


def words(line: str) -> list[str]:
    """A command's words, with its placeholders filled in."""
    return shlex.split(line.replace("OWNER/NAME", made.REPOSITORY).replace("NUMBER", "4711"))


def runs_here(line: str) -> bool:
    return not any(line.startswith(start + " ") for start in ELSEWHERE)


@pytest.mark.parametrize("line", [line for line in COMMANDS if " setup " in line])
def test_setup_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    _, _, arguments = line.partition("python3 -m ci.runner ")
    for name in ("systemctl", "systemd-sysusers", "systemd-tmpfiles"):
        (tmp_path / name).symlink_to(shutil.which("true") or "/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert cli.main(["--root", str(tmp_path / "root"), *words(arguments)]) == 0
    assert (tmp_path / "root").exists() == ("--dry-run" not in line)


def test_the_dry_run_runs_from_a_clone_by_itself(tmp_path: Path) -> None:
    (line,) = [line for line in COMMANDS if line.endswith("--dry-run")]
    # Of the clone only what Python needs; no root is named, as in the README.
    shutil.copytree("ci", tmp_path / "ci", symlinks=False)
    command = [sys.executable, "-E", "-s", "-B", *words(line)[1:]]
    result = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, "/etc/sm10-runner/config.toml" in result.stdout) == (0, True)


def test_check_runs_and_tells_a_remedy_for_each_bad_finding(runner: made.Runner, capsys: pytest.CaptureFixture[str]) -> None:
    assert "sudo sm10-runner check" in COMMANDS
    assert cli.main(["--root", str(runner.root), "check"]) == Kind.BOARD.code
    said = capsys.readouterr().out
    assert said.count("BAD ") == said.count("    remedy: ") > 0


def test_the_calibration_s_commands_are_understood() -> None:
    (record,) = [words(line) for line in COMMANDS if line.startswith("sm10-bench ")]
    options = bench.parse_arguments(record[1:])
    assert (options.benchmark, str(options.against), bench.PROGRAM.name) == (
        "gemm",
        "$(python3 -c 'import sm10_ci.bench.cli as c; print(c.PROGRAM)')",
        "sm10-gemm",
    )
    (calibrate,) = [words(line) for line in COMMANDS if line.startswith("sm10-gates-calibrate ")]
    assert calibrate_cli.parse_arguments(calibrate[1:])


def test_every_command_is_tested_or_needs_what_is_not_here() -> None:
    tested = ("python3 -m ci.runner setup ", "sm10-bench ", "sm10-gates-calibrate ", "sudo python3 -m ci.runner setup ", "sudo sm10-runner check")
    assert [line for line in COMMANDS if runs_here(line) and not line.startswith(tested)] == []


@pytest.mark.parametrize("start", ELSEWHERE)
def test_each_exception_is_in_the_readme(start: str) -> None:
    assert any(line.startswith(start + " ") for line in COMMANDS)


def test_the_table_of_refusals_is_complete() -> None:
    table = "\n".join(f"| {kind.code} | {kind.label} | {kind.meaning} |" for kind in Kind)
    assert f"|---|---|---|\n{table}\n\n" in TEXT, f"ci/runner/README.md must hold\n{table}"


@pytest.mark.parametrize("name", ["sm10-runner check", "sm10-runner take", "python3 -m ci.runner setup"])
def test_the_commands_that_the_readme_names_exist(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name.split()[-1], "--help"])
    assert (ended.value.code, "usage: sm10-runner" in capsys.readouterr().out) == (0, True)
