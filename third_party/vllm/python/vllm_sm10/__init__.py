# SPDX-License-Identifier: Apache-2.0
"""What vllm-sm10's wheel adds to vLLM in Python: int4 linear layers for the SM10's matrix unit (`quantization="ime2"`), and what runs where."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm_sm10.inventory import Capabilities


def capabilities() -> Capabilities:
    """What of vllm._C runs on the calling thread's core, and why the rest does not. Does not import vllm."""
    from vllm_sm10 import inventory

    return inventory.capabilities()


def register() -> None:
    """Called by vLLM in each of its processes (entry point vllm.general_plugins)."""
    from vllm_sm10 import process

    # Before the rest of vLLM is imported, which takes long.
    process.check()
    from vllm_sm10 import config

    config.register()
