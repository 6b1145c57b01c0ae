# SPDX-License-Identifier: Apache-2.0
"""What must hold of a process in which vLLM computes."""

from __future__ import annotations

from vllm_sm10 import blas, library


def check() -> None:
    """Raises blas.BlasError where torch's own products (lm_head, embeddings' projections) would be wrong on this thread's core."""
    import torch  # noqa: F401  loads its BLAS

    handle = library.load(library.path())
    blas.require(library.describe(handle)["core"]["vlen"])
