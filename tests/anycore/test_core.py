# SPDX-License-Identifier: Apache-2.0
"""The shipped wheel on a machine whose cores are all alike: its level, what it says of itself, every op with random input."""

from __future__ import annotations

import dataclasses
import json
import os
import sys

import fuzz
import pytest
import registry
import torch
import vllm_sm10.__main__
import vllm_sm10.process

VLEN = int(os.environ["SM10_VLEN"])
LEVEL = {128: "rvv128", 256: "x100"}.get(VLEN, "scalar")
CASES = 160


@pytest.fixture(name="found", scope="module")
def _found() -> vllm_sm10.inventory.Capabilities:
    return vllm_sm10.capabilities()


@pytest.fixture(name="tally", scope="module")
def _tally(registered_ops: frozenset[str]) -> fuzz.Tally:
    tally = fuzz.run(registered_ops, CASES, seed=VLEN)
    print(f"VLEN {VLEN}: {tally}")
    return tally


def test_thread_runs_the_level_of_its_core(found: vllm_sm10.inventory.Capabilities) -> None:
    assert (found.level, registry.op("sm10_level")()) == (LEVEL, LEVEL)


def test_record_tells_the_cores_vlen(found: vllm_sm10.inventory.Capabilities) -> None:
    assert (found.core.vlen or 0) == VLEN


def test_record_names_every_op_of_the_library(found: vllm_sm10.inventory.Capabilities, registered_ops: frozenset[str]) -> None:
    names = {name.removeprefix("_C::").partition(".")[0] for name in registered_ops}
    assert {op.name for op in found.ops} == names - {"ime2_start_workers", "ime2_stop_workers", "sm10_level"}


def test_record_denies_what_computes_nowhere(found: vllm_sm10.inventory.Capabilities) -> None:
    assert {op.name for op in found.ops if not op.levels} == registry.REFUSED_EVERYWHERE


def test_attention_reports_rvv_where_a_vector_level_runs() -> None:
    assert registry.op("cpu_attn_has_isa")("rvv") is (LEVEL != "scalar")


def test_op_that_the_record_denies_raises_and_no_other(tally: fuzz.Tally, found: vllm_sm10.inventory.Capabilities) -> None:
    denied = {op.name for op in found.ops if op.runs_at is None and op.levels and "portable" not in op.remedy}
    assert (set(tally.refused), denied) == (registry.VECTOR_ONLY & denied, denied)
    assert bool(denied) is (LEVEL == "scalar")


def test_op_without_code_names_op_need_hart_found_and_remedy() -> None:
    if LEVEL != "scalar":
        out, scale = torch.empty(2, 16, dtype=torch.int8), torch.empty(2, 1)
        registry.op("dynamic_scaled_int8_quant")(out, torch.ones(2, 16), scale, None)
        assert out.tolist() == [[127] * 16] * 2
        return
    found = rf"it has VLEN {VLEN}\." if VLEN else r"it has no vector unit \(V\)\."
    message = (
        r"^dynamic_scaled_int8_quant: vLLM has this kernel for the levels rvv128 \(VLEN 128, zvfh, zfbfmin, zvfbfmin\), "
        r"x100 \(VLEN 256, zvfh, zfbfmin, zvfbfmin\) only; "
        rf"the calling thread is on hart \d+, which runs level scalar: {found} Run on cores of one of those levels"
    )
    with pytest.raises(RuntimeError, match=message):
        registry.op("dynamic_scaled_int8_quant")(torch.empty(2, 16, dtype=torch.int8), torch.ones(2, 16), torch.empty(2, 1), None)


def test_no_case_gives_a_wrong_number(tally: fuzz.Tally) -> None:
    assert tally.wrong == []


def test_fuzz_runs_all_its_cases(tally: fuzz.Tally) -> None:
    assert tally.cases >= CASES


def test_fuzz_reaches_every_op(tally: fuzz.Tally, registered_ops: frozenset[str]) -> None:
    reached = set(tally.right) | set(tally.refused)
    assert sorted(set(fuzz.by_op(registered_ops)) - reached - registry.REFUSED_EVERYWHERE) == []


def test_plugin_checks_the_process_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise vllm_sm10.blas.BlasError("refused")

    monkeypatch.setattr(vllm_sm10.process, "check", refuse)
    with pytest.raises(vllm_sm10.blas.BlasError, match="^refused$"):
        vllm_sm10.register()


def test_long_fuzz_refuses_a_thread_where_torchs_products_are_wrong(
    registered_ops: frozenset[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise vllm_sm10.blas.BlasError("wrong products")

    monkeypatch.setattr(sys, "argv", ["fuzz"])
    monkeypatch.setattr(registry, "load_library", lambda path: registered_ops)
    monkeypatch.setattr(vllm_sm10.process, "check", refuse)
    with pytest.raises(SystemExit) as ended:
        fuzz.main()
    assert (ended.value.code, capsys.readouterr().err) == (2, "fuzz: wrong products\n")


def test_command_prints_the_record_for_people(
    found: vllm_sm10.inventory.Capabilities, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["vllm_sm10"])
    assert vllm_sm10.__main__.main() == 0
    text = capsys.readouterr().out
    running = sum(op.runs_at is not None for op in found.ops)
    assert f"level: {LEVEL} ({found.why})\n" in text
    assert f"ops: {running} of {len(found.ops)} run on this thread\n" in text


def test_command_prints_the_record_as_json(
    found: vllm_sm10.inventory.Capabilities, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["vllm_sm10", "--json"])
    vllm_sm10.__main__.main()
    assert json.loads(capsys.readouterr().out)["ops"] == json.loads(json.dumps([dataclasses.asdict(op) for op in found.ops]))
