# SPDX-License-Identifier: Apache-2.0
"""The wheel's bill of materials: CycloneDX JSON, the same bytes for the same inputs."""

from __future__ import annotations

import datetime
import hashlib
import json
import uuid
from collections.abc import Sequence

from cyclonedx.model import HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType, Diff, Patch, PatchClassification, Pedigree
from cyclonedx.output.json import JsonV1Dot6

from wheelbuild.errors import WheelError
from wheelbuild.inputs import HashedFile, LockedFile
from wheelbuild.purl import package_url

# Sets of which something is in the wheel: upstream's source, and headers and libraries that are compiled and linked against.
IN_THE_WHEEL = frozenset({"debian/sysroot", "pypi/sdist"})
PREFIX = "vllm-sm10"


def _sha256(digest: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


def _timestamp(files: Sequence[LockedFile]) -> datetime.datetime:
    """When the newest of the locked snapshots was made: a fact of the inputs, not of the build."""
    newest = max(file.snapshot for file in files if file.snapshot)
    return datetime.datetime.strptime(newest, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC)


def _locked(file: LockedFile, compiler: str) -> Component:
    properties = [Property(name=f"{PREFIX}:set", value=name) for name in file.sets]
    if file.name == compiler:
        properties.append(Property(name=f"{PREFIX}:role", value="compiler"))
    url = package_url(file)
    return Component(
        name=file.name,
        version=file.version,
        type=ComponentType.LIBRARY,
        scope=ComponentScope.REQUIRED if IN_THE_WHEEL & set(file.sets) else ComponentScope.EXCLUDED,
        purl=url,
        bom_ref=url.to_string(),
        hashes=[_sha256(file.sha256)],
        properties=properties,
    )


def _patch(file: HashedFile) -> Component:
    return Component(
        name=file.path,
        type=ComponentType.FILE,
        scope=ComponentScope.REQUIRED,
        bom_ref=file.path,
        hashes=[_sha256(file.sha256)],
        properties=[Property(name=f"{PREFIX}:role", value="patch")],
    )


def document(name: str, version: str, files: Sequence[LockedFile], patches: Sequence[HashedFile], compiler: str) -> bytes:
    """The bill of materials.

    Args:
      name: the wheel's project.
      version: its full version.
      files: everything that is locked and reaches the build.
      patches: those applied to upstream's source, in order.
      compiler: Debian package of the compiler that made the libraries.
    """
    if compiler not in {file.name for file in files}:
        raise WheelError(f"the compiler {compiler} is not among the locked inputs; correct the attribute compiler")
    components = {file: _locked(file, compiler) for file in files}
    upstream = [component for file, component in components.items() if "pypi/sdist" in file.sets]
    if len(upstream) != 1:
        raise WheelError(f"{len(upstream)} source distributions reach the wheel, expected one; see third_party/pypi/requests.toml")
    upstream[0].pedigree = Pedigree(patches=[Patch(type=PatchClassification.UNOFFICIAL, diff=Diff(url=XsUri(patch.path))) for patch in patches])
    root = Component(name=name, version=version, type=ComponentType.LIBRARY, bom_ref=f"{name}-{version}")
    parts = [*components.values(), *map(_patch, patches)]
    bom = Bom(serial_number=uuid.UUID(int=0), components=parts)
    bom.metadata.timestamp = _timestamp(files)
    bom.metadata.component = root
    bom.register_dependency(root, parts)
    content = json.loads(JsonV1Dot6(bom).output_as_string())
    # The identity of the document is its content.
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    content["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
