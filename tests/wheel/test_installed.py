# SPDX-License-Identifier: Apache-2.0
"""The wheel as it is installed in the guest."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import importlib.util

import pytest
from packaging.requirements import Requirement

DISTRIBUTION = importlib.metadata.distribution("vllm")
REQUIRED = [Requirement(line) for line in DISTRIBUTION.requires or []]
HERE = [requirement for requirement in REQUIRED if requirement.marker is None or requirement.marker.evaluate({"extra": ""})]


@pytest.mark.parametrize("requirement", HERE, ids=lambda requirement: requirement.name)
def test_requirement_is_met_in_the_guest(requirement: Requirement) -> None:
    assert requirement.specifier.contains(importlib.metadata.version(requirement.name), prereleases=True)


def test_installed_files_are_those_of_the_record() -> None:
    wrong = []
    for file in DISTRIBUTION.files:
        if file.hash is None:
            continue
        digest = hashlib.new(file.hash.mode, file.locate().read_bytes()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            wrong.append(str(file))
    assert wrong == []


@pytest.mark.parametrize("name", ["spinloop", "fs_io_C"])
def test_limited_api_claim_holds_for_this_python(name: str) -> None:
    """Without vllm/__init__.py, which imports torch: a minute under emulation."""
    file = DISTRIBUTION.locate_file(f"vllm/{name}.abi3.so")
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification and specification.loader
    specification.loader.exec_module(importlib.util.module_from_spec(specification))
