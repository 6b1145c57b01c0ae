# SPDX-License-Identifier: Apache-2.0
"""Where the runner's own options end, and which environment the guest gets."""

from __future__ import annotations

import pytest
from guest import cli, command
from guest.errors import UsageError
from guest.levels import Core

X100 = Core(level="x100", vlen=256, cpu="rv64,vlen=256")


@pytest.mark.parametrize(
    ("words", "options", "rest"),
    [
        ([], [], []),
        (["python3", "--level", "x"], [], ["python3", "--level", "x"]),
        (["--level", "x100", "python3", "-c", "1"], ["--level", "x100"], ["python3", "-c", "1"]),
        (["--level=x100", "-m", "pytest", "-h"], ["--level=x100"], ["-m", "pytest", "-h"]),
        (["--no-network", "--", "--odd-name"], ["--no-network"], ["--odd-name"]),
        (["-h"], ["-h"], []),
    ],
)
def test_command_begins_at_the_first_word_that_is_no_option(words: list[str], options: list[str], rest: list[str]) -> None:
    assert cli.split(words) == (options, rest)


@pytest.mark.parametrize(
    ("words", "completed"),
    [((), ("bash",)), (("-m", "pytest"), ("python3", "-m", "pytest")), (("-c", "1"), ("python3", "-c", "1")), (("ls", "-m"), ("ls", "-m"))],
)
def test_short_commands_are_completed(words: tuple[str, ...], completed: tuple[str, ...]) -> None:
    assert command.complete(words) == completed


def test_variables_of_the_host_stay_out() -> None:
    caller = {"PATH": "/host", "PYTHONPATH": "/host", "LD_PRELOAD": "/host.so", "HOME": "/home/u", "RUNFILES_DIR": "/r"}
    assert "/host" not in " ".join(command.environment(X100, caller, []).values())


def test_variables_of_the_passed_families_come_through() -> None:
    assert command.environment(X100, {"VLLM_A": "1", "LC_ALL": "C", "TERM": "xterm"}, []).items() >= {"VLLM_A": "1", "LC_ALL": "C", "TERM": "xterm"}.items()


def test_level_of_the_environment_cannot_contradict_the_core() -> None:
    assert command.environment(X100, {"SM10_LEVEL": "a100", "SM10_VLEN": "1024"}, []).items() >= {"SM10_LEVEL": "x100", "SM10_VLEN": "256"}.items()


def test_openblas_core_of_a_wide_core_can_only_be_changed_on_purpose() -> None:
    wide = Core(level="a100", vlen=1024, cpu="")
    assert command.environment(wide, {"OPENBLAS_CORETYPE": "x"}, [])["OPENBLAS_CORETYPE"] == "riscv64_generic"
    assert command.environment(wide, {}, ["OPENBLAS_CORETYPE=x"])["OPENBLAS_CORETYPE"] == "x"


def test_setting_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="--env =x"):
        command.environment(X100, {}, ["=x"])
