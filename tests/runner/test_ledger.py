# SPDX-License-Identifier: Apache-2.0
"""A job runs once; a re-run only soon after a first run that this machine saw."""

from __future__ import annotations

import datetime
import json

import made
import pytest
from conftest import Refused

from ci.runner import places
from ci.runner.faults import Kind

HOURS = datetime.timedelta(hours=1)


def test_the_same_job_twice_is_refused(runner: made.Runner, refused: Refused) -> None:
    runner.start()
    with refused(Kind.REPLAYED, "run 1000, attempt 1, job gate was admitted before"):
        runner.start()
    assert len(runner.ledger) == 1


@pytest.mark.parametrize("event", ["merge_group", "push"])
def test_a_replayed_payload_under_a_new_run_is_refused(runner: made.Runner, refused: Refused, event: str) -> None:
    runner.start(event)
    with refused(Kind.REPLAYED, "run 1001 has the payload of run 1000"):
        runner.start(event, GITHUB_RUN_ID="1001")


def test_the_same_schedule_on_the_next_night_is_admitted(runner: made.Runner) -> None:
    runner.start("schedule")
    runner.start("schedule", at=made.NOW + 24 * HOURS, GITHUB_RUN_ID="1001")
    assert len(runner.ledger) == 2


def test_another_job_of_the_same_run_is_admitted(runner: made.Runner) -> None:
    runner.start()
    runner.start(GITHUB_JOB="serving")
    assert len(runner.ledger) == 2


def test_a_re_run_soon_after_is_admitted(runner: made.Runner) -> None:
    runner.start()
    runner.start(at=made.NOW + HOURS, GITHUB_RUN_ATTEMPT="2")
    assert [json.loads(line)["attempt"] for line in runner.ledger] == [1, 2]


def test_a_re_run_of_an_old_job_is_refused(runner: made.Runner, refused: Refused) -> None:
    runner.start()
    with refused(Kind.RERUN, "first admitted more than 24 hours ago"):
        runner.start(at=made.NOW + 25 * HOURS, GITHUB_RUN_ATTEMPT="2")


def test_many_re_runs_do_not_make_a_job_younger(runner: made.Runner, refused: Refused) -> None:
    runner.start()
    runner.start(at=made.NOW + 20 * HOURS, GITHUB_RUN_ATTEMPT="2")
    with refused(Kind.RERUN, "first admitted more than 24 hours ago"):
        runner.start(at=made.NOW + 40 * HOURS, GITHUB_RUN_ATTEMPT="3")


def test_a_re_run_of_a_job_never_seen_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.RERUN, "of which this machine saw no earlier attempt"):
        runner.start(GITHUB_RUN_ATTEMPT="2")


def test_an_attempt_after_a_later_one_is_refused(runner: made.Runner, refused: Refused) -> None:
    runner.start()
    runner.start(GITHUB_RUN_ATTEMPT="3")
    with refused(Kind.REPLAYED, "comes after a later attempt"):
        runner.start(GITHUB_RUN_ATTEMPT="2")


def test_a_re_run_of_another_commit_is_refused(runner: made.Runner, refused: Refused) -> None:
    runner.start()
    other = "c" * 40
    with refused(Kind.REPLAYED, "was a push of"):
        runner.start("push", made.payload("push", after=other), GITHUB_SHA=other, GITHUB_RUN_ATTEMPT="2")


def test_a_run_made_before_one_that_ran_days_ago_is_refused(runner: made.Runner, refused: Refused) -> None:
    runner.start("workflow_dispatch")
    with refused(Kind.STALE, "run 999 was made before run 1000"):
        runner.start("workflow_dispatch", at=made.NOW + 72 * HOURS, GITHUB_RUN_ID="999")


def test_a_run_that_waited_behind_a_later_one_is_admitted(runner: made.Runner) -> None:
    runner.start("workflow_dispatch")
    runner.start("workflow_dispatch", at=made.NOW + HOURS, GITHUB_RUN_ID="999")
    assert len(runner.ledger) == 2


@pytest.mark.parametrize("line", ["{}\n", "no JSON\n", '{"run": 1}\n', "[]\n", "\xff\n"])
def test_a_damaged_ledger_admits_nothing(runner: made.Runner, refused: Refused, line: str) -> None:
    runner.start()
    with (runner.root / places.LEDGER).open("ab") as file:
        file.write(line.encode("latin-1"))
    with refused(Kind.LEDGER, "ledger.jsonl"):
        runner.start(GITHUB_RUN_ID="1001")


def test_a_ledger_that_ends_within_a_line_admits_nothing(runner: made.Runner, refused: Refused) -> None:
    (runner.root / places.LEDGER).write_text('{"run"', encoding="utf-8")
    with refused(Kind.LEDGER, "the last line is not ended"):
        runner.start()


def test_no_ledger_admits_nothing(runner: made.Runner, refused: Refused) -> None:
    (runner.root / places.LEDGER).unlink()
    with refused(Kind.LEDGER, "No such file"):
        runner.start()


def test_a_ledger_that_is_a_link_admits_nothing(runner: made.Runner, refused: Refused) -> None:
    path = runner.root / places.LEDGER
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    with refused(Kind.LEDGER, "symbolic link"):
        runner.start()
