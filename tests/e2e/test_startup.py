# SPDX-License-Identifier: Apache-2.0
"""What starting an engine does not need."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_models_class_is_looked_at_without_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.model_executor.models import registry

    monkeypatch.setenv("VLLM_CACHE_ROOT", str(tmp_path))  # nobody has looked before
    monkeypatch.setattr(registry, "_run_in_subprocess", lambda _: pytest.fail("another process was asked"))
    found = registry._LazyRegisteredModel("vllm.model_executor.models.llama", "LlamaForCausalLM").inspect_model_cls()
    assert found.architecture == "LlamaForCausalLM" and found.is_text_generation_model
