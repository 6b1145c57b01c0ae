# SPDX-License-Identifier: Apache-2.0
"""What Bazel gets to know of sessions that end badly, from the rules' real entry points: in the emulated guest and on the host."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import pytest


@dataclasses.dataclass(frozen=True)
class Report:
    """A sample's exit code, its log, and its JUnit file."""

    code: int
    log: str
    size: int
    root: ElementTree.Element

    def case(self, name: str) -> ElementTree.Element:
        """The only case of a name."""
        (found,) = [case for case in self.root.iter("testcase") if case.get("name") == name]
        return found

    def names(self) -> list[str]:
        """All cases, a name as often as it is there."""
        return sorted(case.get("name") for case in self.root.iter("testcase"))

    def kinds(self) -> dict[str, str]:
        """What the report says of each case."""
        marks = ("error", "failure", "skipped")
        return {case.get("name"): next((child.tag for child in case if child.tag in marks), "passed") for case in self.root.iter("testcase")}

    def properties(self) -> dict[str, str]:
        """Of the suite."""
        return {entry.get("name"): entry.get("value") for entry in self.root.iterfind("testsuite/properties/property")}


def environment(folder: pathlib.Path, timeout: int) -> dict[str, str]:
    """As Bazel sets it, and nothing of the session that this test runs in."""
    kept = {name: os.environ[name] for name in ("PATH", "RUNFILES_DIR", "TEST_SRCDIR") if name in os.environ}
    own = {"TEST_TMPDIR": str(folder), "TEST_UNDECLARED_OUTPUTS_DIR": str(folder / "outputs"), "XML_OUTPUT_FILE": str(folder / "test.xml")}
    return kept | own | {"TEST_TIMEOUT": str(timeout)}


def start(sample: str, cases: str, folder: pathlib.Path, timeout: int = 600, more: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A sample whose cases are chosen by words of their names; with more variables."""
    program = pathlib.Path(os.environ[f"SAMPLE_{sample.upper()}"]).absolute()
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    return subprocess.Popen([str(program), "-k", cases], cwd=folder, env=environment(folder, timeout) | (more or {}), **options)


def finish(process: subprocess.Popen[str], folder: pathlib.Path) -> Report:
    """Waits for its end."""
    log, _ = process.communicate()
    file = folder / "test.xml"
    return Report(process.returncode, log, file.stat().st_size, ElementTree.parse(file).getroot())


@functools.cache
def run(sample: str, case: str, timeout: int = 600) -> Report:
    """One case of a sample between two harmless ones. Starting a guest is slow, so each report is made once."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))
    return finish(start(sample, f"before or {case} or after", folder, timeout), folder)


# Seconds that Bazel would give a session that hangs: enough to start it.
HANG = {"guest": 60, "host": 24, "host_workers": 60}

BOTH = pytest.mark.parametrize("sample", ["guest", "host"])


@BOTH
def test_killed_session_is_an_error_at_the_case_that_ran(sample: str) -> None:
    assert run(sample, "killed").kinds() == {"test_before": "passed", "test_killed": "error", "test_after": "error"}


@BOTH
def test_killed_session_names_the_signal(sample: str) -> None:
    assert "signal 9" in run(sample, "killed").case("test_killed").find("error").get("message")


@BOTH
def test_killed_session_fails_the_target(sample: str) -> None:
    assert run(sample, "killed").code == 1


@BOTH
def test_killed_session_keeps_the_output_of_earlier_cases(sample: str) -> None:
    assert run(sample, "killed").case("test_before").find("system-out").text.strip() == "printed before"


@BOTH
def test_hanging_session_is_an_error_at_the_case_that_hangs(sample: str) -> None:
    assert run(sample, "hanging", HANG[sample]).kinds() == {"test_before": "passed", "test_hanging": "error", "test_after": "error"}


@BOTH
def test_hanging_session_reports_its_stacks(sample: str) -> None:
    assert "in test_hanging" in run(sample, "hanging", HANG[sample]).case("test_hanging").find("error").text


@BOTH
def test_progress_lines_name_the_case_that_hangs(sample: str) -> None:
    assert "s tests/report/sample.py::test_hanging" in run(sample, "hanging", HANG[sample]).log


@BOTH
def test_time_limit_of_a_case_fails_that_case_only(sample: str) -> None:
    assert run(f"{sample}_limited", "hanging").kinds() == {"test_before": "passed", "test_hanging": "failure", "test_after": "passed"}


@BOTH
def test_time_limit_of_a_case_reports_its_stacks(sample: str) -> None:
    assert "in test_hanging" in run(f"{sample}_limited", "hanging").case("test_hanging").find("system-err").text


@BOTH
def test_case_that_does_not_react_to_its_time_limit_ends_the_session(sample: str) -> None:
    report = run(f"{sample}_limited", "deaf")
    assert report.kinds() == {"test_before": "passed", "test_deaf": "error", "test_after": "error"}


@BOTH
def test_case_that_does_not_react_is_told_from_a_crash(sample: str) -> None:
    assert "did not react" in run(f"{sample}_limited", "deaf").case("test_deaf").find("error").get("message")


@BOTH
def test_case_that_does_not_react_reports_its_stacks(sample: str) -> None:
    assert "in test_deaf" in run(f"{sample}_limited", "deaf").case("test_deaf").find("error").text


@BOTH
def test_100_mb_of_output_is_cut_with_a_notice(sample: str) -> None:
    # Two lines besides the hundred of a megabyte.
    printed = 100 * (1 << 20) + len("first words\nlast words\n")
    assert f"of {printed} characters left out" in run(sample, "loud").case("test_loud").find("system-out").text


@BOTH
def test_100_mb_of_output_keep_beginning_and_end(sample: str) -> None:
    output = run(sample, "loud").case("test_loud").find("system-out").text
    assert "first words" in output and "last words" in output


@BOTH
def test_100_mb_of_output_leave_the_report_small(sample: str) -> None:
    assert run(sample, "loud").size < 1 << 17


@BOTH
def test_skip_that_the_rule_does_not_allow_is_an_error_in_the_report(sample: str) -> None:
    report = run(sample, "skipping")
    assert report.code == 1 and report.kinds() | {"outside of any test": "error", "test_skipping": "skipped"} == report.kinds()


@BOTH
def test_xml_characters_in_names_survive(sample: str) -> None:
    kinds = run(sample, "names").kinds()
    assert kinds['test_names[<odd & "quoted">]]>]'] == "passed" and kinds["test_names[odd a::b[1]]"] == "failure"


@BOTH
def test_control_characters_are_written_out(sample: str) -> None:
    text = run(sample, "names").case("test_names[odd a::b[1]]").find("system-out").text
    assert "control #x00#x01#x1B[31m characters </system-out>" in text


@BOTH
def test_runner_killed_by_its_caller_leaves_a_report_that_names_the_case(sample: str, tmp_path: pathlib.Path) -> None:
    process = start(sample, "before or hanging or after", tmp_path)
    while "::test_hanging" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    assert finish(process, tmp_path).kinds() == {"test_before": "passed", "test_hanging": "error", "test_after": "error"}


def test_report_of_a_guest_says_what_it_ran_on() -> None:
    found = run("guest", "names").properties()
    assert found["environment"] == "qemu_x100" and found["level"] == "x100" and found["vlen"] == "256" and found["machine"] == "riscv64"


def test_report_of_a_guest_names_the_emulators_version() -> None:
    assert run("guest", "names").properties()["emulator"].startswith("qemu-riscv64 version ")


def test_report_of_the_host_says_so() -> None:
    found = run("host", "names").properties()
    assert found["environment"] == "host" and found["machine"] == os.uname().machine


CASES = ["test_after", "test_before", 'test_names[<odd & "quoted">]]>]', "test_names[odd a::b[1]]"]


def test_cases_of_several_processes_are_reported_once_each() -> None:
    assert run("host_workers", "names").names() == CASES


@pytest.mark.parametrize("sample", ["guest", "host", "host_workers"])
def test_cases_of_shards_are_reported_once_each(sample: str, tmp_path: pathlib.Path) -> None:
    shards = []
    for index in range(2):
        folder = tmp_path / str(index)
        folder.mkdir()
        told = {"TEST_SHARD_INDEX": str(index), "TEST_SHARD_STATUS_FILE": str(folder / "status"), "TEST_TOTAL_SHARDS": "2"}
        shards.append(finish(start(sample, "before or names or after", folder, more=told), folder).names())
    assert all(shards) and sorted(shards[0] + shards[1]) == CASES


def test_hanging_session_of_several_processes_is_an_error_at_the_case_that_hangs() -> None:
    kinds = run("host_workers", "hanging", HANG["host_workers"]).kinds()
    assert kinds["test_hanging"] == "error" and set(kinds) == {"test_before", "test_hanging", "test_after"}


def test_killed_process_of_several_is_an_error_of_its_case() -> None:
    report = run("host_workers", "killed")
    assert report.code == 1 and report.kinds()["test_killed"] == "error" and set(report.kinds()) >= {"test_before", "test_killed", "test_after"}
