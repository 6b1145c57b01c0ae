# SPDX-License-Identifier: Apache-2.0
"""Settings that vLLM reads when it is imported, and the engines that the tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# The engine in this process: its ops can be watched, and an emulated start is paid once.
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
# Nothing is fetched: a model's files are all there, or the test fails.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["VLLM_NO_USAGE_STATS"] = "1"

from engine import Case, Run, run, stop  # noqa: E402

CASES = [Case(name, dtype) for name in ("llama", "qwen2") for dtype in ("float32", "bfloat16")]


@pytest.fixture(scope="session", params=CASES, ids=str)
def generation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """What vLLM and the reference generated; the engine still runs."""
    current = run(request.param, tmp_path_factory.mktemp("model"))
    yield current
    stop(current)


@pytest.fixture(scope="session")
def level() -> str:
    """The ISA level whose core is emulated, from the runner."""
    return os.environ["SM10_LEVEL"]
