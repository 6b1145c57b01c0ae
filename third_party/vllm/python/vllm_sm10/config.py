# SPDX-License-Identifier: Apache-2.0
"""`quantization="ime2"`: which layers get int4 weights, and from what.

Without a quantised checkpoint every linear layer is quantised when it is loaded; embeddings and lm_head stay as they are.
`hf_overrides={"quantization_config": {"quant_method": "ime2", "ignore": [...]}}` leaves further layers out, with names and
`re:` patterns as compressed-tensors has them. An int4 checkpoint keeps its own format's rules for which layers are quantised.
"""

from __future__ import annotations

from typing import Any

import torch
from vllm.model_executor.kernels.linear import _POSSIBLE_KERNELS
from vllm.model_executor.layers.fused_moe import RoutedExperts
from vllm.model_executor.layers.linear import LinearBase, UnquantizedLinearMethod
from vllm.model_executor.layers.quantization import register_quantization_config
from vllm.model_executor.layers.quantization.auto_awq import AutoAWQConfig
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQConfig, AutoGPTQLinearMethod
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig, QuantizeMethodBase
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors import CompressedTensorsConfig
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import CompressedTensorsW4A8Int, CompressedTensorsWNA16
from vllm.model_executor.layers.quantization.compressed_tensors.utils import should_ignore_layer
from vllm.model_executor.layers.quantization.utils.gptq_utils import get_linear_quant_method
from vllm.platforms import PlatformEnum

from vllm_sm10.errors import Ime2Error
from vllm_sm10.linear import NAME, Ime2LinearKernel, OnlineLinearMethod, check_group_size
from vllm_sm10.loading import Loading

_DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def _refuse_experts(layer: torch.nn.Module, prefix: str) -> None:
    if isinstance(layer, RoutedExperts):
        raise Ime2Error(f"layer {prefix} is a mixture of experts", "run the model without quantization=ime2: only linear layers have a kernel")


class _Int4Checkpoint:
    """What the formats' configs share: vLLM sees "ime2", and nothing but int4 reaches the kernel."""

    loading: Loading

    @classmethod
    def get_name(cls) -> str:
        return NAME

    @classmethod
    def get_supported_act_dtypes(cls) -> list[torch.dtype]:
        return list(_DTYPES)

    @classmethod
    def get_min_capability(cls) -> int:
        return -1

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> QuantizeMethodBase | None:
        _refuse_experts(layer, prefix)
        method = self._upstream_method(layer, prefix)
        if isinstance(layer, LinearBase) and not isinstance(method, UnquantizedLinearMethod):
            self._check(method, layer, prefix)
            self.loading.expect_layer()
        return method

    def _upstream_method(self, layer: torch.nn.Module, prefix: str) -> QuantizeMethodBase | None:
        return super().get_quant_method(layer, prefix)

    def _check(self, method: QuantizeMethodBase, layer: LinearBase, prefix: str) -> None:
        """Raises Ime2Error, with the layer's name, for what the kernel cannot take."""
        raise NotImplementedError


class _GptqLinearMethod(AutoGPTQLinearMethod):
    """Upstream's, without its question whether a GPU kernel takes the group size."""

    def __init__(self, quant_config: AutoGPTQConfig) -> None:
        self.quant_config = quant_config
        self.input_dtype = None
        self.quant_type = quant_config.quant_type


class Ime2GptqConfig(_Int4Checkpoint, AutoGPTQConfig):
    """GPTQ, symmetric, 4 bits."""

    def _upstream_method(self, layer: torch.nn.Module, prefix: str) -> QuantizeMethodBase | None:
        return get_linear_quant_method(self, layer, prefix, _GptqLinearMethod)

    def _check(self, method: QuantizeMethodBase, layer: LinearBase, prefix: str) -> None:
        config = method.quant_config
        if config.weight_bits != 4:
            raise Ime2Error(f"layer {prefix} has {config.weight_bits} bits", "use a 4-bit checkpoint, or add the layer to its ignore list")
        check_group_size(prefix, config.group_size, layer.input_size)


class Ime2AwqConfig(_Int4Checkpoint, AutoAWQConfig):
    """AWQ, 4 bits, every zero point 8."""

    def _check(self, method: QuantizeMethodBase, layer: LinearBase, prefix: str) -> None:
        check_group_size(prefix, self.group_size, layer.input_size)


class Ime2CompressedTensorsConfig(_Int4Checkpoint, CompressedTensorsConfig):
    """compressed-tensors, pack-quantized W4A16 or W4A8 with dynamic activations, symmetric."""

    def _check(self, method: QuantizeMethodBase, layer: LinearBase, prefix: str) -> None:
        scheme = layer.scheme
        if isinstance(scheme, CompressedTensorsWNA16):
            if scheme.num_bits != 4 or not scheme.symmetric:
                kind = f"{scheme.num_bits} bits" if scheme.num_bits != 4 else "zero points"
                raise Ime2Error(f"layer {prefix} has {kind}", "use a checkpoint with symmetric 4-bit weights")
        elif not isinstance(scheme, CompressedTensorsW4A8Int):
            raise Ime2Error(f"layer {prefix} has the scheme {type(scheme).__name__}", "use a W4A16 or W4A8 checkpoint")
        check_group_size(prefix, scheme.group_size, layer.input_size)


_FORMATS = {"awq": Ime2AwqConfig, "compressed-tensors": Ime2CompressedTensorsConfig, "gptq": Ime2GptqConfig}


class Ime2Config(QuantizationConfig):
    """Quantises at load."""

    def __init__(self, ignore: list[str] | None = None) -> None:
        super().__init__()
        self.loading = Loading.prepare()
        self.ignore = list(ignore or [])

    @classmethod
    def get_name(cls) -> str:
        return NAME

    @classmethod
    def get_supported_act_dtypes(cls) -> list[torch.dtype]:
        return list(_DTYPES)

    @classmethod
    def get_min_capability(cls) -> int:
        return -1

    @staticmethod
    def get_config_filenames() -> list[str]:
        return []

    @classmethod
    def override_quantization_method(cls, hf_quant_cfg: dict[str, Any], user_quant: str | None, hf_config: Any = None) -> str | None:
        """A checkpoint of another method is taken when the user asks for ime2."""
        return NAME if user_quant == NAME else None

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> QuantizationConfig:
        """The config of an int4 checkpoint's format, or of load-time quantisation."""
        method = config.get("quant_method", "").lower()
        if method == NAME:
            unknown = set(config) - {"quant_method", "ignore"}
            if unknown:
                raise Ime2Error(f"quantization_config has {', '.join(sorted(unknown))}", "it may hold quant_method and ignore")
            return cls(config.get("ignore"))
        if method not in _FORMATS:
            raise Ime2Error(
                f"the checkpoint is quantised by {method or 'an unnamed method'}", f"use one of {', '.join(sorted(_FORMATS))}, or one that is not quantised"
            )
        loading = Loading.prepare()
        found = _FORMATS[method].from_config(config)
        found.loading = loading
        return found

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> QuantizeMethodBase | None:
        _refuse_experts(layer, prefix)
        if not isinstance(layer, LinearBase):
            return None
        # MLA reads this weight itself.
        plain = getattr(layer, "_cpu_skip_gemm_dispatch", False) or should_ignore_layer(prefix, self.ignore, self.packed_modules_mapping)
        if plain:
            return UnquantizedLinearMethod()
        self.loading.expect_layer()
        return OnlineLinearMethod(self.loading)


def register() -> None:
    """Makes "ime2" known to vLLM; may be called more than once."""
    register_quantization_config(NAME)(Ime2Config)
    kernels = _POSSIBLE_KERNELS.setdefault(PlatformEnum.CPU, [])
    if Ime2LinearKernel not in kernels:
        kernels.insert(0, Ime2LinearKernel)
