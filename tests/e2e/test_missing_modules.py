# SPDX-License-Identifier: Apache-2.0
"""What riscv64 has no build of is missing here: the rest works, and what needs it says so when it is used."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
import torch


@pytest.mark.parametrize("module", ["numba", "openai_harmony", "outlines_core", "xgrammar"])
def test_module_is_not_installed(module: str) -> None:
    assert importlib.util.find_spec(module) is None


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with no programs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)


def test_platform_is_cpu_without_an_environment_variable() -> None:
    from vllm.platforms import current_platform

    assert "VLLM_TARGET_DEVICE" not in os.environ
    assert current_platform.is_cpu()


def test_harmony_names_the_module_that_it_needs() -> None:
    from vllm.entrypoints.openai.parser.harmony_utils import get_encoding
    from vllm.utils.optional import OptionalModuleError

    with pytest.raises(OptionalModuleError, match="gpt-oss.*needs the Python module 'openai_harmony'"):
        get_encoding()


def test_structural_tags_name_the_module_that_they_need() -> None:
    from vllm.utils.optional import OptionalModuleError
    from vllm.utils.optional.xgrammar_structural_tag import TagFormat

    with pytest.raises(OptionalModuleError, match="tool calling.*needs the Python module 'xgrammar'"):
        TagFormat(begin="", content=None, end="")


def test_a_missing_structured_output_backend_is_refused_with_those_that_work() -> None:
    from vllm.config import StructuredOutputsConfig

    with pytest.raises(ValueError, match="'xgrammar', which is not installed; usable here: auto, guidance"):
        StructuredOutputsConfig(backend="xgrammar")


def test_a_structural_tag_request_is_refused_with_the_reason() -> None:
    from vllm.entrypoints.generate.base.protocol import validate_structural_tag_payload
    from vllm.exceptions import VLLMValidationError

    with pytest.raises(VLLMValidationError, match="needs the Python module 'xgrammar'"):
        validate_structural_tag_payload('{"type": "structural_tag"}', parameter="response_format")


def test_ngram_speculation_names_the_module_that_it_needs() -> None:
    with pytest.raises(ImportError, match="n-gram speculative decoding needs the Python module 'numba'"):
        import vllm.v1.spec_decode.ngram_proposer  # noqa: F401


@pytest.mark.usefixtures("empty_path")
def test_cpus_are_listed_without_lscpu() -> None:
    from vllm.utils.cpu_resource_utils import get_allowed_cpu_list

    assert {cpu.id for cpu in get_allowed_cpu_list()} == os.sched_getaffinity(0)


@pytest.mark.usefixtures("empty_path")
def test_models_are_not_compiled_without_a_compiler() -> None:
    from vllm.config import CompilationMode, VllmConfig

    assert VllmConfig().compilation_config.mode == CompilationMode.NONE


@pytest.mark.usefixtures("empty_path")
def test_asking_for_compilation_without_a_compiler_is_refused() -> None:
    from vllm.config import CompilationConfig, CompilationMode, VllmConfig

    with pytest.raises(ValueError, match="DYNAMO_TRACE_ONCE needs a C\\+\\+ compiler and 'g\\+\\+' is not on this machine"):
        VllmConfig(compilation_config=CompilationConfig(mode=CompilationMode.DYNAMO_TRACE_ONCE))


@pytest.mark.parametrize("rows", [None, [0, 2]])
def test_forbidden_tokens_are_masked_as_the_bits_say(rows: list[int] | None) -> None:
    from vllm.v1.structured_output.utils import mask_logits

    generator = torch.Generator().manual_seed(1)
    bits = torch.randint(0, 2, (3, 96), generator=generator)
    words = (bits.view(3, 3, 32) << torch.arange(32)).sum(-1).to(torch.uint32).view(torch.int32)
    logits = torch.randn(3, 80, generator=generator)
    expected = logits.clone()
    for row in range(3) if rows is None else rows:
        for token in range(80):
            if not bits[row, token]:
                expected[row, token] = float("-inf")
    mask_logits(logits, words, rows)
    assert torch.equal(logits, expected)
