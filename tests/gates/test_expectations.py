# SPDX-License-Identifier: Apache-2.0
"""The reviewed files are read, hold the published figures, and wrong ones are refused."""

from __future__ import annotations

import made
import pytest
from ci.gates import report
from ci.gates.expectations import read_expectations

# As published, in its row order.
GEMM_ROWS = (
    "smollm2-135m-k576-n1536 smollm2-360m-k960-n2560 qwen2.5-0.5b-k896-n4864 tinyllama-1.1b-k2048-n5632 qwen2.5-1.5b-k1536-n8960 "
    "stablelm2-1.6b-k2048-n5632 smollm2-1.7b-k2048-n8192 phi-2-k2560-n10240 qwen2.5-3b-k2048-n11008"
).split()
GEMM = "28.18/69.37 34.23/86.75 32.19/81.73 37.20/95.25 37.05/95.06 37.04/94.77 37.06/94.07 36.48/92.79 36.96/94.41".split()
MODELS = (
    "smollm2-135m smollm2-360m qwen2.5-0.5b tinyllama-1.1b qwen2.5-1.5b deepseek-r1-distill-qwen-1.5b stablelm2-1.6b smollm2-1.7b phi-2 qwen2.5-3b"
).split()
IME2 = "87.11/11.14 49.80/8.44 48.88/9.57 30.09/7.38 24.98/6.11 24.79/6.25 21.02/5.04 17.10/4.74 14.77/3.66 14.47/3.86".split()
X100 = "1.95/1.27 0.75/0.53 0.67/0.43 0.23/0.17 0.18/0.11 0.18/0.11 0.18/0.12 0.12/0.10 0.09/0.07 0.09/0.06".split()


def published() -> dict[str, float]:
    """All published figures by metric."""
    found = {}
    for rows, values, form, parts in (
        (GEMM_ROWS, GEMM, "gemm/published/cores1/{}/{}", ("m1", "m4")),
        (MODELS, IME2, "generate/a100-int4/{}/{}", ("prompt", "decode")),
        (MODELS, X100, "generate/x100-bf16/{}/{}", ("prompt", "decode")),
    ):
        for row, pair in zip(rows, values, strict=True):
            found |= {form.format(row, part): float(value) for part, value in zip(parts, pair.split("/"), strict=True)}
    return found


def test_the_files_hold_the_published_figures() -> None:
    figures = read_expectations(report.default_expectations()).figures
    assert {name: figure.value for name, figure in figures.items() if not name.startswith("serve/")} == published()


def test_nobody_has_measured_a_server() -> None:
    figures = read_expectations(report.default_expectations()).figures
    assert {figure.value for name, figure in figures.items() if name.startswith("serve/")} == {None}


def test_the_default_expectations_pass_no_board_before_calibration(bench: made.Bench) -> None:
    from ci.gates import cli

    document = made.results()
    document["metrics"] = [
        {"name": name, "samples": made.samples(value, 0.001, name), "unit": "GOP/s" if name.startswith("gemm") else "tokens/s"}
        for name, value in sorted(published().items())
    ]
    document["metrics"] += [
        {"name": name, "samples": made.samples(10.0, 0.001, name), "unit": figure.unit}
        for name, figure in read_expectations(report.default_expectations()).figures.items()
        if figure.value is None
    ]
    for moment in ("before", "after"):
        document["fingerprint"][moment]["board"] = "Banana Pi SM10"
    outcome = bench.run(cli.main, bench.file("results.json", made.written(document)))
    assert outcome.code == 25
    assert outcome.text.splitlines()[-1] == f"failed: {len(document['metrics']) + 1} uncalibrated"


TEXT = made.expectations_text()
WRONG = {
    "no TOML": ("version = \n", "TOML"),
    "unended": (TEXT[: TEXT.rindex("margin")], "TOML"),
    "a figure twice": (TEXT + TEXT.splitlines()[-1] + "\n", "TOML"),
    "other version": (TEXT.replace("version = 1", "version = 2"), "this gate reads 1"),
    "other machine": (TEXT.replace('machine = "board"', 'machine = "toaster"'), "is not one of board, emulated"),
    "margin of zero": (TEXT.replace("margin = 0.03", "margin = 0.0", 1), "is no number from 0.001 to 0.25"),
    "margin of NaN": (TEXT.replace("margin = 0.03", "margin = nan", 1), "is no number from 0.001 to 0.25"),
    "value of NaN": (TEXT.replace("value = 30.0", "value = nan"), "is no number from 1e-06 to 1e+12"),
    "wrong direction": (TEXT.replace('"higher"', '"lower"', 1), "of GOP/s higher is better"),
    "unknown unit": (TEXT.replace('"GOP/s"', '"bananas"', 1), "is not one of GOP/s"),
    "unknown source": (TEXT.replace('source = "made"', 'source = "rumour"', 1), "is not in [sources]"),
    "margin of an unmeasured value": (TEXT.replace("value = 30.0", 'value = "unmeasured"'), "is known, but the value is 'unmeasured'"),
    "unknown key": (TEXT + "[more]\n", "more: unknown key"),
    "no board": (TEXT.replace("[board]", "[sources]", 1).replace("[sources]\nmade", "made", 1), "stands in 0 of the files"),
    "fact of the board missing": (TEXT.replace('kernel = "6.18.0-made"\n', ""), "the key 'kernel' is missing"),
    "unsorted": (TEXT.replace('"gemm/small/m1"', '"zzz"'), "are not sorted by name"),
    "nothing expected": (TEXT[: TEXT.index("[metrics]")], "no file expects any"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_expectation_file_is_refused(bench: made.Bench, text: str, message: str) -> None:
    outcome = bench.judge(expectations=text)
    assert message in outcome.text
    assert outcome.code == 14


def test_a_metric_in_two_files_is_refused(bench: made.Bench) -> None:
    from ci.gates import cli

    first = bench.file("first.toml", TEXT)
    second = bench.file("second.toml", 'version = 1\nmachine = "board"\n[sources]\nmade = "x"\n' + TEXT[TEXT.index("[metrics]") :])
    outcome = bench.run(cli.main, bench.file("results.json", made.written(made.results())), "--expectations", first, second)
    assert "also stands in" in outcome.text
    assert outcome.code == 14
