# SPDX-License-Identifier: Apache-2.0
"""The command `sm10`: its options, and what it says about wrong ones."""

import pathlib
import subprocess

import pytest
from conftest import LIMIT, Board


@pytest.mark.parametrize("vlen", [128, 256, 512, 1024])
def test_vlen_makes_a_machine_of_one_kind_without_a_board(board: Board, program: pathlib.Path, vlen: int) -> None:
    lines = board.facts(program, "core", "cat=/proc/set_ai_thread", options=("--vlen", str(vlen)))
    assert lines[:2] == [f"vlenb {vlen // 8}", "ime2 0"]
    assert lines[-1] == "no /proc/set_ai_thread"


def test_ime2_on_a_machine_of_one_kind(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "core", options=("--vlen", "1024", "--ime2"))[:2] == ["vlenb 128", "ime2 1"]


def test_a100_starts_the_program_there(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "core", options=("--a100",))[:3] == ["vlenb 128", "ime2 1", "affinity 0xff00"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--vlen", "100", "program"], "--vlen is 128, 256, 512 or 1024, not 100"),
        (["--vlen", "512", "--ime2", "program"], "IME2 is only defined for VLEN 1024"),
        (["--ime2", "program"], "--ime2 belongs to --vlen 1024"),
        (["--vlen", "256", "--a100", "program"], "--a100 needs the board"),
        (["--sysroot", "/nowhere"], "no such folder: /nowhere"),
        (["--set-ai-thread", "gone", "program"], "--set-ai-thread is denied or absent, not gone"),
        (["--vlen", "256", "--set-ai-thread", "denied", "program"], "--set-ai-thread needs the board"),
        (["--fast"], "unknown option: --fast"),
        (["--counts"], "--counts needs a value"),
        ([], "no program given"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(board: Board, options: list[str], text: str) -> None:
    done = board.run(*options)
    assert done.returncode == 2
    assert text in done.stderr


@pytest.mark.parametrize(
    ("option", "text"),
    [("sm11", "there is one board, sm10"), ("sm10,hart=a9", "hart is x100 or a100"), ("sm10,set-ai-thread=gone", "is writable, denied or absent")],
)
def test_the_emulator_says_what_is_wrong_with_a_board(board: Board, program: pathlib.Path, option: str, text: str) -> None:
    done = subprocess.run([board.folder / "qemu-riscv64", "-board", option, program], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1
    assert f"-board {option}: " in done.stderr and text in done.stderr


def test_the_archive_holds_licence_and_source(board: Board) -> None:
    names = {path.relative_to(board.folder).as_posix() for path in board.folder.rglob("*") if path.is_file()}
    assert {"COPYING", "README", "source/lock.tsv", "source/series", "sm10", "sm10-counts", "qemu-riscv64"} <= names
    series = [line for line in (board.folder / "source/series").read_text().splitlines() if not line.startswith("#")]
    assert {f"source/{name}" for name in series} <= names
