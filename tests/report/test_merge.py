# SPDX-License-Identifier: Apache-2.0
"""The merged report: of good results, bad results, and results that are missing."""

from __future__ import annotations

import html.parser
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import pytest
from ci.report import __main__ as command
from ci.report import cells, testlogs
from ci.report.model import Outcome

LEVELS = ["host_model", "qemu_a100", "qemu_rvv128", "qemu_scalar", "qemu_x100", "qemu_sm10", "sm10"]
PASSED = "<testcase classname='t' name='one' time='1.5'/>"
FAILED = "<testcase classname='t' name='two'><failure message='wrong'>assert 1 == 2</failure></testcase>"


def put(folder: pathlib.Path, test: str, xml: str | None, log: str = "log\n") -> pathlib.Path:
    """A test's folder in Bazel's layout."""
    path = folder / test
    path.mkdir(parents=True)
    (path / "test.log").write_text(log)
    if xml is not None:
        (path / "test.xml").write_text(xml)
    return path


def suite(*cases: str, environment: str = "") -> str:
    """A session's file."""
    properties = f"<properties><property name='environment' value='{environment}'/></properties>" if environment else ""
    return f"<testsuites><testsuite name='pytest'>{properties}{''.join(cases)}</testsuite></testsuites>"


def outcomes(folder: pathlib.Path) -> dict[str, Outcome]:
    """Of each target."""
    return {cell.label: cell.outcome for cell in testlogs.collect(folder, LEVELS).cells}


def merge(folder: pathlib.Path, *words: str) -> tuple[int, pathlib.Path]:
    """The command's exit code and its output folder."""
    output = folder.parent / "out"
    return command.main([*(words or [str(folder)]), "--output", str(output), f"--environments={','.join(LEVELS)}"]), output


@pytest.fixture
def logs(tmp_path: pathlib.Path) -> pathlib.Path:
    """An empty folder for results."""
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def test_target_is_named_by_its_folder(logs: pathlib.Path) -> None:
    put(logs, "tests/ops/ops_x100_test", suite(PASSED))
    assert outcomes(logs) == {"//tests/ops:ops_x100_test": Outcome.PASSED}


def test_shards_are_one_cell(logs: pathlib.Path) -> None:
    put(logs, "t/a/shard_1_of_2", suite(PASSED))
    put(logs, "t/a/shard_2_of_2", suite(FAILED))
    (cell,) = testlogs.collect(logs, LEVELS).cells
    assert (cell.label, len(cell.cases), cell.outcome) == ("//t:a", 2, Outcome.FAILED)


def test_missing_shard_is_an_error(logs: pathlib.Path) -> None:
    put(logs, "t/a/shard_1_of_2", suite(PASSED))
    assert outcomes(logs) == {"//t:a": Outcome.ERROR}


def test_missing_file_is_an_error(logs: pathlib.Path) -> None:
    put(logs, "t/killed", None)
    put(logs, "t/well", suite(PASSED))
    assert outcomes(logs) == {"//t:killed": Outcome.ERROR, "//t:well": Outcome.PASSED}


def test_missing_file_shows_the_end_of_the_log(logs: pathlib.Path) -> None:
    put(logs, "t/killed", None, log="start\nlast words\n")
    (cell,) = testlogs.collect(logs, LEVELS).cells
    assert "last words" in cell.cases[0].details


def test_truncated_file_is_an_error(logs: pathlib.Path) -> None:
    put(logs, "t/cut", suite(PASSED)[:60])
    assert outcomes(logs) == {"//t:cut": Outcome.ERROR}


def test_truncated_file_is_named_with_a_remedy(logs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(logs, "t/cut", suite(PASSED)[:60])
    code, _ = merge(logs)
    errors = capsys.readouterr().err
    assert code == 1 and f"{path / 'test.xml'}: no whole XML file" in errors and "remedy: run the test again" in errors


def test_foreign_xml_is_named_with_its_root(logs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(logs, "t/foreign", "<coverage/>")
    code, _ = merge(logs)
    assert code == 1 and "its root is <coverage>" in capsys.readouterr().err


def test_file_without_cases_is_an_error(logs: pathlib.Path) -> None:
    put(logs, "t/empty", suite())
    assert outcomes(logs) == {"//t:empty": Outcome.ERROR}


def test_target_of_skips_alone_is_not_passed(logs: pathlib.Path) -> None:
    put(logs, "t/a", suite("<testcase name='a'><skipped message='no board'/></testcase>"))
    assert outcomes(logs) == {"//t:a": Outcome.SKIPPED}


def test_folder_without_results_is_refused_with_a_remedy(logs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert merge(logs)[0] == 2
    assert "holds no test.xml" in (errors := capsys.readouterr().err) and "remedy: run `./bazelw test" in errors


def test_folder_that_does_not_exist_is_refused(logs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert merge(logs, str(logs / "none"))[0] == 2 and "no such folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("label", "said", "environment", "family"),
    [
        ("//tests/ops:ops_qemu_x100", "qemu_x100", "qemu_x100", "//tests/ops:ops"),
        ("//tests/ops:ops_x100_test", "qemu_x100", "qemu_x100", "//tests/ops:ops_test"),
        ("//tests/ops:ops_x100_test", "qemu_x100_vlen512", "qemu_x100_vlen512", "//tests/ops:ops_x100_test"),
        ("//tests/ime2:kernel_qemu_a100_clang", "", "qemu_a100", "//tests/ime2:kernel_clang"),
        ("//tests/sm10:test_board_qemu_sm10", "", "qemu_sm10", "//tests/sm10:test_board"),
        ("//tests/sm10:test_board_sm10", "", "sm10", "//tests/sm10:test_board"),
        ("//tests/wheel:installed", "qemu_scalar", "qemu_scalar", "//tests/wheel:installed"),
        ("//tests/wheel:wheel", "host", "host", "//tests/wheel:wheel"),
        ("//tests/x100:scalars", "", "host", "//tests/x100:scalars"),
    ],
)
def test_environment_is_what_the_run_said_or_the_name(label: str, said: str, environment: str, family: str) -> None:
    found = cells.environment_of(label, {"environment": said} if said else {}, LEVELS)
    assert (found, cells.family_of(label, found)) == (environment, family)


def test_merged_file_has_every_case_once(logs: pathlib.Path) -> None:
    put(logs, "t/a_x100", suite(PASSED, FAILED, environment="x100"))
    put(logs, "t/a_scalar", suite(PASSED, environment="scalar"))
    root = ElementTree.parse(merge(logs)[1] / "junit.xml").getroot()
    found = {suite.get("name"): [case.get("name") for case in suite.iter("testcase")] for suite in root}
    assert found == {"//t:a_x100": ["one", "two"], "//t:a_scalar": ["one"]}


def test_merged_file_keeps_properties(logs: pathlib.Path) -> None:
    put(logs, "t/a", suite(PASSED, environment="x100"))
    root = ElementTree.parse(merge(logs)[1] / "junit.xml").getroot()
    assert {entry.get("name"): entry.get("value") for entry in root.iter("property")} == {"environment": "x100", "outcome": "passed"}


def test_merged_file_keeps_xml_characters(logs: pathlib.Path) -> None:
    put(logs, "t/a", suite("<testcase name='&lt;a &amp; &quot;b&quot;&gt;]]&gt;'/>"))
    (case,) = ElementTree.parse(merge(logs)[1] / "junit.xml").getroot().iter("testcase")
    assert case.get("name") == '<a & "b">]]>'


def test_large_output_is_cut_with_a_notice(logs: pathlib.Path) -> None:
    put(logs, "t/a", suite(f"<testcase name='a'><system-out>{'x' * 10_000_000}</system-out></testcase>"))
    text = (merge(logs)[1] / "junit.xml").read_text()
    assert "of 10000000 characters left out" in text and len(text) < 1 << 18


def test_large_log_is_cut_with_a_notice(logs: pathlib.Path) -> None:
    put(logs, "t/a", suite(PASSED), log="first\n" + "x" * 10_000_000 + "\nlast\n")
    text = (merge(logs)[1] / "logs/t/a.log.txt").read_text()
    assert text.startswith("first\n") and text.endswith("\nlast\n") and "bytes left out" in text and len(text) < 1 << 20


def listing(folder: pathlib.Path, *rows: dict) -> pathlib.Path:
    """What //tests:matrix prints."""
    path = folder / "matrix.json"
    path.write_text(json.dumps([{"runs": False, "broken": False, "why_not": ""} | row for row in rows]))
    return path


def test_cell_that_cannot_run_is_shown_with_its_reason(logs: pathlib.Path) -> None:
    put(logs, "t/a_qemu_x100", suite(PASSED))
    why = listing(logs.parent, {"label": "//t:a_qemu_x100", "runs": True}, {"label": "//t:a_qemu_scalar", "why_not": "qemu_scalar has no v"})
    assert "qemu_scalar has no v" in (merge(logs, str(logs), "--matrix", str(why))[1] / "index.html").read_text()


def test_cell_that_left_no_result_is_an_error(logs: pathlib.Path) -> None:
    put(logs, "t/a_qemu_x100", suite(PASSED))
    path = listing(logs.parent, {"label": "//t:a_qemu_x100", "runs": True}, {"label": "//t:a_qemu_a100", "runs": True})
    root = ElementTree.parse(merge(logs, str(logs), "--matrix", str(path))[1] / "junit.xml").getroot()
    assert {suite.get("name"): suite.find("testcase/error") is not None for suite in root} == {"//t:a_qemu_a100": True, "//t:a_qemu_x100": False}


def test_other_file_in_place_of_the_listing_is_refused_with_a_remedy(logs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(logs, "t/a", suite(PASSED))
    path = logs.parent / "other.json"
    path.write_text("{}x")
    assert merge(logs, str(logs), "--matrix", str(path))[0] == 2 and "remedy: give what `./bazelw run //tests:matrix" in capsys.readouterr().err


class Page(html.parser.HTMLParser):
    """What the page links to, its anchors, its open and its closed elements, and the first words of its matrix's rows."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.sources: list[str] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [found["href"]] if tag == "a" else []
        self.anchors |= {found["id"]} if found.get("id") else set()
        self.sources += [found.get("src") or found.get("href") or ""] if tag in ("img", "link", "script", "iframe") else []

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def page(logs: pathlib.Path) -> Page:
    """A page of a passed, a failed and a missing result, the bad ones last by name."""
    put(logs, "t/a_x100", suite(PASSED, environment="x100"))
    put(logs, "t/y_x100", suite("<testcase name='&lt;script&gt;'><failure message='&lt;b&gt;'>no</failure></testcase>"))
    put(logs, "t/z_scalar", None)
    return Page(merge(logs)[1] / "index.html")


def test_page_loads_nothing(page: Page) -> None:
    assert page.sources == []


def test_links_of_the_page_lead_somewhere(page: Page, logs: pathlib.Path) -> None:
    missing = [link for link in page.links if not (link[1:] in page.anchors if link.startswith("#") else (logs.parent / "out" / link).is_file())]
    assert page.links and not missing


def test_bad_rows_of_the_matrix_come_first(page: Page) -> None:
    matrix = page.text.partition("Targets")[0]
    assert matrix.index("t:z") < matrix.index("t:y") < matrix.index("t:a")


def test_markup_in_names_is_text(page: Page) -> None:
    assert "<script>" in page.text


def events(folder: pathlib.Path, *lines: dict, ended: bool = True) -> pathlib.Path:
    """A build event file."""
    path = folder / "events.json"
    everything = [{"id": {"started": {}}, "started": {}}, *lines, *([{"id": {"progress": {}}, "lastMessage": True}] if ended else [])]
    path.write_text("".join(json.dumps(line) + "\n" for line in everything))
    return path


def configured(label: str) -> dict:
    """A test of the build."""
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": "host_pytest_test rule", "testSize": "SMALL"}}


def result(label: str, status: str, folder: pathlib.Path | None) -> dict:
    """A test's end."""
    files = [{"name": name, "uri": (folder / name).as_uri()} for name in ("test.log", "test.xml") if folder and (folder / name).exists()]
    return {"id": {"testResult": {"label": label, "run": 1, "shard": 1, "attempt": 1}}, "testResult": {"status": status, "testActionOutput": files}}


def by_events(path: pathlib.Path) -> dict[str, tuple[Outcome, str]]:
    """Outcome and message of each target."""
    found = command.build_events.collect(path, LEVELS).cells
    return {cell.label: (cell.outcome, cell.incompatible or next((case.message for case in cell.cases if case.outcome.bad), "")) for cell in found}


def test_incompatible_target_is_neither_passed_nor_absent(logs: pathlib.Path) -> None:
    skipped = {"id": {"targetCompleted": {"label": "//t:a"}}, "aborted": {"reason": "SKIPPED", "description": "not for this CPU"}}
    ((outcome, message),) = by_events(events(logs, configured("//t:a"), skipped)).values()
    assert outcome == Outcome.INCOMPATIBLE and "not for this CPU" in message


def test_target_that_was_not_built_is_an_error(logs: pathlib.Path) -> None:
    broken = {"id": {"targetCompleted": {"label": "//t:a"}}, "completed": {}}
    outcome, message = by_events(events(logs, configured("//t:a"), broken))["//t:a"]
    assert outcome == Outcome.ERROR and message.startswith("not built")


def test_target_that_ran_out_of_time_without_a_file_is_an_error(logs: pathlib.Path) -> None:
    outcome, message = by_events(events(logs, configured("//t:a"), result("//t:a", "TIMEOUT", None)))["//t:a"]
    assert outcome == Outcome.ERROR and "TIMEOUT" in message


def test_target_that_bazel_calls_failed_is_not_passed(logs: pathlib.Path) -> None:
    folder = put(logs, "t/a", suite(PASSED))
    assert by_events(events(logs, configured("//t:a"), result("//t:a", "FAILED", folder)))["//t:a"][0] == Outcome.ERROR


def test_target_whose_turn_never_came_is_an_error(logs: pathlib.Path) -> None:
    folder = put(logs, "t/a", suite(PASSED))
    found = by_events(events(logs, configured("//t:a"), configured("//t:b"), result("//t:a", "PASSED", folder), ended=False))
    assert found["//t:a"][0] == Outcome.PASSED and "the build was killed" in found["//t:b"][1]


def test_half_a_last_line_is_what_a_killed_build_leaves(logs: pathlib.Path) -> None:
    path = events(logs, configured("//t:a"), ended=False)
    path.write_text(path.read_text() + '{"id": {"testRe')
    assert by_events(path)["//t:a"][0] == Outcome.ERROR


def test_shard_that_bazel_does_not_report_is_an_error(logs: pathlib.Path) -> None:
    folder = put(logs, "t/a", suite(PASSED))
    shards = {"id": {"testSummary": {"label": "//t:a"}}, "testSummary": {"shardCount": 2}}
    assert by_events(events(logs, configured("//t:a"), result("//t:a", "PASSED", folder), shards))["//t:a"][0] == Outcome.ERROR


def test_other_json_is_refused_with_a_remedy(logs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs / "other.json").write_text('{"a": 1}\n')
    assert merge(logs, "--build_event_json_file", str(logs / "other.json"))[0] == 2
    assert "no build events" in (errors := capsys.readouterr().err) and "remedy" in errors
