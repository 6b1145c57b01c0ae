# SPDX-License-Identifier: Apache-2.0
"""Loads the installed `_C`; checks and references are tests/ops' own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))

import fuzz
import registry
import torch

REGISTERED = pytest.StashKey[frozenset[str]]()


def pytest_configure(config: pytest.Config) -> None:
    for mark in (*registry.MARKS, "at_levels"):
        config.addinivalue_line("markers", f"{mark}(*names): see tests/ops")
    torch.set_grad_enabled(False)
    config.stash[REGISTERED] = registry.load_library(registry.library_path())
    fuzz.bounds_follow_the_thread()


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(20260401)


@pytest.fixture(scope="session")
def registered_ops(pytestconfig: pytest.Config) -> frozenset[str]:
    return pytestconfig.stash[REGISTERED]
