# SPDX-License-Identifier: Apache-2.0
"""The pool on the emulated board: cores, vector state, products, and machines without A100 cores."""

import signal

import pytest
from conftest import Emulator, Program

CALLER = "caller vlenb 32 on_x100_hart 1 on_a100 0"
HARTS = [8, 10, 12, 14, 9, 11, 13, 15]  # one of each pair first


def workers(count: int) -> list[str]:
    return [f"worker hart {hart} vlenb 128 marchid 0x8000000041000002" for hart in HARTS[:count]]


@pytest.fixture
def board(emulator: Emulator) -> Program:
    return emulator.program("BOARD")


def test_the_pool_has_all_eight_a100_cores(board: Program) -> None:
    assert board.facts("start") == workers(8)


def test_the_caller_stays_an_x100_thread(board: Program) -> None:
    assert board.facts("caller", "start", "caller")[-1] == CALLER


def test_a_caller_tied_to_some_harts_stays_there(board: Program) -> None:
    assert board.facts("narrow_caller") == ["workers 8 caller_harts 1 6"]


def test_workers_are_a100_threads_from_their_first_instruction(board: Program) -> None:
    # The one X100 thread makes the others and ends.
    assert board.facts("births") == ["born x100 1 a100 8"]


def test_a_bystander_keeps_its_vector_registers(board: Program) -> None:
    assert board.facts("bystander") == ["bystander registers 1 vtype 0xc9 vl 5"]


@pytest.mark.parametrize("count", range(1, 9))
def test_a_run_uses_as_many_cores_as_it_wants(board: Program, count: int) -> None:
    assert board.facts(f"who={count}") == [f"harts {' '.join(map(str, sorted(HARTS[:count])))} vlenb 128"]


@pytest.mark.parametrize("shape", ["1,320,512", "5,200,256", "37,96,288"])
def test_products_have_the_same_bits_whatever_the_number_of_workers(board: Program, shape: str) -> None:
    assert board.facts(f"products={shape}") == [f"product workers {count} same_bits 1" for count in range(1, 9)]


@pytest.mark.parametrize(("rows", "count"), [(1, 8), (4, 8), (5, 4), (512, 4)])
def test_few_rows_take_all_cores_and_many_one_of_each_pair(board: Program, rows: int, count: int) -> None:
    assert board.facts(f"policy={rows}") == [f"rows {rows} workers {count}"]


def test_a_caller_on_an_a100_core_knows_and_gets_a_pool_too(emulator: Emulator) -> None:
    facts = emulator.program("BOARD", "--a100").facts("caller", "start", "births")
    assert facts == ["caller vlenb 128 on_x100_hart 0 on_a100 1", *workers(8), "born x100 0 a100 9"]


@pytest.mark.parametrize("count", ["1", "3", "8"])
def test_the_environment_sets_the_number_of_workers(board: Program, count: str) -> None:
    assert board.facts("start", env={"SM10_AI_WORKERS": count}) == workers(int(count))


@pytest.mark.parametrize("text", ["", "0", "-1", "9", "3x", " 3", "4.0", "18446744073709551617"])
def test_another_number_of_workers_is_refused(board: Program, text: str) -> None:
    assert board.facts("start", env={"SM10_AI_WORKERS": text}) == [
        f"BadSetting SM10_AI_WORKERS='{text}' is no number of A100 workers; set it to 1 to 8, or unset it for 8"
    ]


@pytest.mark.parametrize(("options", "vlenb", "on_a100"), [(("--vlen", "128"), 16, 0), (("--vlen", "256"), 32, 0), (("--vlen", "1024", "--ime2"), 128, 1)])
def test_a_machine_without_set_ai_thread_is_refused_at_start(emulator: Emulator, options: tuple[str, ...], vlenb: int, on_a100: int) -> None:
    caller, error = emulator.program("BOARD", *options).facts("caller", "start")
    assert caller.startswith(f"caller vlenb {vlenb} ")
    assert caller.endswith(f" on_a100 {on_a100}")
    assert error.startswith("NoA100Cores A100 workers: cannot open /proc/set_ai_thread: No such file or directory")


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("absent", "NoA100Cores A100 workers: cannot open /proc/set_ai_thread: No such file or directory (errno 2); this machine or its kernel offers no"),
        ("denied", "NoPermission A100 workers: cannot open /proc/set_ai_thread: Permission denied (errno 13); allow this user to write it, and mount a"),
    ],
)
def test_a_board_that_does_not_let_threads_move_is_refused_at_start(emulator: Emulator, how: str, error: str) -> None:
    caller, found = emulator.program("BOARD", "--set-ai-thread", how).facts("caller", "start")
    assert caller == CALLER
    assert found.startswith(error)


def test_a_run_where_there_are_no_a100_cores_says_the_same(emulator: Emulator) -> None:
    program = emulator.program("BOARD", "--vlen", "256")
    assert program.facts("who=2") == program.facts("start")


def test_a_crash_of_a_worker_ends_the_process_by_name(board: Program) -> None:
    done = board.run("illegal")
    assert done.returncode in (-signal.SIGILL, 128 + signal.SIGILL)
    assert "on A100 hart 8 (VLEN 1024)" in done.stderr
