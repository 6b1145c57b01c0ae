# SPDX-License-Identifier: Apache-2.0
"""When a pytest session counts as passed, and what is reported when it was killed."""

from __future__ import annotations

import json
import pathlib
import xml.etree.ElementTree as ElementTree

import bazel_env
import journal
import junit
import pytest
import xml_text


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


def result(case: str, outcome: str, when: str = "call", text: str = "", output: str = "") -> dict:
    """A phase's end, as the plugin notes it."""
    return {"event": "result", "case": case, "when": when, "outcome": outcome, "seconds": 0.5, "text": text, "output": output}


ONE, TWO, THREE, FOUR = "t/test_a.py::one", "t/test_a.py::two", "t/test_a.py::Class::three[a::b]", "t/test_b.py::four"


@pytest.fixture
def killed(tmp_path: pathlib.Path) -> pathlib.Path:
    """One case passed, one failed, one was running, one was still to come."""
    events = [
        {"event": "facts", "facts": {"python": "3.14"}},
        {"event": "collected", "cases": [ONE, TWO, THREE, FOUR]},
        {"event": "start", "case": ONE},
        result(ONE, "passed", output="said \x1b[31m <ok>"),
        {"event": "end", "case": ONE},
        {"event": "start", "case": TWO},
        result(TWO, "failed", text="E  assert 1 == 2\nnul \0"),
        {"event": "end", "case": TWO},
        {"event": "start", "case": THREE},
    ]
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def report_of(path: pathlib.Path, reason: str = "time limit", stacks: str = "", facts: dict[str, str] | None = None) -> ElementTree.Element:
    """The report that is made of a journal, read back."""
    return ElementTree.fromstring(junit.from_journal(journal.read(path), reason, stacks, facts or {}))


def cases(report: ElementTree.Element) -> dict[str, list[str]]:
    """Names and what is said about them."""
    return {f"{case.get('classname')}::{case.get('name')}": [child.tag for child in case] for case in report.iter("testcase")}


def test_killed_session_reports_each_case_by_what_became_of_it(killed: pathlib.Path) -> None:
    assert cases(report_of(killed)) == {
        "t.test_a::one": ["system-out"],
        "t.test_a::two": ["failure"],
        "t.test_a.Class::three[a::b]": ["error"],
        "t.test_b::four": ["error"],
    }


def test_counts_of_a_killed_session_are_those_of_its_cases(killed: pathlib.Path) -> None:
    suite = report_of(killed).find("testsuite")
    assert {name: suite.get(name) for name in ("tests", "errors", "failures", "skipped")} == {"tests": "4", "errors": "2", "failures": "1", "skipped": "0"}


def test_running_case_holds_the_stacks(killed: pathlib.Path) -> None:
    assert "File a.py, line 3" in report_of(killed, stacks="File a.py, line 3").find(".//testcase[@name='three[a::b]']/error").text


def test_case_that_never_ran_names_the_one_that_stopped_it(killed: pathlib.Path) -> None:
    assert "Class::three[a::b]" in report_of(killed).find(".//testcase[@name='four']/error").text


def test_facts_of_plugin_and_runner_are_properties(killed: pathlib.Path) -> None:
    found = {entry.get("name"): entry.get("value") for entry in report_of(killed, facts={"level": "x100"}).iter("property")}
    assert found == {"level": "x100", "python": "3.14"}


def test_control_characters_of_an_output_are_written_out(killed: pathlib.Path) -> None:
    assert report_of(killed).find(".//testcase[@name='one']/system-out").text == "said \\x1b[31m <ok>"


def test_half_a_line_at_the_journals_end_is_left_out(killed: pathlib.Path) -> None:
    killed.write_text(killed.read_text() + '{"event": "sta')
    assert journal.read(killed).running == THREE


def test_failed_fixture_is_an_error(killed: pathlib.Path) -> None:
    killed.write_text(json.dumps(result(ONE, "failed", when="setup")) + "\n")
    assert journal.read(killed).cases[ONE].outcome == "error"


def test_failed_teardown_of_a_passed_case_is_an_error(killed: pathlib.Path) -> None:
    killed.write_text("".join(json.dumps(result(ONE, outcome, when)) + "\n" for outcome, when in (("passed", "call"), ("failed", "teardown"))))
    assert journal.read(killed).cases[ONE].outcome == "error"


def test_killed_session_without_a_journal_reports_an_error(tmp_path: pathlib.Path) -> None:
    assert list(cases(report_of(tmp_path / "none")).values()) == [["error"]]


def test_pytests_report_gets_the_facts_and_loses_empty_captures() -> None:
    heading = "-" * 33 + " Captured {} " + "-" * 33 + "\n\n"
    case = f"<testcase name='a'><system-out>{heading.format('Log')}{heading.format('Out')}</system-out></testcase>"
    own = f"<testsuites><testsuite>{case}</testsuite></testsuites>"
    suite = ElementTree.fromstring(junit.completed(own.encode(), {"level": "x100"})).find("testsuite")
    assert suite.find("testcase/system-out") is None and suite.find("properties/property").get("value") == "x100"


def test_complaint_about_a_session_is_an_error_in_its_report() -> None:
    own = b"<testsuites><testsuite tests='1' errors='0'><testcase name='a'/></testsuite></testsuites>"
    (suite,) = ElementTree.fromstring(junit.with_error(own, "2 skipped"))
    assert [case.find("error") is not None for case in suite] == [False, True] and (suite.get("tests"), suite.get("errors")) == ("2", "1")


def test_long_text_says_how_much_was_cut() -> None:
    cut = xml_text.fit("a" * 100_000, limit=1000)
    assert "[... 99000 of 100000 characters left out ...]" in cut and len(cut) < 1100


def test_lone_surrogate_is_written_out() -> None:
    assert xml_text.printable("a\ud800\uffff\U0001f600") == "a\\ud800\\uffff\U0001f600"


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
