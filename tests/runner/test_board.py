# SPDX-License-Identifier: Apache-2.0
"""The board's state is told finding by finding; a job starts only on a board that is fit."""

from __future__ import annotations

import os
from pathlib import Path

import made
import pytest
from conftest import Refused

from ci.runner import board, cli, places, prepare
from ci.runner.config import Config
from ci.runner.faults import Kind

GOVERNOR = "sys/devices/system/cpu/cpu9/cpufreq/scaling_governor"
UNFIT = {
    "governor: powersave": {GOVERNOR: "powersave\n"},
    "temperature: 71.0 °C": {"sys/class/thermal/thermal_zone0/temp": "71000\n"},
    "temperature: no /sys/class/thermal": {"sys/class/thermal/thermal_zone0/temp": None},
    "throttling: a CPU's clock is held down": {"sys/class/thermal/cooling_device0/cur_state": "2\n"},
    "throttled: no /sys/class/thermal": {"sys/class/thermal/cooling_device0/type": "pwm-fan\n"},
    "cores: 0-7 0x58, 8-14 0x41": {"proc/cpuinfo": made._FILES["proc/cpuinfo"].replace("processor\t: 15\nmarchid\t\t: 0x41\n", "")},
    "cores: 0-15 0x58": {"proc/cpuinfo": made._FILES["proc/cpuinfo"].replace("0x41", "0x58")},
    "memory: 97 MiB free": {"proc/meminfo": "MemAvailable: 100000 kB\n"},
    "memory: 0 MiB free": {"proc/meminfo": "MemTotal: 100000 kB\n"},
}


def findings(root: Path) -> dict[str, board.Finding]:
    return {finding.name: finding for finding in board.examine(root, made.CONFIG)}


@pytest.mark.parametrize("text", UNFIT)
def test_no_job_starts_on_an_unfit_board(tmp_path: Path, refused: Refused, text: str) -> None:
    runner = made.Runner(made.board(tmp_path, **UNFIT[text]))
    with refused(Kind.BOARD, text):
        runner.start()


def test_a_fit_board_is_good_in_each_finding_of_its_state(runner: made.Runner) -> None:
    runner.start()
    assert [line.split(":")[0] for line in runner.said if line[:3] in ("ok ", "BAD")] == [
        "ok  cores",
        "ok  kernel",
        "ok  governor",
        "ok  temperature",
        "ok  throttling",
        "ok  memory",
    ]


def test_a_governor_that_a_job_changed_is_put_back(runner: made.Runner) -> None:
    (runner.root / GOVERNOR).write_text("powersave\n", encoding="ascii")
    made.hook.completed(runner.machine)
    assert (runner.root / GOVERNOR).read_text(encoding="ascii") == "performance"


def test_the_a100_cores_permission_must_be_the_group_s_alone(runner: made.Runner) -> None:
    (runner.root / places.AI_THREAD).chmod(0o222)
    assert not findings(runner.root)["A100 cores"].good


def test_a_kernel_without_a100_threads_is_told(runner: made.Runner) -> None:
    (runner.root / places.AI_THREAD).unlink()
    assert findings(runner.root)["A100 cores"].found == "no /proc/set_ai_thread"


@pytest.mark.parametrize("group", ["sudo", "docker", "adm"])
def test_a_user_with_more_rights_is_told(tmp_path: Path, group: str) -> None:
    root = made.board(tmp_path, **{"etc/group": f"{made._FILES['etc/group']}{group}:x:27:somebody,sm10-runner\n"})
    finding = findings(root)["user"]
    assert (finding.good, finding.remedy) == (False, f"gpasswd -d sm10-runner {group}")


def test_the_user_without_more_rights_is_good(runner: made.Runner) -> None:
    assert findings(runner.root)["user"].good


def test_a_ledger_that_can_be_overwritten_is_told(runner: made.Runner) -> None:
    assert not findings(runner.root)["ledger"].good


def test_check_ends_with_the_board_s_code(runner: made.Runner) -> None:
    assert cli.main(["--root", str(runner.root), "check"]) == Kind.BOARD.code


def test_prepare_without_the_a100_cores_file_is_refused(runner: made.Runner, refused: Refused) -> None:
    (runner.root / places.AI_THREAD).unlink()
    with refused(Kind.BOARD, "there is no /proc/set_ai_thread"):
        prepare.run(runner.root, made.CONFIG, runner.said.append)


def test_prepare_before_set_up_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.SETUP, "sm10-ai"):
        prepare.run(runner.root, made.CONFIG, runner.said.append)


def test_a_fact_that_was_given_needs_no_file(tmp_path: Path) -> None:
    root = made.board(tmp_path, **{"proc/cpuinfo": ""})
    config = Config(repository=made.REPOSITORY, repository_id=4711, facts=(("core_map", "0-7 0x1, 8-15 0x2"),))
    assert {finding.name: finding.good for finding in board.examine(root, config)}["cores"]


def test_a_hook_does_not_run_as_root(runner: made.Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert (cli.main(["--root", str(runner.root), "hook", "job-started"]), "must not run as root" in capsys.readouterr().err) == (Kind.ENVIRONMENT.code, True)
