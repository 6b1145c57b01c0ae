# SPDX-License-Identifier: Apache-2.0
"""The provenance statement has in-toto's and SLSA's required fields, and nothing of a machine or a time."""

import json

from wheelbuild import provenance
from wheelbuild.inputs import HashedFile, LockedFile

WHEEL = HashedFile("vllm-1.whl", "a" * 64)
LOCKED = LockedFile("pypi", "vllm", "0.33.0", "", "", "b" * 64, "vllm-0.33.0.tar.gz", "", ("pypi/sdist",))
OWN = HashedFile("ime2/kernel/a.cc", "c" * 64)


def made() -> dict:
    return json.loads(provenance.statement(WHEEL, "//:wheel", "7.7.1", [LOCKED], [OWN]))


def test_subject_is_the_wheel_by_digest() -> None:
    assert made()["subject"] == [{"name": "vllm-1.whl", "digest": {"sha256": "a" * 64}}]


def test_types_are_those_of_the_specifications() -> None:
    statement = made()
    assert (statement["_type"], statement["predicateType"]) == ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1")
    assert set(statement["predicate"]) == {"buildDefinition", "runDetails"}
    assert {"buildType", "externalParameters", "resolvedDependencies"} <= set(statement["predicate"]["buildDefinition"])
    assert statement["predicate"]["runDetails"]["builder"]["id"]


def test_every_dependency_has_a_digest() -> None:
    dependencies = made()["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert [(entry["name"], entry["digest"]["sha256"]) for entry in dependencies] == [("vllm-0.33.0.tar.gz", "b" * 64), ("ime2/kernel/a.cc", "c" * 64)]


def test_no_time_and_no_invocation_is_stated() -> None:
    assert "metadata" not in made()["predicate"]["runDetails"]
