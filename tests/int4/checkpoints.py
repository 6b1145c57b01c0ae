# SPDX-License-Identifier: Apache-2.0
"""int4 checkpoints of the small models, in the forms that quantisers write; every one holds the same numbers.

compressed-tensors' own packer makes its form; GPTQ's and AWQ's are written here by their conventions (values along the
packed dimension from the lowest nibble on; GPTQ stores zero points less 1, AWQ orders eight outputs as 0, 2, 4, 6, 1, 3, 5, 7).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
from safetensors.torch import save_file
from tiny_models import TinyModel, make_weights, write_checkpoint

Tensors = dict[str, torch.Tensor]

# Layers with int4 weights; what stands in a fused layer of vLLM is one row.
FUSED = {
    "self_attn.qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attn.o_proj": ("self_attn.o_proj",),
    "mlp.gate_up_proj": ("mlp.gate_proj", "mlp.up_proj"),
    "mlp.down_proj": ("mlp.down_proj",),
}
LINEAR = tuple(name for names in FUSED.values() for name in names)
_AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


@dataclasses.dataclass(frozen=True)
class Quantised:
    """values: int8 [N, K] from -8 to 7. scales: fp32 [N, K/group], exact in bf16 and fp16."""

    values: torch.Tensor
    scales: torch.Tensor

    @property
    def group(self) -> int:
        return self.values.shape[1] // self.scales.shape[1]


def quantised(weight: torch.Tensor, group: int) -> Quantised:
    """Round to nearest; scales are powers of two, so that no format's type can change them."""
    groups = weight.reshape(weight.shape[0], -1, group)
    scales = (groups.abs().amax(-1) / 7).clamp_min(2**-12).log2().ceil().exp2()
    values = (groups / scales[..., None]).round().clamp(-8, 7).to(torch.int8)
    return Quantised(values.reshape(weight.shape), scales)


def _int32(values: torch.Tensor) -> torch.Tensor:
    """[..., 8] of 0 to 15 to [...]; the first in the lowest nibble."""
    shifts = torch.arange(0, 32, 4)
    return (values.long() << shifts).sum(-1).to(torch.int32)


def gptq(layer: Quantised) -> Tensors:
    n, k = layer.values.shape
    packed = _int32((layer.values + 8).t().reshape(k // 8, 8, n).transpose(1, 2))
    groups = layer.scales.shape[1]
    return {
        "qweight": packed.contiguous(),
        "qzeros": torch.full((groups, n // 8), 0x77777777, dtype=torch.int32),
        "scales": layer.scales.t().half().contiguous(),
        "g_idx": torch.arange(k, dtype=torch.int32) // layer.group,
    }


def awq(layer: Quantised, zero_point: int = 8) -> Tensors:
    n, k = layer.values.shape
    by_input = (layer.values + 8).t().reshape(k, n // 8, 8)[..., list(_AWQ_ORDER)]
    zeros = torch.full((layer.scales.shape[1], n // 8, 8), zero_point)
    return {"qweight": _int32(by_input), "qzeros": _int32(zeros), "scales": layer.scales.t().half().contiguous()}


def compressed(layer: Quantised) -> Tensors:
    return {
        "weight_packed": pack_to_int32(layer.values, 4),
        "weight_scale": layer.scales.bfloat16(),
        "weight_shape": torch.tensor(layer.values.shape),
    }


def compressed_w4a8(layer: Quantised) -> Tensors:
    return {"weight": layer.values, "weight_scale": layer.scales.bfloat16()}


def _compressed_config(group: int, form: str, activations: dict[str, Any] | None) -> dict[str, Any]:
    weights = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": group}
    scheme = {"targets": ["Linear"], "weights": weights, "input_activations": activations}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": scheme}, "ignore": ["lm_head"]}


@dataclasses.dataclass(frozen=True)
class Form:
    """How a quantiser writes a layer, and the quantization_config of its config.json, by group size."""

    layer: Callable[[Quantised], Tensors]
    config: Callable[[int], dict[str, Any]]


_TOKEN = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "token", "dynamic": True}
FORMS = {
    "awq": Form(awq, lambda group: {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True, "version": "gemm"}),
    "compressed-tensors": Form(compressed, lambda group: _compressed_config(group, "pack-quantized", None)),
    "compressed-tensors-w4a8": Form(compressed_w4a8, lambda group: _compressed_config(group, "int-quantized", _TOKEN)),
    "gptq": Form(gptq, lambda group: {"quant_method": "gptq", "bits": 4, "group_size": group, "desc_act": False, "sym": True}),
}


def write(model: TinyModel, form: Form, group: int, folder: Path, dtype: str = "bfloat16", **config: Any) -> dict[str, Quantised]:
    """Writes the checkpoint; returns what each linear layer holds. `config` changes the quantization_config."""
    write_checkpoint(model, dtype, folder)
    tensors: Tensors = {}
    layers = {}
    for name, weight in make_weights(model).items():
        layer = name.removesuffix(".weight")
        if layer.split(".", 3)[-1] in LINEAR and name.endswith(".weight"):
            layers[layer] = quantised(weight, group)
            tensors |= {f"{layer}.{part}": tensor for part, tensor in form.layer(layers[layer]).items()}
        else:
            tensors[name] = weight.to(getattr(torch, dtype))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    path = folder / "config.json"
    settings = json.loads(path.read_text())
    settings["quantization_config"] = form.config(group) | config
    path.write_text(json.dumps(settings))
    return layers
