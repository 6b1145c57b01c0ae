# SPDX-License-Identifier: Apache-2.0
"""Cells of the real board: what runs there, what comes back, and what is said when there is none."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree


@dataclasses.dataclass(frozen=True)
class Result:
    """Of a cell: its exit code, its log, its JUnit file, and what is left on the board."""

    code: int
    log: str
    folder: pathlib.Path
    left: list[str]

    def suite(self) -> ElementTree.Element:
        """The report."""
        return ElementTree.parse(self.folder / "test.xml").getroot().find("testsuite")

    def properties(self) -> dict[str, str]:
        """What it ran on."""
        return {entry.get("name"): entry.get("value") for entry in self.suite().iter("property")}


def path(variable: str) -> str:
    """A file of the test."""
    return str(pathlib.Path(os.environ[variable]).absolute())


@functools.cache
def run(cell: str, board: str = "board", ssh: str | None = "SSH") -> Result:
    """A cell as Bazel starts it with --config=sm10. ssh: what stands for it; None: the locked one itself."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))
    files = folder / "board"
    files.mkdir()
    shutil.copy(path("TAR"), files / "tar.py")
    kept = {name: os.environ[name] for name in ("PATH", "RUNFILES_DIR", "TEST_SRCDIR") if name in os.environ}
    own = {
        "TEST_TMPDIR": str(folder),
        "TEST_UNDECLARED_OUTPUTS_DIR": str(folder / "outputs"),
        "XML_OUTPUT_FILE": str(folder / "test.xml"),
        "TEST_TIMEOUT": "600",
    }
    there = {"BOARD_FOLDER": str(files), "BOARD_GUEST": path("GUEST"), "SM10_BOARD": board} | ({"SM10_SSH": path(ssh)} if ssh else {})
    done = subprocess.run([path(cell)], cwd=folder, env=kept | own | there, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return Result(done.returncode, done.stdout, folder, sorted(entry.name for entry in files.iterdir() if entry.name != "tar.py"))


def test_program_for_a100_cores_starts_there() -> None:
    result = run("PROGRAM_A100")
    assert result.code == 0 and "compiled for vlenb 128, found 128" in result.log, result.log


def test_program_that_fails_there_fails_the_cell() -> None:
    result = run("PROGRAM_SCALAR")  # finds vlenb 32 where its code names none
    assert result.code == 1 and result.suite().find("testcase/failure").get("message") == "exit code 1", result.log


def test_report_of_a_program_says_what_it_ran_on() -> None:
    found = run("PROGRAM_A100").properties()
    assert (found["environment"], found["level"], found["machine"]) == ("sm10", "sm10", "riscv64") and found["compiler"].startswith("GCC: ")


def test_session_reports_each_case_of_the_board() -> None:
    result = run("SESSION")
    found = {case.get("name"): case.find("failure") is None for case in result.suite().iter("testcase")}
    assert result.code == 1 and found == {"test_right": True, "test_wrong": False}, result.log


def test_session_brings_back_output_and_files() -> None:
    result = run("SESSION")
    assert "said on the board" in result.suite().find("testcase/system-out").text
    assert (result.folder / "outputs/kept.txt").read_text() == "riscv64"


def test_report_of_a_session_says_what_it_ran_on() -> None:
    found = run("SESSION").properties()
    assert (found["environment"], found["machine"]) == ("sm10", "riscv64") and "torch" in found


def test_nothing_is_left_on_the_board() -> None:
    assert [run(cell).left for cell in ("PROGRAM_A100", "SESSION")] == [[], []]


def test_board_that_does_not_answer_is_named_with_a_remedy() -> None:
    result = run("SESSION", board="nowhere")
    assert result.code == 1 and "Could not resolve hostname nowhere" in result.log and "remedy: see that" in result.log


def test_missing_address_is_named_with_a_remedy() -> None:
    result = run("PROGRAM_A100", board="")
    assert result.code == 1 and "SM10_BOARD is not set" in result.log and "./bazelw test --config=sm10" in result.log


def test_locked_ssh_is_what_leads_to_a_board() -> None:
    result = run("PROGRAM_A100", board="nobody@board.invalid", ssh=None)
    assert result.code == 1 and "ssh: Could not resolve hostname board.invalid" in result.log and "remedy: see that" in result.log, result.log
