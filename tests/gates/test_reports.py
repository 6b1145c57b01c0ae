# SPDX-License-Identifier: Apache-2.0
"""JUnit, Markdown and HTML say what the terminal says."""

from __future__ import annotations

import copy
import html.parser
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import made
from ci.gates import cli

M1 = "gemm/small/m1"
OUTSIDE = re.compile(r"(?:src|href|@import|url\()\s*=?\s*[\"']?(?:https?:)?//")


def slow(document: made.Document) -> None:
    made.scaled(document, M1, 0.9)


def report(bench: made.Bench, option: str, document: made.Document, *more: str) -> str:
    """What the gate writes for an option."""
    target = bench.folder / "report"
    expected = bench.file("expected.toml", made.expectations_text())
    bench.run(cli.main, bench.file("results.json", made.written(document)), "--expectations", expected, option, str(target), *more)
    return target.read_text(encoding="utf-8")


def regressed() -> made.Document:
    document = copy.deepcopy(made.results())
    slow(document)
    return document


def cases(text: str) -> dict[str, list[str]]:
    """Failure types by JUnit case."""
    return {case.get("name", ""): [failure.get("type", "") for failure in case.iter("failure")] for case in ElementTree.fromstring(text).iter("testcase")}


def test_junit_has_a_case_for_each_metric_and_one_for_the_file(bench: made.Bench) -> None:
    assert cases(report(bench, "--junit", made.results())) == {name: [] for name in ("whole file", *made.FIGURES)}


def test_junit_fails_the_metric_that_failed(bench: made.Bench) -> None:
    assert cases(report(bench, "--junit", regressed()))[M1] == ["regression"]


def test_junit_of_a_foreign_board_fails_the_file(bench: made.Bench) -> None:
    document = made.results()
    document["fingerprint"]["before"]["board"] = "Other"
    assert cases(report(bench, "--junit", document))["whole file"] == ["foreign board", "changed"]


def test_junit_is_written_for_a_file_that_cannot_be_read(bench: made.Bench) -> None:
    target = bench.folder / "junit.xml"
    bench.judge_text("{", None, "--junit", str(target))
    assert cases(target.read_text()) == {"whole file": ["truncated"]}


def test_the_summary_names_verdict_fault_remedy_and_replacement(bench: made.Bench) -> None:
    text = report(bench, "--summary", regressed())
    assert "**failed: 1 regression**" in text
    assert f"- **regression** (27) {M1}: median" in text
    assert "\n\n  _Remedy:_ find the commit" in text
    assert f'"{M1}" = {{ value = 27' in text


def test_summaries_of_two_steps_follow_each_other(bench: made.Bench) -> None:
    report(bench, "--summary", made.results())
    assert report(bench, "--summary", regressed()).count("\n## ") == 1


def test_the_summary_shows_hostile_text_as_text(bench: made.Bench) -> None:
    document = made.results()
    document["fingerprint"]["before"]["board"] = "<b>x</b>|[y](z)"
    text = report(bench, "--summary", document)
    assert "&lt;b&gt;x&lt;/b&gt;\\|\\[y\\](z)" in text


class Tags(html.parser.HTMLParser):
    """Counts elements and checks that they close."""

    void = frozenset({"meta", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(text: str) -> Tags:
    parser = Tags()
    parser.feed(text)
    assert parser.open == []
    return parser


def history(folder: Path, days: int) -> str:
    """Earlier runs, one a day, and one of another board."""
    folder.mkdir()
    for day in range(1, days + 1):
        document = copy.deepcopy(made.results())
        document["started"] = f"2026-11-{day:02}T20:00:00Z"
        made.scaled(document, M1, 1 + 0.002 * day)
        (folder / f"{day}.json").write_text(made.written(document))
    document = copy.deepcopy(made.results())
    document["fingerprint"]["before"]["board"] = "Other"
    (folder / "other.json").write_text(made.written(document))
    return str(folder)


def test_the_page_plots_each_metrics_history(bench: made.Bench) -> None:
    parser = tags(report(bench, "--html", regressed(), "--history", history(bench.folder / "past", 5)))
    assert (parser.seen["svg"], parser.seen["circle"]) == (4, 24)


def test_only_the_current_runs_points_are_filled(bench: made.Bench) -> None:
    document = regressed()
    del document["metrics"][1]
    assert report(bench, "--html", document, "--history", history(bench.folder / "past", 5)).count('class="point now"') == 3


def test_the_page_says_how_many_runs_are_left_out(bench: made.Bench) -> None:
    assert "1 earlier runs of other machines" in report(bench, "--html", made.results(), "--history", history(bench.folder / "past", 1))


def test_the_page_loads_nothing_and_runs_nothing(bench: made.Bench) -> None:
    text = report(bench, "--html", regressed(), "--history", history(bench.folder / "past", 2))
    assert not OUTSIDE.search(text)
    assert "<script" not in text


def test_the_page_shows_hostile_text_as_text(bench: made.Bench) -> None:
    document = made.results()
    document["tool"]["name"] = "<script>alert(1)</script>"
    text = report(bench, "--html", document)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_a_broken_file_in_the_history_fails_the_gate(bench: made.Bench) -> None:
    past = bench.folder / "past"
    past.mkdir()
    (past / "old.json").write_text("{")
    outcome = bench.judge(lambda document: None, None, "--history", str(past))
    assert "old.json: the file ends too early" in outcome.text
    assert outcome.code == 11


def test_a_report_that_cannot_be_written_fails_the_gate(bench: made.Bench) -> None:
    outcome = bench.judge(lambda document: None, None, "--html", str(bench.folder / "nowhere/report.html"))
    assert "nowhere/report.html: No such file or directory" in outcome.text
    assert outcome.code == 10


def test_an_a_b_page_names_its_columns(bench: made.Bench) -> None:
    from ci.gates import compare_cli

    target, expected = bench.folder / "ab.html", bench.file("expected.toml", made.expectations_text())
    bench.run(compare_cli.main, bench.file("ab.json", made.written(made.session(1.05))), "--expectations", expected, "--html", str(target))
    assert '<th scope="col" class="number">B</th><th scope="col" class="number">A</th>' in target.read_text(encoding="utf-8")
