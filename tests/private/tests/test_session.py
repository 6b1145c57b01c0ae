# SPDX-License-Identifier: Apache-2.0
"""When a pytest session counts as passed, and what is reported when it was killed."""

from __future__ import annotations

import json
import pathlib
import xml.etree.ElementTree as ElementTree

import bazel_env
import junit
import pytest


def test_session_without_tests_is_no_pass() -> None:
    assert "no tests ran" in junit.complaint(junit.Counts(ran=0, failed=0, skipped=0), 0)


def test_skipped_test_is_no_pass() -> None:
    assert "1 tests were skipped, 0 may be" in junit.complaint(junit.Counts(ran=5, failed=0, skipped=1), 0)


def test_session_of_allowed_skips_alone_is_no_pass() -> None:
    assert "no test passed" in junit.complaint(junit.Counts(ran=2, failed=0, skipped=2), 2)


def test_allowed_skips_beside_passes_are_accepted() -> None:
    assert junit.complaint(junit.Counts(ran=5, failed=0, skipped=2), 2) is None


def test_report_is_counted_by_case(tmp_path: pathlib.Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite><testcase/><testcase><skipped/></testcase><testcase><failure/></testcase><testcase><error/></testcase></testsuite></testsuites>"
    )
    assert junit.count(report) == junit.Counts(ran=4, failed=2, skipped=1)


@pytest.fixture
def journal(tmp_path: pathlib.Path) -> pathlib.Path:
    """One case passed, one failed, one was running."""
    events = [
        {"event": "start", "case": "t/test_a.py::one"},
        {"event": "result", "case": "t/test_a.py::one", "outcome": "passed", "text": ""},
        {"event": "end", "case": "t/test_a.py::one"},
        {"event": "start", "case": "t/test_a.py::two"},
        {"event": "result", "case": "t/test_a.py::two", "outcome": "failed", "text": "assert 1 == 2"},
        {"event": "end", "case": "t/test_a.py::two"},
        {"event": "start", "case": "t/test_a.py::three"},
    ]
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def cases(report: bytes) -> dict[str, list[str]]:
    """Names and what is said about them."""
    return {case.get("name"): [child.tag for child in case] for case in ElementTree.fromstring(report).iter("testcase")}


def test_killed_session_reports_finished_cases_and_the_running_one(journal: pathlib.Path) -> None:
    assert cases(junit.from_journal(journal, "time limit")) == {"one": [], "two": ["failure"], "three": ["error"]}


def test_killed_session_without_a_journal_reports_an_error(tmp_path: pathlib.Path) -> None:
    assert list(cases(junit.from_journal(tmp_path / "none", "time limit")).values()) == [["error"]]


def test_own_time_limit_comes_before_bazels(tmp_path: pathlib.Path) -> None:
    test = bazel_env.read({"TEST_TMPDIR": str(tmp_path), "TEST_TIMEOUT": "900"})
    assert test.time_limit == 860


def test_own_time_limit_of_a_short_test_is_half_of_bazels(tmp_path: pathlib.Path) -> None:
    assert bazel_env.read({"TEST_TMPDIR": str(tmp_path), "TEST_TIMEOUT": "60"}).time_limit == 30


def test_shard_is_told_to_pytest(tmp_path: pathlib.Path) -> None:
    status = tmp_path / "status"
    environ = {"TEST_TMPDIR": str(tmp_path), "TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "2", "TEST_SHARD_STATUS_FILE": str(status)}
    assert bazel_env.read(environ).shard == "2/3" and status.exists()


def test_filter_of_bazel_is_pytests(tmp_path: pathlib.Path) -> None:
    options = bazel_env.pytest_options(bazel_env.read({"TEST_TMPDIR": str(tmp_path), "TESTBRIDGE_TEST_ONLY": "rope"}))
    assert options[-2:] == ["-k", "rope"]
