# SPDX-License-Identifier: Apache-2.0
"""Loads the extension module under test from $VLLM_C, as `import vllm._C` does."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from types import ModuleType


def load() -> ModuleType:
    """Imports the library; raises what its module raises."""
    loader = importlib.machinery.ExtensionFileLoader("vllm._C", os.path.abspath(os.environ["VLLM_C"]))
    spec = importlib.util.spec_from_loader("vllm._C", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
