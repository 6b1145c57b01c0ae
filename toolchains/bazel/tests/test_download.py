# SPDX-License-Identifier: Apache-2.0
"""Only content with the locked digest gets into the cache; every failure names package and remedy."""

import hashlib
from pathlib import Path

import download
import pytest
from errors import LauncherError
from lock import LockedPackage

CONTENT = b"a package"
PACKAGE = LockedPackage("bash", "5.3", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "pool/bash.deb")


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    (tmp_path / "mirror/pool").mkdir(parents=True)
    (tmp_path / "mirror/pool/bash.deb").write_bytes(CONTENT)
    return tmp_path / "mirror"


def test_verified_content_is_cached(mirror: Path, tmp_path: Path) -> None:
    file = download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache")
    assert file.read_bytes() == CONTENT


def test_the_cache_needs_no_mirror(mirror: Path, tmp_path: Path) -> None:
    download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache")
    assert download.fetch(PACKAGE, None, tmp_path / "cache").read_bytes() == CONTENT


def test_a_damaged_cache_entry_is_fetched_again(mirror: Path, tmp_path: Path) -> None:
    file = download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache")
    file.write_bytes(b"damage")
    assert download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache").read_bytes() == CONTENT


def test_wrong_content_names_package_and_digests(mirror: Path, tmp_path: Path) -> None:
    (mirror / "pool/bash.deb").write_bytes(b"something else")
    with pytest.raises(LauncherError) as error:
        download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache")
    got = hashlib.sha256(b"something else").hexdigest()
    assert all(word in str(error.value) for word in ("bash 5.3", PACKAGE.sha256, got, "DEBIAN_MIRROR"))


def test_wrong_content_leaves_nothing_behind(mirror: Path, tmp_path: Path) -> None:
    (mirror / "pool/bash.deb").write_bytes(b"something else")
    with pytest.raises(LauncherError):
        download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_missing_file_names_package_and_remedy(mirror: Path, tmp_path: Path) -> None:
    (mirror / "pool/bash.deb").unlink()
    with pytest.raises(LauncherError, match=r"(?s)bash 5\.3: cannot fetch .*DEBIAN_MIRROR"):
        download.fetch(PACKAGE, mirror.as_uri(), tmp_path / "cache")


def test_an_unreachable_mirror_names_package_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(LauncherError, match=r"(?s)bash 5\.3: cannot fetch .*DEBIAN_MIRROR"):
        download.fetch(PACKAGE, "http://127.0.0.1:9/debian", tmp_path / "cache")


def test_without_any_mirror_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(LauncherError, match="set DEBIAN_MIRROR"):
        download.fetch(PACKAGE, None, tmp_path / "cache")
