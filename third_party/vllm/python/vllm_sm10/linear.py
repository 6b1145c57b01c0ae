# SPDX-License-Identifier: Apache-2.0
"""Linear layers whose weights are int4 for the matrix unit: quantised at load, or taken from an int4 checkpoint."""

from __future__ import annotations

from typing import Any

import torch
from vllm.config import get_current_vllm_config_or_none
from vllm.model_executor.kernels.linear import MPLinearKernel, MPLinearLayerConfig
from vllm.model_executor.layers.linear import UnquantizedLinearMethod
from vllm.scalar_type import scalar_types

from vllm_sm10 import nibbles, unit
from vllm_sm10.errors import Ime2Error
from vllm_sm10.loading import Loading

NAME = "ime2"
WEIGHT = "ime2_weight"
# uint4b8 and int4 are symmetric by definition; uint4 has zero points, which process_weights_after_loading checks.
_TYPES = (scalar_types.uint4b8, scalar_types.uint4, scalar_types.int4)


def check_shape(name: str, k: int) -> None:
    """K must be whole groups."""
    if k % nibbles.GROUP:
        raise Ime2Error(f"layer {name} has {k} inputs, not a multiple of {nibbles.GROUP}", "add it to the ignore list")


def check_group_size(name: str, group_size: int, k: int) -> None:
    """A weight scale must serve whole groups of 32; -1 is one scale per output."""
    size = k if group_size == -1 else group_size
    if size % nibbles.GROUP or k % size:
        raise Ime2Error(f"layer {name} has groups of {size}", f"use a checkpoint whose group size is a multiple of {nibbles.GROUP}")


def keep(layer: torch.nn.Module, blob: torch.Tensor, weights: int, replaced: tuple[str, ...], loading: Loading) -> None:
    """Puts the packed weight in the place of what it was made from, which is freed."""
    freed: dict[int, int] = {}
    for name in replaced:
        if (old := getattr(layer, name, None)) is not None:
            freed[old.data_ptr()] = old.nbytes
            delattr(layer, name)
    layer.register_parameter(WEIGHT, torch.nn.Parameter(blob, requires_grad=False))
    loading.note_layer(layer.prefix, weights, blob.nbytes, sum(freed.values()))


class OnlineLinearMethod(UnquantizedLinearMethod):
    """Loads fp32, bf16 or fp16 weights as usual, then quantises them to int4, groups of 32, symmetric."""

    supports_pre_processed_weights = False

    def __init__(self, loading: Loading) -> None:
        super().__init__()
        self.loading = loading
        self.portable = loading.portable

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        weight = layer.weight.data
        check_shape(layer.prefix, weight.shape[1])
        blob = self.loading.pack(nibbles.SCHEME, (weight,), lambda: nibbles.quantize(weight))
        keep(layer, blob, weight.numel(), ("weight",), self.loading)

    def apply(self, layer: torch.nn.Module, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        return unit.multiply(x, getattr(layer, WEIGHT), bias, self.portable)


class Ime2LinearKernel(MPLinearKernel):
    """Takes int4 checkpoints (compressed-tensors pack-quantized and W4A8, GPTQ, AWQ) without loss. Stands aside unless quantization="ime2"."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.loading: Loading = get_current_vllm_config_or_none().quant_config.loading
        self.portable = self.loading.portable

    @classmethod
    def get_min_capability(cls) -> int:
        return -1

    @classmethod
    def can_implement(cls, c: MPLinearLayerConfig) -> tuple[bool, str | None]:
        current = get_current_vllm_config_or_none()
        if current is None or current.model_config is None or current.model_config.quantization != NAME:
            return False, f"quantization is not {NAME}"
        # No other kernel may step in for what this one cannot do.
        k, n = c.partition_weight_shape
        name = f"of {n} x {k}"
        if c.weight_type not in _TYPES:
            raise Ime2Error(f"layer {name} has weights of type {c.weight_type}", "use a checkpoint with symmetric 4-bit weights")
        check_shape(name, k)
        check_group_size(name, c.group_size, k)
        return True, None

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        packed, scales, zeros = self._get_weight_params(layer)
        if self.config.zero_points and not nibbles.are_zero_point(zeros.data):
            raise Ime2Error(f"layer {layer.prefix} has zero points other than {nibbles.ZERO_POINT}", "use a checkpoint with symmetric weights")
        values = packed.data if packed.input_dim == 1 else packed.data.t()
        by_output = scales.data if scales.output_dim == 0 else scales.data.t()
        k = values.shape[1] * (1 if values.dtype == torch.int8 else nibbles.PER_INT32)

        def made() -> tuple[torch.Tensor, torch.Tensor]:
            qweight = nibbles.from_signed(values) if values.dtype == torch.int8 else nibbles.grouped(values)
            return qweight, nibbles.spread(by_output, k)

        blob = self.loading.pack("as it is", (values, by_output), made)
        # compressed-tensors' W4A8 registers one parameter under two names.
        replaced = (self.w_q_name, self.w_s_name, self.w_zp_name or "", "weight")
        keep(layer, blob, values.shape[0] * k, tuple(name for name in replaced if name), self.loading)

    def apply_weights(self, layer: torch.nn.Module, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        return unit.multiply(x, getattr(layer, WEIGHT), bias, self.portable)
