# SPDX-License-Identifier: Apache-2.0
"""What a job takes over from the machine for its fetch phase, and for nothing else."""

from __future__ import annotations

import os
from pathlib import Path

# What bazelw and Bazel's download rules read.
VARIABLES = ("DEBIAN_MIRROR", "NPM_REGISTRY", "PYPI_INDEX", "SSL_CERT_FILE")


def variables() -> dict[str, str]:
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


def repository_cache() -> Path:
    """That of bazelw, so that only what is new is downloaded."""
    base = os.environ.get("VLLM_SM10_CACHE")
    return (Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vllm-sm10") / "repository"
