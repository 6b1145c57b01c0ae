# SPDX-License-Identifier: Apache-2.0
"""The wheel as it is installed in the guest."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata

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


def test_limited_api_claim_holds_for_this_python() -> None:
    import importlib

    for name in ("vllm.spinloop", "vllm.fs_io_C"):
        assert importlib.import_module(name).__file__.endswith(".abi3.so")
