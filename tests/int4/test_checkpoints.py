# SPDX-License-Identifier: Apache-2.0
"""int4 checkpoints reach the kernel without loss, layer by layer; what it cannot take is refused by name when the model is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoints import FORMS, FUSED, Form, Quantised, awq, write
from conftest import Load
from tiny_models import LLAMA, QWEN2, make_weights, write_checkpoint
from vllm_sm10 import nibbles
from vllm_sm10.errors import Ime2Error


def expected(parts: list[Quantised]) -> torch.Tensor:
    """The packed weight of a (fused) layer."""
    values = torch.cat([part.values for part in parts])
    scales = torch.cat([nibbles.spread(part.scales, values.shape[1]) for part in parts])
    return torch.ops._C.ime2_pack_weight(nibbles.from_signed(values), scales)


def packed_layers(model: torch.nn.Module) -> dict[str, torch.nn.Module]:
    return {name: module for name, module in model.named_modules() if hasattr(module, "ime2_weight")}


@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("form", FORMS)
def test_every_layer_holds_the_checkpoints_numbers(load: Load, tmp_path: Path, form: str, group: int) -> None:
    layers = write(QWEN2, FORMS[form], group, tmp_path)
    found = packed_layers(load(tmp_path))
    wanted = {f"model.layers.{i}.{fused}" for i in range(QWEN2.architecture.num_hidden_layers) for fused in FUSED}
    assert set(found) == wanted
    for name, layer in found.items():
        _, _, number, fused = name.split(".", 3)
        parts = [layers[f"model.layers.{number}.{part}"] for part in FUSED[fused]]
        assert torch.equal(layer.ime2_weight.data, expected(parts)), name


@pytest.mark.parametrize("form", FORMS)
def test_the_checkpoints_own_tensors_are_freed(load: Load, tmp_path: Path, form: str) -> None:
    write(LLAMA, FORMS[form], 32, tmp_path)
    for name, layer in packed_layers(load(tmp_path)).items():
        large = {key for key, value in layer.named_parameters(recurse=False) if value.numel() > layer.output_size}
        assert large == {"ime2_weight"}, name


def test_weights_are_quantised_when_the_checkpoint_is_not(load: Load, tmp_path: Path) -> None:
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    weights = make_weights(LLAMA)
    found = packed_layers(load(tmp_path))
    assert {name.split(".", 3)[-1] for name in found} == set(FUSED)
    for name, layer in found.items():
        number, fused = name.split(".", 3)[2:]
        weight = torch.cat([weights[f"model.layers.{number}.{part}.weight"] for part in FUSED[fused]])
        assert torch.equal(layer.ime2_weight.data, torch.ops._C.ime2_pack_weight(*nibbles.quantize(weight))), name


def test_embeddings_and_lm_head_stay_as_they_are(load: Load, tmp_path: Path) -> None:
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    model = load(tmp_path)
    assert torch.equal(model.lm_head.weight[: LLAMA.architecture.vocab_size], make_weights(LLAMA)["lm_head.weight"].bfloat16())


def test_ignored_layers_stay_as_they_are(load: Load, tmp_path: Path) -> None:
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    ignored = {"quantization_config": {"quant_method": "ime2", "ignore": ["model.layers.0.mlp.down_proj", r"re:.*\.1\.self_attn.*"]}}
    left = {f"model.layers.{i}.{fused}" for i in (0, 1) for fused in FUSED} - set(packed_layers(load(tmp_path, hf_overrides=ignored)))
    assert left == {"model.layers.0.mlp.down_proj", "model.layers.1.self_attn.qkv_proj", "model.layers.1.self_attn.o_proj"}


def test_an_int4_checkpoint_without_ime2_goes_to_upstreams_kernel(load: Load, tmp_path: Path) -> None:
    write(LLAMA, FORMS["gptq"], 32, tmp_path)
    assert packed_layers(load(tmp_path, quantization=None)) == {}


@pytest.mark.parametrize("form", FORMS)
def test_groups_that_are_no_multiple_of_32_are_refused_by_layer(load: Load, tmp_path: Path, form: str) -> None:
    write(LLAMA, FORMS[form], 16, tmp_path)
    with pytest.raises(Ime2Error, match=r"layer model\.layers\.0\.self_attn\.qkv_proj has groups of 16"):
        load(tmp_path)


def test_zero_points_other_than_8_are_refused_by_layer(load: Load, tmp_path: Path) -> None:
    form = FORMS["awq"]
    write(LLAMA, Form(lambda layer: awq(layer, zero_point=7), form.config), 32, tmp_path)
    with pytest.raises(Ime2Error, match=r"layer model\.layers\.0\.self_attn\.qkv_proj has zero points other than 8"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, "quantised by fp8; use one of awq, compressed-tensors, gptq"),
        ({"quant_method": "ime2", "group_size": 32}, "quantization_config has group_size; it may hold quant_method and ignore"),
    ],
)
def test_other_quantization_configs_are_refused(load: Load, tmp_path: Path, change: dict[str, Any], text: str) -> None:
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"quantization_config": change}))
    # vLLM's own validation may wrap the error.
    with pytest.raises(ValueError, match=text):
        load(tmp_path)


def test_eight_bits_are_refused_by_layer(load: Load, tmp_path: Path) -> None:
    write(LLAMA, FORMS["gptq"], 32, tmp_path, bits=8)
    with pytest.raises(Ime2Error, match=r"layer model\.layers\.0\.self_attn\.qkv_proj has 8 bits"):
        load(tmp_path)


def test_a_setting_that_is_no_switch_is_refused(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SM10_IME2_PORTABLE", "yes")
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    with pytest.raises(ValueError, match="SM10_IME2_PORTABLE=yes is neither 0 nor 1"):
        load(tmp_path)


def test_a_machine_without_a100_cores_is_refused_with_its_reason(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SM10_IME2_PORTABLE")
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    with pytest.raises(ValueError, match=r"cannot open /proc/set_ai_thread: No such file or directory .* SM10_IME2_PORTABLE=1"):
        load(tmp_path)
