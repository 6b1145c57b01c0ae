# SPDX-License-Identifier: Apache-2.0
"""What a program sees on the emulated SM10."""

import errno
import pathlib
import signal

import pytest
from conftest import Board

X100 = ["vlenb 32", "ime2 0", "affinity 0xff", "hart_in_affinity 1"]
A100 = ["vlenb 128", "ime2 1", "affinity 0xff00", "hart_in_affinity 1"]
X100_MARCHID, A100_MARCHID = "0x8000000058000002", "0x8000000041000002"


def test_a_program_starts_as_an_x100_thread(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "core") == X100


def test_writing_zero_to_set_ai_thread_makes_the_writer_an_a100_thread(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "set_ai_thread=0", "core") == ["set_ai_thread 0 0", *A100]


def test_writing_twice_is_no_error(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "set_ai_thread=0", "set_ai_thread=0", "core")[1:] == ["set_ai_thread 0 0", *A100]


def test_writing_again_gives_all_a100_harts_back(board: Board, program: pathlib.Path) -> None:
    lines = board.facts(program, "set_ai_thread=0", "affinity=0x300", "core", "set_ai_thread=0", "core")
    assert [line for line in lines if line.startswith("affinity")] == ["affinity 0x300", "affinity 0xff00"]


@pytest.mark.parametrize("text", ["+0", "-0", "00", "0\n", "0" * 34 + "x"])
def test_numbers_are_read_as_the_kernel_reads_them(board: Board, program: pathlib.Path, text: str) -> None:
    """Its kstrtoint_from_user: a sign, decimal digits, one line feed, and of more than 34 bytes the first 34."""
    assert board.facts(program, f"set_ai_thread={text}", "core")[-len(A100) :] == A100


@pytest.mark.parametrize("text", ["", "x", "-1", "+", " 0", "0 ", "0x0", "0\n\n", "--0", "2147483648", "4294967296", "0" * 33 + "x"])
def test_what_is_no_number_of_a_thread_is_invalid(board: Board, program: pathlib.Path, text: str) -> None:
    *refused, vlenb, ime2, affinity, hart = board.facts(program, f"set_ai_thread={text}", "core")
    assert ("\n".join(refused), [vlenb, ime2, affinity, hart]) == (f"set_ai_thread {text} {-errno.EINVAL}", X100)


def test_a_thread_that_does_not_exist_is_not_found(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "set_ai_thread=999999999", "core") == [f"set_ai_thread 999999999 {-errno.ESRCH}", *X100]


@pytest.mark.parametrize(("pieces", "result", "core"), [("0,x", "1", A100), ("x,0", str(-errno.EINVAL), X100)])
def test_each_piece_of_a_writev_is_a_write(board: Board, program: pathlib.Path, pieces: str, result: str, core: list[str]) -> None:
    assert board.facts(program, f"pieces={pieces}", "core") == [f"pieces {pieces} {result}", *core]


def test_a_thread_of_another_process_is_refused_by_name_and_not_as_the_kernel_refuses(board: Board, program: pathlib.Path) -> None:
    done = board.run(program, "set_ai_thread=1", "core")
    assert done.stdout.splitlines() == [f"set_ai_thread 1 {-errno.EOPNOTSUPP}", *X100]
    assert "-board sm10: /proc/set_ai_thread: thread 1 is not one of process " in done.stderr
    assert "user-mode emulation only its own process's: let that thread do it" in done.stderr


def test_affinity_of_a_thread_of_another_process_is_refused_by_name(board: Board, program: pathlib.Path) -> None:
    done = board.run(program, "affinity_of=1")
    assert done.stdout.splitlines() == [f"affinity_of 1: set {-errno.EOPNOTSUPP} get {-errno.EOPNOTSUPP}"]
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == ["sched_setaffinity", "sched_getaffinity"]


@pytest.mark.parametrize("thread", ["-1", "999999999"])
def test_affinity_of_a_thread_that_does_not_exist_is_not_found(board: Board, program: pathlib.Path, thread: str) -> None:
    assert board.facts(program, f"affinity_of={thread}") == [f"affinity_of {thread}: set {-errno.ESRCH} get {-errno.ESRCH}"]


def test_set_ai_thread_is_there_and_writable(board: Board, program: pathlib.Path) -> None:
    questions = [f"{question}=/proc/set_ai_thread" for question in ("access", "mode")]
    assert board.facts(program, *questions) == ["access /proc/set_ai_thread 0", "mode /proc/set_ai_thread 0222"]


@pytest.mark.parametrize(("how", "error", "mode"), [("denied", errno.EACCES, "0220"), ("absent", errno.ENOENT, str(-errno.ENOENT))])
def test_set_ai_thread_that_is_refused_or_missing(board: Board, program: pathlib.Path, how: str, error: int, mode: str) -> None:
    lines = board.facts(
        program, "access=/proc/set_ai_thread", "mode=/proc/set_ai_thread", "set_ai_thread=0", "core", options=("--set-ai-thread", how),
    )  # fmt: skip
    assert lines == [f"access /proc/set_ai_thread {-error}", f"mode /proc/set_ai_thread {mode}", f"set_ai_thread 0 {-error}", *X100]


@pytest.mark.parametrize(("how", "error"), [("denied", errno.EACCES), ("absent", errno.ENOENT)])
def test_children_find_set_ai_thread_as_their_parent_does(board: Board, program: pathlib.Path, tmp_path: pathlib.Path, how: str, error: int) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!{program} set_ai_thread=0\n")
    script.chmod(0o755)
    done = board.run("--set-ai-thread", how, program, f"exec={script}")
    assert done.stdout.splitlines()[0] == f"set_ai_thread 0 {-error}"


@pytest.mark.parametrize("mask", ["0x100", "0xff00", "0x1ff", "0"])
def test_an_x100_thread_cannot_ask_for_other_harts(board: Board, program: pathlib.Path, mask: str) -> None:
    assert board.facts(program, f"affinity={mask}", "core") == [f"set_affinity {mask} {-errno.EINVAL}", *X100]


@pytest.mark.parametrize("mask", ["1", "0xff", "0xffff"])
def test_an_a100_thread_cannot_ask_for_other_harts(board: Board, program: pathlib.Path, mask: str) -> None:
    assert board.facts(program, "set_ai_thread=0", f"affinity={mask}", "core")[1:] == [f"set_affinity {mask} {-errno.EINVAL}", *A100]


def test_affinity_within_the_type_is_kept_and_moves_the_thread(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "affinity=0x60", "core")[2:] == ["ime2 0", "affinity 0x60", "hart_in_affinity 1"]


def test_vector_state_does_not_survive_the_move(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "move_with_state") == ["vector_without_vsetvl 0", "kept_bytes 0"]


@pytest.mark.parametrize("how", ["fork", "exec={program}"])
def test_children_keep_the_type(board: Board, program: pathlib.Path, how: str) -> None:
    question = how.format(program=program)
    assert board.facts(program, question) == X100
    assert board.facts(program, "set_ai_thread=0", question)[1:] == A100


def test_a_script_runs_by_its_riscv64_interpreter(board: Board, program: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!{program} hwcap_v\n")
    script.chmod(0o755)
    done = board.run(program, "set_ai_thread=0", f"exec={script}")
    # The interpreter gets its one argument, then the script's path, which it does not know as a question.
    assert "hwcap_v 1" in done.stdout.splitlines()
    assert f"unknown question {script}" in done.stderr


def test_programs_of_the_build_machine_run_natively(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "exec=/bin/false") == ["child_exit 1"]


def test_sixteen_harts_are_online(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "harts", "cat=/sys/devices/system/cpu/online") == ["online 16", "configured 16", "0-15"]


def test_cpuinfo_lists_both_types_and_no_zvl(board: Board, program: pathlib.Path) -> None:
    lines = board.facts(program, "cat=/proc/cpuinfo")
    values = {key: [line.split(": ", 1)[1] for line in lines if line.split("\t")[0] == key] for key in ("processor", "marchid", "isa")}
    assert values["processor"] == [str(i) for i in range(16)]
    assert values["marchid"] == [X100_MARCHID] * 8 + [A100_MARCHID] * 8
    assert not any("zvl" in isa or "xsmt" in isa for isa in values["isa"])
    assert [isa.split("_")[0].endswith("h") for isa in values["isa"]] == [True] * 8 + [False] * 8


def test_hwprobe_names_a_type_only_for_harts_of_one_type(board: Board, program: pathlib.Path) -> None:
    lines = board.facts(program, "hwprobe=0", "hwprobe=0xff", "hwprobe=0x8000", "hwprobe=0x180")
    marchids = [line.split("marchid ")[1].split()[0] for line in lines]
    assert marchids == ["0xffffffffffffffff", X100_MARCHID, A100_MARCHID, "0xffffffffffffffff"]
    assert all("mvendorid 0x710 " in line and line.endswith("v 1") for line in lines)


def test_getauxval_has_vectors_on_both_types(board: Board, program: pathlib.Path) -> None:
    assert board.facts(program, "hwcap_v", "set_ai_thread=0", "hwcap_v") == ["hwcap_v 1", "set_ai_thread 0 0", "hwcap_v 1"]


def test_the_same_program_dies_of_ime2_on_x100_and_not_on_a100(board: Board, program: pathlib.Path) -> None:
    assert board.run(program, "ime2").returncode == -signal.SIGILL
    assert board.facts(program, "set_ai_thread=0", "ime2")[1:] == ["executed"]


def test_a_crash_is_reported_with_pc_instruction_and_hart(board: Board, program: pathlib.Path) -> None:
    report = board.run(program, "ime2").stderr
    assert "Illegal instruction at pc 0x" in report
    assert f"({program}+0x" in report
    assert "0xd081082b (IME2: smt.vmadot.hp v16, v2, v8, v0, 0, i4)" in report
    assert "on X100 hart" in report
    assert "(VLEN 256)" in report
