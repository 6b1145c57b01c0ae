# SPDX-License-Identifier: Apache-2.0
"""The provenance statement: in-toto Statement v1 with SLSA's provenance v1, unsigned; who signs it, signs these bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from wheelbuild.inputs import HashedFile, LockedFile
from wheelbuild.purl import package_url

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:vllm-sm10:bazel-target:v1"
BUILDER = "urn:vllm-sm10:bazelw"


def statement(subject: HashedFile, target: str, bazel: str, files: Sequence[LockedFile], sources: Sequence[HashedFile]) -> bytes:
    """The statement. It says nothing of the machine or of the time, so a second build has the same.

    Args:
      subject: the wheel, by file name.
      target: label that builds it.
      bazel: Bazel's version, as .bazelversion has it.
      files: everything that is locked and reaches the build.
      sources: this workspace's files that reach it.
    """
    locked = [{"name": file.filename, "uri": package_url(file).to_string(), "digest": {"sha256": file.sha256}} for file in files]
    own = [{"name": file.path, "digest": {"sha256": file.sha256}} for file in sources]
    document = {
        "_type": STATEMENT,
        "subject": [{"name": subject.path, "digest": {"sha256": subject.sha256}}],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"target": target},
                "internalParameters": {"bazel": bazel},
                "resolvedDependencies": [*locked, *own],
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
