# SPDX-License-Identifier: Apache-2.0
"""Each benchmark on the emulated SM10, then the gate: passes as emulated, is refused as a board's, and misses what was not measured."""

from __future__ import annotations

import json

import pytest

FOREIGN, MISSING = 17, 23
GEMM = {f"gemm/{kernel}/cores{cores}/other-k256-n64/m4": "GOP/s" for kernel, cores in (("packed", 1), ("packed", 8), ("published", 1))}
# One way each: every engine is a process that imports torch and vLLM, two minutes under emulation.
GENERATION = {f"generate/x100-bf16/tiny-llama/{phase}": "tokens/s" for phase in ("decode", "prompt")}
SERVING = {
    f"serve/a100-int4/tiny-llama/streams{streams}/{what}": "requests/s" if what == "requests" else "ms"
    for streams in (1, 2)
    for what in ("requests", *(f"{kind}-p{percent}" for kind in ("first", "latency", "token") for percent in (50, 90, 99)))
}


@pytest.fixture(scope="session")
def gemm(tool) -> str:
    tool.run(
        "sm10-bench",
        "gemm",
        "--shape",
        "256,64",
        "--m",
        "4",
        "--cores",
        "1,8",
        "--repeats",
        "2",
        "--min-ms",
        "0",
        "--emulated",
        "--output",
        "gemm.json",
        code=0,
    )
    return "gemm.json"


@pytest.fixture(scope="session")
def generation(tool) -> str:
    """With a model that is not there."""
    said = tool.engines("generate", "generation.json", "--way", "x100-bf16", "--model", "absent", code=1)
    assert "x100-bf16/absent: models/absent holds no config.json" in said
    return "generation.json"


@pytest.fixture(scope="session")
def serving(tool) -> str:
    tool.engines("serve", "serving.json", "--way", "a100-int4", "--streams", "1,2", "--requests", "1")
    return "serving.json"


def test_products_pass_the_emulated_gate(tool, gemm: str) -> None:
    tool.run("sm10-gates", gemm, "--expectations", tool.expect("gemm.toml", GEMM), code=0)


def test_products_of_an_emulator_are_refused_by_the_boards_gate(tool, gemm: str) -> None:
    tool.run("sm10-gates", gemm, code=FOREIGN)


def test_generation_passes_the_emulated_gate(tool, generation: str) -> None:
    tool.run("sm10-gates", generation, "--expectations", tool.expect("generation.toml", GENERATION), code=0)


def test_a_missing_model_is_missing_for_the_gate(tool, generation: str) -> None:
    expected = GENERATION | {"generate/x100-bf16/absent/decode": "tokens/s"}
    assert "generate/x100-bf16/absent/decode" in tool.run("sm10-gates", generation, "--expectations", tool.expect("absent.toml", expected), code=MISSING)


def test_generation_of_an_emulator_is_refused_by_the_boards_gate(tool, generation: str) -> None:
    tool.run("sm10-gates", generation, code=FOREIGN)


def test_results_name_the_wheel(tool, generation: str) -> None:
    import hashlib
    import os
    from pathlib import Path

    document = json.loads((tool.folder / generation).read_text())
    assert document["wheels"] == {"A": hashlib.sha256(Path(os.environ["SM10_TEST_WHEEL"]).read_bytes()).hexdigest()}


def test_serving_passes_the_emulated_gate(tool, serving: str) -> None:
    tool.run("sm10-gates", serving, "--expectations", tool.expect("serving.toml", SERVING), code=0)


def test_every_latency_is_at_least_that_of_the_first_token(tool, serving: str) -> None:
    values = {metric["name"]: [sample["value"] for sample in metric["samples"]] for metric in json.loads((tool.folder / serving).read_text())["metrics"]}
    pairs = zip(values["serve/a100-int4/tiny-llama/streams2/first-p50"], values["serve/a100-int4/tiny-llama/streams2/latency-p50"], strict=True)
    assert all(first < whole for first, whole in pairs)


def test_another_wheel_than_the_installed_one_is_refused(tool) -> None:
    import zipfile

    with zipfile.ZipFile(tool.folder / "other.whl", "w") as wheel:
        wheel.writestr("vllm-9.dist-info/RECORD", "vllm/__init__.py,sha256=AAAA,1\n")
    said = tool.run("sm10-bench", "generate", "--models", "models", "--wheel", "other.whl", "--emulated", "--output", "other.json", code=2)
    assert "has another vllm than other.whl: vllm/__init__.py differs" in said
    assert not (tool.folder / "other.json").exists()
