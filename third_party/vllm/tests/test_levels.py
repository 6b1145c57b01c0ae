# SPDX-License-Identifier: Apache-2.0
"""The one _C on cores of every VLEN: it loads, chooses its level, refuses what is unsafe. Runs in the emulated guest."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

import load_module

VLEN = int(os.environ["SM10_VLEN"])
LEVEL = {128: "rvv128", 256: "x100"}.get(VLEN, "scalar")
OTHER = "rvv128" if LEVEL == "x100" else "x100"

load_module.load()
ops = torch.ops._C


def _import_without_torch(**environment: str) -> str:
    """What a process that loads the library, and not torch, prints."""
    command = [sys.executable, "-c", "import load_module; load_module.load()"]
    folder = os.path.dirname(os.path.abspath(load_module.__file__))
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": folder} | environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


def test_level_is_that_of_the_core() -> None:
    assert ops.sm10_level() == LEVEL


def test_attention_kernel_is_rvvs_where_a_vector_level_runs() -> None:
    assert ops.cpu_attn_has_isa("rvv") is (LEVEL != "scalar")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_op_computes_what_torch_computes(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    inputs = torch.randn(7, 96).to(dtype)
    output = torch.empty(7, 48, dtype=dtype)
    ops.silu_and_mul(output, inputs)
    gate, up = inputs.float().chunk(2, dim=-1)
    torch.testing.assert_close(output.float(), (torch.nn.functional.silu(gate) * up), rtol=1e-2, atol=1e-2)


@pytest.mark.skipif(LEVEL != "scalar", reason="the vector levels have every op")
def test_op_that_the_level_lacks_says_what_it_needs_and_what_it_found() -> None:
    found = f"it has VLEN {VLEN}" if VLEN else "it has no vector unit"
    levels = r"the levels rvv128 \(VLEN 128, zvfh.*\), x100 \(VLEN 256, zvfh.*\) only"
    message = rf"dynamic_scaled_int8_quant: vLLM has this kernel for {levels}; .* runs level scalar: {found}"
    with pytest.raises(RuntimeError, match=message):
        ops.dynamic_scaled_int8_quant(torch.empty(2, 16, dtype=torch.int8), torch.ones(2, 16), torch.empty(2, 1), None)


@pytest.mark.skipif(LEVEL == "scalar", reason="needs a vector level")
def test_op_that_only_vector_levels_have_runs() -> None:
    output, scale = torch.empty(2, 16, dtype=torch.int8), torch.empty(2, 1)
    ops.dynamic_scaled_int8_quant(output, torch.ones(2, 16), scale, None)
    assert output.tolist() == [[127] * 16] * 2


def test_level_of_another_vlen_is_refused() -> None:
    found = f"this core has VLEN {VLEN}" if VLEN else "this core has no vector unit"
    text = _import_without_torch(VLLM_SM10_LEVEL=OTHER)
    assert f"ImportError: VLLM_SM10_LEVEL={OTHER} is unsafe" in text and found in text


def test_level_that_does_not_exist_is_refused_with_those_that_do() -> None:
    assert "VLLM_SM10_LEVEL=rvv512: no such level; this library has scalar, rvv128, x100" in _import_without_torch(VLLM_SM10_LEVEL="rvv512")


def test_import_before_torch_says_so() -> None:
    assert "ImportError: torch is not loaded in this process; import torch before vllm._C" in _import_without_torch()


@pytest.mark.skipif(LEVEL == "scalar", reason="the override changes nothing")
def test_scalar_can_be_asked_for_on_any_core() -> None:
    script = "import torch, load_module; load_module.load(); print(torch.ops._C.sm10_level())"
    folder = os.path.dirname(os.path.abspath(load_module.__file__))
    environment = os.environ | {"PYTHONPATH": folder, "VLLM_SM10_LEVEL": "scalar"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "scalar"
