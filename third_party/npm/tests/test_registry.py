# SPDX-License-Identifier: Apache-2.0
"""A package is locked only if its archive is what the registry says and can be used as it is. The registry is a folder of files."""

import base64
import hashlib
import json
from pathlib import Path

import pytest
from conftest import MakeArchive
from lockfile import Entry
from registry import Registry, RegistryError, check_usable


def integrity(content: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


def serve(folder: Path, archive: bytes, told: str) -> Registry:
    package = folder / "@scope/alpha"
    (package / "-").mkdir(parents=True)
    (package / "-/alpha-1.0.0.tgz").write_bytes(archive)
    (package / "1.0.0").write_text(json.dumps({"dist": {"integrity": told}}))
    return Registry(folder.as_uri())


def test_both_hashes_are_those_of_the_archive(tmp_path: Path, make_archive: MakeArchive) -> None:
    archive = make_archive({"a": b"1"})
    locked = serve(tmp_path, archive, integrity(archive)).lock("@scope/alpha", "1.0.0", {})
    assert locked == Entry("@scope/alpha", "1.0.0", hashlib.sha256(archive).hexdigest(), integrity(archive))


def test_archive_that_the_registry_does_not_confirm_is_refused(tmp_path: Path, make_archive: MakeArchive) -> None:
    registry = serve(tmp_path, make_archive({"a": b"1"}), integrity(b"another"))
    with pytest.raises(RegistryError, match="@scope/alpha 1.0.0: the registry says integrity .*ask another registry"):
        registry.lock("@scope/alpha", "1.0.0", {})


def test_package_that_the_registry_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="no answer to .*/beta/2.0.0: .*check requests.toml and NPM_REGISTRY"):
        Registry(tmp_path.as_uri()).lock("beta", "2.0.0", {})


def test_package_that_is_made_by_a_script_is_refused() -> None:
    with pytest.raises(RegistryError, match="alpha: its postinstall script makes a part of it"):
        check_usable("alpha", {"scripts": {"test": "x", "postinstall": "y"}}, {})


def test_dependency_must_be_asked_for() -> None:
    manifest = {"dependencies": {"beta": "^1.0.0", "gamma": "^1.0.0"}}
    with pytest.raises(RegistryError, match="alpha: it needs gamma; ask for them in requests.toml"):
        check_usable("alpha", manifest, {"alpha": "1.0.0", "beta": "1.0.0"})
