# SPDX-License-Identifier: Apache-2.0
"""The guest passes a command's surroundings on: arguments, input, exit code, environment, files."""

from __future__ import annotations

import json
import pathlib
import stat

import pytest
from conftest import Guest


def script(folder: pathlib.Path, name: str, text: str, executable: bool = True) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    if executable:
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"./{name}"


def test_arguments_arrive_unchanged(guest: Guest) -> None:
    words = ["a b", "", "--level", "ü", "$HOME", "*"]
    shown = guest.output("python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *words)
    assert json.loads(shown) == words


@pytest.mark.parametrize("code", [0, 7, 255])
def test_exit_code_is_the_commands(guest: Guest, code: int) -> None:
    assert guest.run("sh", "-c", f"exit {code}").returncode == code


@pytest.mark.parametrize("number", [9, 11, 15])
def test_death_by_signal_is_passed_on(guest: Guest, number: int) -> None:
    assert guest.run("sh", "-c", f"kill -{number} $$").returncode == -number


def test_standard_input_reaches_the_command(guest: Guest) -> None:
    assert guest.output("cat", given="line 1\nline 2") == "line 1\nline 2"


def test_without_a_command_a_shell_reads_standard_input(guest: Guest) -> None:
    assert guest.output(given="echo $((6 * 7))\n") == "42\n"


def test_dash_c_and_dash_m_mean_python(guest: Guest) -> None:
    assert guest.output("-c", "import platform; print(platform.machine())") == "riscv64\n"


def test_users_file_runs_and_writes_in_the_current_folder(guest: Guest) -> None:
    script(guest.folder, "hello.py", "open('result', 'w').write('done')\n", executable=False)
    guest.output("python3", "hello.py")
    assert (guest.folder / "result").read_text() == "done"


def test_current_folder_has_its_own_path(guest: Guest) -> None:
    assert guest.output("pwd") == f"{guest.folder}\n"


def test_sys_executable_is_debians_python(guest: Guest) -> None:
    assert guest.output("python3", "-c", "import sys; print(sys.executable, sys.prefix)") == "/usr/bin/python3 /usr\n"


def test_python_child_of_python_runs_emulated(guest: Guest) -> None:
    code = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import os; print(os.uname().machine)']))"
    assert guest.output("python3", "-c", code) == "riscv64\n"


def test_multiprocessing_spawn_works(guest: Guest) -> None:
    text = (
        "import multiprocessing, os\n"
        "def work(n): return n * n, os.uname().machine\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(work, [3]))\n"
    )
    script(guest.folder, "pool.py", text, executable=False)
    assert guest.output("python3", "pool.py") == "[(9, 'riscv64')]\n"


def test_shell_script_with_children_runs(guest: Guest) -> None:
    name = script(guest.folder, "run.sh", "#!/bin/sh\necho one | cat\nuname -m\n")
    assert guest.output(name) == "one\nriscv64\n"


def test_env_shebang_finds_the_guests_python(guest: Guest) -> None:
    name = script(guest.folder, "run.py", "#!/usr/bin/env python3\nimport sys; print(sys.argv[1])\n")
    assert guest.output(name, "word") == "word\n"


def test_file_without_execute_permission_is_refused_with_the_remedy(guest: Guest) -> None:
    done = guest.run(script(guest.folder, "plain.py", "print(1)\n", executable=False))
    assert done.returncode == 2 and "./plain.py is not executable" in done.stderr and "python3 ./plain.py" in done.stderr


def test_unknown_program_is_refused_by_name(guest: Guest) -> None:
    done = guest.run("no-such-program")
    assert done.returncode == 2 and "no-such-program is no program of the guest" in done.stderr


def test_program_for_the_exec_machine_is_refused(guest: Guest) -> None:
    header = bytes.fromhex("7f454c4602010100") + bytes(8) + (2).to_bytes(2, "little") + (62).to_bytes(2, "little") + bytes(44)
    (guest.folder / "native").write_bytes(header)
    (guest.folder / "native").chmod(0o755)
    done = guest.run("./native")
    assert done.returncode == 2 and "./native is a program for x86_64" in done.stderr


def test_variables_of_vllm_are_passed_on(guest: Guest) -> None:
    assert guest.output("sh", "-c", "echo $VLLM_LOGGING_LEVEL", environment={"VLLM_LOGGING_LEVEL": "DEBUG"}) == "DEBUG\n"


def test_variables_that_describe_the_host_are_not_passed_on(guest: Guest) -> None:
    assert guest.output("sh", "-c", "echo ${PYTHONPATH-unset} $PATH", environment={"PYTHONPATH": "/host"}).startswith("unset /usr/local/bin:")


def test_env_option_sets_a_variable(guest: Guest) -> None:
    assert guest.output("--env", "MINE=a=b", "sh", "-c", "echo $MINE") == "a=b\n"


def test_env_option_names_a_variable_that_the_caller_lacks(guest: Guest) -> None:
    done = guest.run("--env", "NOT_SET_ANYWHERE", "true")
    assert done.returncode == 2 and "--env NOT_SET_ANYWHERE: no such variable" in done.stderr


def test_help_explains_the_options(guest: Guest) -> None:
    shown = guest.output("--help")
    assert all(word in shown for word in ("--level", "--vlen", "--folder", "--env", "examples:"))


def test_misspelt_option_is_refused(guest: Guest) -> None:
    done = guest.run("--levle", "x100", "true")
    assert done.returncode == 2 and "--levle" in done.stderr
