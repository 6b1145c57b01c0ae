# SPDX-License-Identifier: Apache-2.0
"""Each kind of fault has its exit code and its text."""

from __future__ import annotations

import json
from collections.abc import Callable

import made
import pytest

M1, P99 = "gemm/small/m1", "serve/tiny/p99"


def test_a_run_as_expected_passes(bench: made.Bench) -> None:
    assert bench.judge() == made.Outcome(0, "passed: 4 metrics\n")


def first_value(value: object) -> Callable[[made.Document], None]:
    def change(document: made.Document) -> None:
        made.metric(document, M1)["samples"][0]["value"] = value

    return change


def print_of(moment: str, **facts: object) -> Callable[[made.Document], None]:
    return lambda document: document["fingerprint"][moment].update(facts)


def both_prints(**facts: object) -> Callable[[made.Document], None]:
    def change(document: made.Document) -> None:
        for moment in ("before", "after"):
            document["fingerprint"][moment].update(facts)

    return change


def extra(document: made.Document) -> None:
    document["metrics"].append({"name": "zzz/new", "samples": made.samples(5.0, 0.001, "zzz"), "unit": "ms"})


def fewer_repeats(document: made.Document) -> None:
    document["repeats"] = 4
    for metric in document["metrics"]:
        del metric["samples"][4:]


def noisy(document: made.Document) -> None:
    made.metric(document, M1)["samples"] = made.samples(30.0, 0.3, "noisy")


CASES = {
    "regression": (lambda d: made.scaled(d, M1, 0.95), 27, "regression (27): gemm/small/m1: median 28."),
    "regression where lower is better": (lambda d: made.scaled(d, P99, 1.05), 27, "serve/tiny/p99: median 126"),
    "unexplained win": (lambda d: made.scaled(d, M1, 1.05), 28, "win (28): gemm/small/m1: median 31."),
    "win where lower is better": (lambda d: made.scaled(d, P99, 0.95), 28, "win (28): serve/tiny/p99: median 11"),
    "missing": (lambda d: d["metrics"].pop(0), 23, "missing (23): gemm/small/m1: expected, but not in the results"),
    "extra": (extra, 24, "extra (24): zzz/new: no expectation file has it"),
    "NaN": (first_value(float("nan")), 16, "not a number (16): gemm/small/m1:"),
    "infinite": (first_value(float("inf")), 16, "inf is no measurement"),
    "infinite whole number": (first_value(10**400), 16, "inf is no measurement"),
    "zero": (first_value(0), 16, "0.0 is no measurement"),
    "negative": (first_value(-30.0), 16, "-30.0 is no measurement"),
    "word for a number": (first_value("30"), 12, "metrics[0].samples[0].value: is no number"),
    "true for a number": (first_value(True), 12, "is no number"),
    "null for a number": (first_value(None), 12, "is no number"),
    "duplicate": (lambda d: d["metrics"].insert(0, d["metrics"][0]), 15, "duplicate (15): gemm/small/m1:"),
    "unsorted": (lambda d: d["metrics"].reverse(), 12, "they are sorted by name"),
    "wrong unit": (lambda d: made.metric(d, M1).update(unit="ms"), 22, "unit (22): gemm/small/m1: 'ms', expected 'GOP/s'"),
    "noisy": (noisy, 26, "noisy (26): gemm/small/m1: the median is known to"),
    "too few repeats": (fewer_repeats, 26, "4 samples, at least 5 are needed"),
    "emulated": (lambda d: d.update(machine="emulated"), 17, "speed on an emulator says nothing about a board"),
    "foreign board": (both_prints(board="Other Board"), 18, "foreign board (18): board is 'Other Board', not 'Made Board'"),
    "foreign kernel": (both_prints(kernel="6.19"), 18, "kernel is '6.19', not '6.18.0-made'"),
    "changed during the run": (print_of("after", governor="powersave"), 19, "changed (19): after the run governor is 'powersave', not 'performance'"),
    "throttled": (print_of("after", throttled=True), 20, "the board throttled (51.5 degrees C before, 58 after)"),
    "two wheels": (lambda d: d.update(wheels={"A": made.WHEEL, "B": made.OTHER_WHEEL}), 12, "0 of wheel B, but repeats is 9"),
    "other schema": (lambda d: d.update(schema="other"), 13, "schema 'other' version 1"),
    "later version": (lambda d: d.update(version=2), 13, "this gate reads 'sm10-results' version 1"),
    "true for a version": (lambda d: d.update(version=True), 13, "version True"),
    "unknown key": (lambda d: d.update(note="x"), 12, "top level: unknown key 'note'"),
    "key missing": (lambda d: d.pop("tool"), 12, "the key 'tool' is missing"),
    "sample missing": (lambda d: d["metrics"][0]["samples"].pop(), 12, "8 of wheel A, but repeats is 9"),
    "samples out of order": (lambda d: d["metrics"][0]["samples"].reverse(), 12, "are not in the order of their runs"),
    "unprintable text": (both_prints(board="a\x1b[31m"), 12, "is no printable text"),
    "no metrics": (lambda d: d["metrics"].clear(), 12, "metrics: is no list, or empty"),
    "wheel without digest": (lambda d: d.update(wheels={"A": "abc"}), 12, "is no sha256"),
    "impossible day": (lambda d: d.update(started="2026-02-30T00:00:00Z"), 12, "is no time in UTC"),
}


@pytest.mark.parametrize(("change", "code", "text"), CASES.values(), ids=CASES.keys())
def test_a_fault_has_its_code_and_text(bench: made.Bench, change: Callable[[made.Document], object], code: int, text: str) -> None:
    outcome = bench.judge(change)
    assert text in outcome.text
    assert outcome.code == code


def test_each_fault_names_its_remedy(bench: made.Bench) -> None:
    outcome = bench.judge(extra)
    assert "\n  remedy: have the replacement reviewed" in outcome.text


FILES = {
    "empty": ("", 11, "truncated (11):"),
    "cut": (made.written(made.results())[:-40], 11, "the file ends too early"),
    "last line unended": (made.written(made.results())[:-1], 11, "the file ends too early"),
    "no JSON": ("results\n", 12, "malformed (12):"),
    "a list": ("[]\n", 12, "no object with schema and version"),
    "a key twice": (made.written(made.results()).replace('"tool"', '"version": 1, "tool"', 1), 12, "the key 'version' stands twice"),
    "deeply nested": ("[" * 100000 + "]" * 100000 + "\n", 12, "malformed (12):"),
    "two documents": (made.written(made.results()) * 2, 12, "Extra data"),
}


@pytest.mark.parametrize(("text", "code", "message"), FILES.values(), ids=FILES.keys())
def test_a_broken_file_has_its_code_and_text(bench: made.Bench, text: str, code: int, message: str) -> None:
    outcome = bench.judge_text(text)
    assert message in outcome.text
    assert outcome.code == code


def test_a_file_that_is_not_there_is_unreadable(bench: made.Bench) -> None:
    outcome = bench.judge(lambda document: None, None, "--history", str(bench.folder / "nowhere"))
    assert "unreadable (10):" in outcome.text
    assert outcome.code == 10


def test_all_faults_are_printed_and_the_lowest_code_counts(bench: made.Bench) -> None:
    def change(document: made.Document) -> None:
        made.scaled(document, M1, 0.9)
        made.scaled(document, P99, 0.9)
        del document["metrics"][1]

    outcome = bench.judge(change)
    assert outcome.code == 23
    assert [word in outcome.text for word in ("missing (23)", "regression (27)", "win (28)")] == [True] * 3
    assert "exit code 23: the lowest of 23, 27, 28" in outcome.text


def test_a_nan_does_not_hide_another_metrics_regression(bench: made.Bench) -> None:
    def change(document: made.Document) -> None:
        made.scaled(document, P99, 1.2)
        first_value(float("nan"))(document)

    outcome = bench.judge(change)
    assert "regression (27): serve/tiny/p99" in outcome.text
    assert outcome.code == 16


def test_the_replacement_line_makes_the_run_pass(bench: made.Bench) -> None:
    outcome = bench.judge(lambda document: made.scaled(document, M1, 0.9))
    line = next(line for line in outcome.text.splitlines() if line.startswith(f'"{M1}" = '))
    old = next(line for line in made.expectations_text().splitlines() if line.startswith(f'"{M1}" = '))
    again = bench.judge(lambda document: made.scaled(document, M1, 0.9), made.expectations_text().replace(old, line))
    assert again.code == 0


def test_an_uncalibrated_margin_passes_nothing(bench: made.Bench) -> None:
    outcome = bench.judge(expectations=made.expectations_text('"uncalibrated"'))
    assert outcome.code == 25
    assert outcome.text.count("no margin is known") == len(made.FIGURES)


def test_an_unmeasured_board_passes_nothing(bench: made.Bench) -> None:
    outcome = bench.judge(expectations=made.expectations_text().replace('kernel = "6.18.0-made"', 'kernel = "unmeasured"'))
    assert outcome.code == 25
    assert "[board] says unmeasured for kernel" in outcome.text


def test_emulated_runs_pass_only_an_emulated_gate(bench: made.Bench) -> None:
    figures = "\n".join(f"{json.dumps(name)} = {{ unit = {json.dumps(unit)} }}" for name, (_, unit) in sorted(made.FIGURES.items()))
    text = f'version = 1\nmachine = "emulated"\n[metrics]\n{figures}\n'
    outcome = bench.judge(lambda document: document.update(machine="emulated"), text)
    assert outcome == made.Outcome(0, "passed, function only (an emulator's speed is not judged): 4 metrics\n")
    assert bench.judge(expectations=text).code == 17


def test_faults_with_one_remedy_say_it_once(bench: made.Bench) -> None:
    outcome = bench.judge(lambda document: document["metrics"].__delitem__(slice(2)))
    assert outcome.text.count("missing (23)") == 2
    assert outcome.text.count("remedy:") == 1


def test_a_throttled_run_gives_no_replacement_figures(bench: made.Bench) -> None:
    def change(document: made.Document) -> None:
        made.scaled(document, M1, 0.9)
        document["fingerprint"]["after"]["throttled"] = True

    outcome = bench.judge(change)
    assert "regression (27)" in outcome.text
    assert f'"{M1}" = ' not in outcome.text


def test_an_unmeasured_figure_fails_with_its_replacement(bench: made.Bench) -> None:
    line = '"gemm/small/m1" = { value = 30.0, unit = "GOP/s", direction = "higher", margin = 0.03, source = "made" }'
    text = made.expectations_text()
    assert line in text
    outcome = bench.judge(expectations=text.replace(line, line.replace("30.0", '"unmeasured"').replace("0.03", '"uncalibrated"')))
    assert outcome.code == 25
    assert "no figure is known" in outcome.text
    assert '"gemm/small/m1" = { value = 3' in outcome.text
