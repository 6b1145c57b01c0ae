# SPDX-License-Identifier: Apache-2.0
"""What vllm-sm10's wheel adds to vLLM in Python: int4 linear layers for the SM10's matrix unit (`quantization="ime2"`)."""


def register() -> None:
    """Called by vLLM in each of its processes (entry point vllm.general_plugins)."""
    from vllm_sm10 import config

    config.register()
