# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, failures and the pool's end: on the emulated board, and on the build machine with a stand-in for the switch."""

import os
import pathlib

import pytest
from conftest import Emulator, Program

WORKS = "next_run works"


@pytest.fixture
def logic(request: pytest.FixtureRequest) -> Program:
    """The program of the cell: for the machine that builds, or for the board, which is emulated."""
    if host := os.environ.get("LOGIC_HOST"):
        return Program((str(pathlib.Path(host).resolve()),))
    emulator: Emulator = request.getfixturevalue("emulator")
    return emulator.program("LOGIC")


def started(facts: list[str]) -> int:
    return sum(fact.startswith("worker ") for fact in facts)


def test_ten_thousand_tiny_runs_are_all_right(logic: Program) -> None:
    assert logic.facts("tiny=10000") == ["runs 10000 wrong 0"]


def test_no_wake_up_is_lost_when_everybody_sleeps_at_once(logic: Program) -> None:
    assert logic.facts("sleepers=10000") == ["slices_missing 0"]


def test_a_gate_that_opens_as_its_waiter_falls_asleep_wakes_it(logic: Program) -> None:
    assert logic.facts("gates=100000") == ["gates turns 100000 right 1"]


def test_callers_take_turns(logic: Program) -> None:
    assert logic.facts("callers=6,300") == ["callers 6 wrong 0 overlaps 0"]


def test_nobody_is_harmed_when_a_caller_stops_the_pool(logic: Program) -> None:
    assert logic.facts("callers_and_stops=4,100") == ["callers 4 wrong 0 overlaps 0"]


def test_signals_go_to_the_programs_own_threads(logic: Program) -> None:
    assert logic.facts("signals") == ["signals by_workers 0 by_others 1 callers_mask_kept 1"]


def test_the_lowest_failing_slice_is_reported_and_the_others_run(logic: Program) -> None:
    assert logic.facts("failures") == [*["out_of_range slice 2 ran 50"] * 3, WORKS]


def test_a_worker_is_refused_what_would_wait_for_itself(logic: Program) -> None:
    text = "Nested A100 workers: {}() was called by a worker; a slice's function must do its work itself"
    assert logic.facts("nested") == [*(text.format(name) for name in ("run", "start", "stop")), WORKS]


def test_a_child_forked_before_the_first_use_makes_its_own_pool(logic: Program) -> None:
    assert logic.facts("fork_before") == ["child works", "parent works"]


def test_a_child_forked_after_the_first_use_makes_its_own_pool(logic: Program) -> None:
    assert logic.facts("fork_after") == [
        "parent_before works",
        "child_and_grandchild works",
        "idle_child works",
        "stopping_child works",
        "parent_after works",
    ]


def test_forks_in_the_middle_of_runs_starts_and_stops_do_no_harm(logic: Program) -> None:
    assert logic.facts("fork_during=100") == ["children works 100", "parent wrong 0"]


def test_stop_leaves_no_thread_and_start_makes_them_anew(logic: Program) -> None:
    facts = logic.facts("start", "threads=8", "stop", "threads=0", "start", "threads=8")
    assert started(facts) == 16
    assert [fact for fact in facts if fact.startswith("threads")] == ["threads 8", "threads 0", "threads 8"]
    assert logic.facts("restarts") == ["threads 0"]


def test_a_process_may_end_while_a_run_goes_on(logic: Program) -> None:
    assert logic.facts("leave_during_run") == ["leaving"]


def test_a_worker_may_end_the_process(logic: Program) -> None:
    assert logic.run("exit_in_worker").returncode == 3


def test_a_crash_handler_sees_a_workers_crash(logic: Program) -> None:
    assert logic.run("crash_handler").returncode == 42


@pytest.mark.parametrize(
    ("fault", "error", "culprit", "remedy"),
    [
        ("open:2:0", "NoA100Cores", "cannot open /proc/set_ai_thread", "Run on an SM10"),
        ("open:13:0", "NoPermission", "cannot open /proc/set_ai_thread", "allow this user to write it"),
        ("open:30:0", "NoPermission", "cannot open /proc/set_ai_thread", "mount a container's /proc"),
        ("write:1:0", "NoPermission", "cannot write /proc/set_ai_thread", "allow this user to write it"),
        ("write:22:0", "KernelRefuses", "cannot write /proc/set_ai_thread", "Update it"),
        ("affinity:22:8", "NoHart", "hart 8 is refused", "allow CPUs 8-15 in the process's cpuset"),
        ("affinity:22:15", "NoHart", "hart 15 is refused", "or lower SM10_AI_WORKERS"),
        ("hart:0:10", "NoHart", "a thread runs on hart 10", "CPUs 8-15 are online"),
        ("vlen:0:9", "WrongVlen", "hart 9 has VLEN 256, not 1024", "vendor's kernel"),
        ("thread:11:0", "NoThread", "cannot make a thread", "raise the limit on threads"),
        ("thread:11:1", "NoThread", "cannot make a thread", "raise the limit on threads"),
        ("thread:11:5", "NoThread", "cannot make a thread", "raise the limit on threads"),
    ],
)
def test_what_goes_wrong_is_named_and_leaves_no_thread(logic: Program, fault: str, error: str, culprit: str, remedy: str) -> None:
    message, threads, *later = logic.facts(f"fault={fault}", "start", "threads=0", "fault=none", "start")
    assert message.startswith(f"{error} A100 workers: {culprit}")
    assert remedy in message
    assert threads == "threads 0"
    assert started(later) == 8


def test_a_pool_that_needs_fewer_harts_starts_without_the_others(logic: Program) -> None:
    assert started(logic.facts("fault=affinity:22:9", "start", env={"SM10_AI_WORKERS": "4"})) == 4
