# SPDX-License-Identifier: Apache-2.0
"""The table of checks: which test covers which op of vLLM's `_C` library.

`@covers("name")` marks a test that compares the op's output tensors with a
reference, `@states("name")` one of an op that answers without a tensor, and
`@refuses("name")` one that states when the op raises. `op("name")`
is the only way in which the tests call an op: it records the call, so that a
test cannot claim an op that it never runs, and it can damage the op's output
(`--mutate`), so that a test that would not notice is found.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

NAMESPACE = "_C"
LIBRARY_IN_WHEEL = "vllm/_C.abi3.so"

FLOATS = (torch.float32, torch.bfloat16, torch.float16)
HALVES = (torch.bfloat16, torch.float16)

# The floating-point types of the op's main input. Ops on integers only, and
# ops without tensors, are not in the table.
DTYPES: dict[str, tuple[torch.dtype, ...]] = {
    "causal_conv1d_update_cpu_vec": FLOATS,
    "chunk_gated_delta_rule_cpu": (torch.bfloat16,),
    "cpu_attention_with_kv_cache": FLOATS,
    "cpu_attn_reshape_and_cache": FLOATS,
    "cpu_fused_moe": FLOATS,
    "cpu_gemm_wna16": HALVES,
    "dynamic_per_token_scaled_fp8_quant": FLOATS,
    "dynamic_scaled_int8_quant": FLOATS,
    "fused_add_rms_norm": FLOATS,
    "fused_gdn_gating_cpu": HALVES,
    "fused_gumbel_argmax": (torch.float32,),
    "fused_sigmoid_gating_delta_rule_update_cpu": HALVES,
    "fused_sigmoid_gating_delta_rule_update_spec_cpu": HALVES,
    "gelu_and_mul": FLOATS,
    "gelu_fast": FLOATS,
    "gelu_new": FLOATS,
    "gelu_quick": FLOATS,
    "gelu_tanh": FLOATS,
    "gelu_tanh_and_mul": FLOATS,
    "greedy_argmax": (torch.float32,),
    "ime2_gemm_packed": FLOATS,
    "ime2_gemm_packed.out": FLOATS,
    "ime2_hp_gemm_cpu": (torch.float32,),
    "int4_scaled_mm_cpu": HALVES,
    "mamba_chunk_scan_fwd_cpu": FLOATS,
    "mla_decode_kvcache": FLOATS,
    "prepack_moe_weight": FLOATS,
    "rms_norm": FLOATS,
    "rotary_embedding": FLOATS,
    "selective_state_update_cpu": FLOATS,
    "silu_and_mul": FLOATS,
    "static_scaled_fp8_quant": FLOATS,
    "static_scaled_int8_quant": FLOATS,
}

# Registered, but nothing computes on riscv64: vLLM's own code raises, or oneDNN
# is not built.
REFUSED_EVERYWHERE = frozenset(
    {
        "create_onednn_scaled_mm_handler",
        "dynamic_4bit_int_moe",
        "dynamic_scaled_fp8_quant",
        "release_dnnl_matmul_handler",
    }
)

# The scalar level has no code for these, and names the levels that have.
VECTOR_ONLY = frozenset({"cpu_gemm_wna16", "dynamic_scaled_int8_quant", "static_scaled_int8_quant"})
# Where no core has the matrix instructions, and no kernel lends threads on such a core.
NEEDS_MATRIX = frozenset({"ime2_start_workers"})
MISSING_AT_SCALAR = r"^{name}: .*\blevels? .*x100.*\blevel scalar\b"

# Outputs that are memory images with pointers: damaging one is undefined
# behaviour, not a wrong number.
OPAQUE_OUTPUT = frozenset({"get_scheduler_metadata"})

VECTOR_LEVELS = ("rvv128", "x100")
# Cores and a board where only the tests of the IME2 ops run: for all other ops they are like one of the above.
MATRIX_LEVEL, BOARD = "a100", "sm10"
LEVELS = ("scalar", *VECTOR_LEVELS, MATRIX_LEVEL, BOARD)
MARKS = ("covers", "refuses", "states")


class OpTestError(Exception):
    """A mistake in the set-up of these tests; the text says what to do."""


def level() -> str:
    """The ISA level that this run claims to test."""
    name = os.environ.get("SM10_LEVEL")
    if name not in LEVELS:
        raise OpTestError(f"SM10_LEVEL is {name!r}; set it to one of {', '.join(LEVELS)} (the test rules do) so that the level-dependent facts are known")
    return name


def is_vector_level() -> bool:
    return level() in VECTOR_LEVELS


def library_path() -> Path:
    """`_C` of the installed wheel; the source tree is never looked at."""
    try:
        wheel = importlib.metadata.distribution("vllm")
    except importlib.metadata.PackageNotFoundError as error:
        raise OpTestError("vllm is not installed in this Python; install the wheel first, or start the tests by their Bazel target") from error
    path = Path(str(wheel.locate_file(LIBRARY_IN_WHEEL)))
    if not path.is_file():
        raise OpTestError(f"the installed vllm has no {LIBRARY_IN_WHEEL}; rebuild the wheel")
    return path


def load_library(path: Path) -> frozenset[str]:
    """Loads the library; returns the names of the ops that it registered."""
    before = set(torch._C._dispatch_get_all_op_names())
    # As `import vllm._C` does, without the time that importing vllm itself takes.
    spec = importlib.util.spec_from_file_location("vllm._C", path)
    if spec is None or spec.loader is None:
        raise OpTestError(f"{path} is no extension module of this Python; rebuild the wheel")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    added = set(torch._C._dispatch_get_all_op_names()) - before
    if not added:
        raise OpTestError(f"{path} registered no op: it was loaded before, import it only through registry.py")
    return frozenset(added)


# --- calls -----------------------------------------------------------------


@dataclass
class Calls:
    """What the running test called."""

    names: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Damage:
    """What `--mutate` does to outputs: of all ops, or of one."""

    change: Callable[[torch.Tensor], None]
    only: str | None = None

    def hits(self, name: str) -> bool:
        return name not in OPAQUE_OUTPUT and self.only in (None, name)


CALLS = Calls()
DAMAGE: Damage | None = None


def _written(schema: torch.FunctionSchema, args: tuple, kwargs: dict) -> list[torch.Tensor]:
    """The tensors among the arguments that the schema says are written."""
    out = []
    for index, argument in enumerate(schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[index] if index < len(args) else kwargs.get(argument.name)
        if isinstance(value, torch.Tensor):
            out.append(value)
    return out


def _returned(result: Any) -> list[torch.Tensor]:
    values = result if isinstance(result, (tuple, list)) else (result,)
    return [value for value in values if isinstance(value, torch.Tensor)]


@dataclass(frozen=True)
class Op:
    """One op of the library under test, or with `.` and its name an overload of it."""

    name: str

    def overload(self) -> torch._ops.OpOverload:
        """What torch's own tools take."""
        name, _, overload = self.name.partition(".")
        return getattr(getattr(getattr(torch.ops, NAMESPACE), name), overload or "default")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        CALLS.names.add(self.name)
        overload = self.overload()
        result = overload(*args, **kwargs)
        if DAMAGE is not None and DAMAGE.hits(self.name):
            for tensor in _written(overload._schema, args, kwargs) + _returned(result):
                DAMAGE.change(tensor)
        return result


def op(name: str) -> Op:
    return Op(name)


# --- marks -----------------------------------------------------------------


def covers(*names: str) -> Callable:
    """The test compares these ops' outputs with a reference."""
    return pytest.mark.covers(*names)


def states(*names: str) -> Callable:
    """The test states what these ops answer or do where there is no output tensor."""
    return pytest.mark.states(*names)


def refuses(*names: str) -> Callable:
    """The test states when these ops raise."""
    return pytest.mark.refuses(*names)


def per_dtype(*names: str) -> Callable:
    """`covers`, once for each floating-point type that all of the ops take."""
    dtypes = [d for d in FLOATS if all(d in DTYPES[name] for name in names)]
    ids = [str(d).removeprefix("torch.") for d in dtypes]

    def decorate(function: Callable) -> Callable:
        return covers(*names)(pytest.mark.parametrize("dtype", dtypes, ids=ids)(function))

    return decorate


def at_levels(*names: str) -> Callable:
    """The test states a fact of these levels only; elsewhere it isn't collected."""
    return pytest.mark.at_levels(*names)
