# SPDX-License-Identifier: Apache-2.0
"""A/B and A/A on one board."""

from __future__ import annotations

import copy
from collections.abc import Callable

import made
import pytest
from ci.gates import calibrate_cli, compare_cli


def compare(bench: made.Bench, document: made.Document, *options: str) -> made.Outcome:
    expected = bench.file("expected.toml", made.expectations_text())
    return bench.run(compare_cli.main, bench.file("ab.json", made.written(document)), "--expectations", expected, *options)


def compare_two(bench: made.Bench, document: made.Document, change: Callable[[made.Document], object] = lambda half: None) -> made.Outcome:
    expected = bench.file("expected.toml", made.expectations_text())
    b = made.only(document, "B")
    change(b)
    files = bench.file("a.json", made.written(made.only(document, "A"))), bench.file("b.json", made.written(b))
    return bench.run(compare_cli.main, *files, "--expectations", expected)


VERDICTS = {
    "equal": (1.0, 0, "passed, B is better in 0, no difference in 4: 4 metrics"),
    "better": (1.05, 0, "passed, B is better in 4, no difference in 0: 4 metrics"),
    "worse": (0.95, 27, "failed: 4 regression"),
    "worse within the margin": (0.98, 0, "no difference in 4"),
}


@pytest.mark.parametrize(("factor", "code", "text"), VERDICTS.values(), ids=VERDICTS.keys())
def test_a_session_has_its_verdict(bench: made.Bench, factor: float, code: int, text: str) -> None:
    outcome = compare(bench, made.session(factor))
    assert text in outcome.text
    assert outcome.code == code


@pytest.mark.parametrize(("factor", "code", "text"), VERDICTS.values(), ids=VERDICTS.keys())
def test_two_files_of_a_session_have_the_same_verdict(bench: made.Bench, factor: float, code: int, text: str) -> None:
    outcome = compare_two(bench, made.session(factor))
    assert text in outcome.text
    assert outcome.code == code


def drifting(document: made.Document) -> None:
    for item in document["metrics"]:
        for sample in item["samples"]:
            sample["value"] *= 1 - 0.02 * (sample["run"] // 2)


def test_a_drift_that_both_wheels_suffer_is_no_difference(bench: made.Bench) -> None:
    document = made.session()
    drifting(document)
    assert compare(bench, document).code == 0


def blocks(document: made.Document) -> None:
    """All of A before all of B."""
    for item in document["metrics"]:
        ordered = sorted(item["samples"], key=lambda sample: sample["wheel"])
        item["samples"] = [sample | {"run": run} for run, sample in enumerate(ordered)]


def noisy(document: made.Document) -> None:
    for i, sample in enumerate(made.metric(document, "gemm/small/m1")["samples"]):
        sample["value"] *= 1 + 0.3 * (i * 7 % 5 - 2)


REFUSED = {
    "not in turns": (blocks, 21, "runs 0 and 1 are of A and A"),
    "one wheel twice": (lambda d: d.update(wheels={"A": made.WHEEL, "B": made.WHEEL}), 21, "A and B are the same wheel"),
    "noisy": (noisy, 26, "noisy (26): gemm/small/m1: B / A ="),
    "emulated": (lambda d: d.update(machine="emulated"), 17, "an emulator's speed says nothing about a board"),
    "changed": (lambda d: d["fingerprint"]["after"].update(kernel="other"), 19, "kernel is 'other'"),
    "throttled": (lambda d: d["fingerprint"]["after"].update(throttled=True), 20, "the board throttled"),
    "foreign board": (lambda d: [d["fingerprint"][moment].update(board="Other") for moment in ("before", "after")], 25, "no margin is known"),
    "NaN": (lambda d: d["metrics"][0]["samples"][3].update(value=float("nan")), 16, "nan is no measurement"),
}


@pytest.mark.parametrize(("change", "code", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_a_worthless_session_is_refused(bench: made.Bench, change: Callable[[made.Document], object], code: int, text: str) -> None:
    document = copy.deepcopy(made.session())
    change(document)
    outcome = compare(bench, document)
    assert text in outcome.text
    assert outcome.code == code


def test_a_foreign_board_is_compared_with_a_margin_given(bench: made.Bench) -> None:
    document = made.session(0.95)
    for moment in ("before", "after"):
        document["fingerprint"][moment]["board"] = "Other"
    assert compare(bench, document, "--margin", "3%").code == 27
    assert compare(bench, document, "--margin", "0.1").code == 0


def test_a_run_of_one_wheel_is_no_comparison(bench: made.Bench) -> None:
    assert compare(bench, made.results()).code == 21


TWO = {
    "other board": (lambda b: b["fingerprint"]["before"].update(board="Other"), 18),
    "other machine": (lambda b: b.update(machine="emulated"), 17),
    "fewer metrics": (lambda b: b["metrics"].pop(), 23),
    "other unit": (lambda b: b["metrics"][0].update(unit="ms"), 22),
    "both throttled": (lambda b: b["fingerprint"]["before"].update(throttled=True), 20),
    "not the same session": (lambda b: [s.update(run=s["run"] + 100) for item in b["metrics"] for s in item["samples"]], 21),
    "the same runs": (lambda b: [s.update(run=i * 2) for item in b["metrics"] for i, s in enumerate(item["samples"])], 21),
}


@pytest.mark.parametrize(("change", "code"), TWO.values(), ids=TWO.keys())
def test_two_files_that_do_not_belong_together_are_refused(bench: made.Bench, change: Callable[[made.Document], object], code: int) -> None:
    assert compare_two(bench, made.session(), change).code == code


def test_a_gate_refuses_two_wheels(bench: made.Bench) -> None:
    outcome = bench.judge_text(made.written(made.session()))
    assert "holds two wheels, a gate judges one" in outcome.text
    assert outcome.code == 21


def calibrate(bench: made.Bench, document: made.Document, expectations: str) -> made.Outcome:
    return bench.run(calibrate_cli.main, bench.file("aa.json", made.written(document)), "--expectations", bench.file("expected.toml", expectations))


def test_calibration_prints_what_makes_the_gate_judge(bench: made.Bench) -> None:
    unknown = made.expectations_text('"uncalibrated"').replace('kernel = "6.18.0-made"', 'kernel = "unmeasured"')
    outcome = calibrate(bench, made.session(other=made.WHEEL), unknown)
    assert outcome.code == 0
    lines = outcome.text.splitlines()
    text = 'version = 1\nmachine = "board"\n[sources]\nmade = "this test"\n' + "\n".join([*lines[1:10], "[metrics]", *lines[10:14]])
    assert bench.judge(expectations=text) == made.Outcome(0, "passed: 4 metrics\n")
    assert bench.judge(lambda document: made.scaled(document, "gemm/small/m1", 0.95), text).code == 27


def test_calibration_refuses_two_wheels(bench: made.Bench) -> None:
    outcome = calibrate(bench, made.session(), made.expectations_text())
    assert "A and B are two wheels" in outcome.text
    assert outcome.code == 21


def test_calibration_refuses_a_noisy_board(bench: made.Bench) -> None:
    document = made.session(other=made.WHEEL)
    noisy(document)
    outcome = calibrate(bench, document, made.expectations_text())
    assert "equal wheels ask for a margin of" in outcome.text
    assert outcome.code == 26


def test_calibration_must_cover_every_expected_metric(bench: made.Bench) -> None:
    document = made.session(other=made.WHEEL)
    del document["metrics"][0]
    assert calibrate(bench, document, made.expectations_text()).code == 23
