# SPDX-License-Identifier: Apache-2.0
"""An InRelease file counts only with a good signature, and an index only with the digest that was signed."""

import hashlib
import lzma
from pathlib import Path

import pytest

from third_party.debian.lock import release
from third_party.debian.lock.errors import FormatError, MirrorError, SignatureError
from third_party.debian.lock.mirror import Mirror
from third_party.debian.lock.release import Release, parse_release, unverified_text, verified_text

SIGNED = Path(__file__).absolute().parent / "signed"
KEYRING = SIGNED / "keyring.gpg"
MESSAGE = (SIGNED / "InRelease").read_bytes()
INDEX = b"Package: a\n"


def test_signed_text_comes_without_its_armour() -> None:
    assert verified_text("testing", MESSAGE, KEYRING).startswith("Origin: Test\nSuite: testing\n")


def test_unverified_text_is_the_same() -> None:
    assert unverified_text(MESSAGE) == verified_text("testing", MESSAGE, KEYRING)


def test_changed_text_is_refused() -> None:
    with pytest.raises(SignatureError, match="InRelease of testing: no good signature by a key of .*keyring.gpg"):
        verified_text("testing", MESSAGE.replace(b"Suite: testing", b"Suite: unsafe!"), KEYRING)


def test_unknown_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.gpg").write_bytes(b"")
    with pytest.raises(SignatureError, match="--no-verify-signature"):
        verified_text("testing", MESSAGE, tmp_path / "empty.gpg")


def test_without_gpgv_nothing_is_trusted_in_silence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SignatureError, match="gpgv is missing; install gpgv"):
        verified_text("testing", MESSAGE, KEYRING)


def test_without_a_keyring_nothing_is_trusted_in_silence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(release, "DEFAULT_KEYRINGS", (tmp_path / "none.gpg",))
    with pytest.raises(SignatureError, match="the Debian archive keyring is missing"):
        verified_text("testing", MESSAGE, None)


def test_snapshot_is_the_release_date() -> None:
    assert parse_release("testing", unverified_text(MESSAGE)).snapshot == "20261030T080801Z"


def test_digests_are_by_path() -> None:
    assert parse_release("testing", unverified_text(MESSAGE)).digests == {"main/binary-riscv64/Packages.xz": "0" * 64}


def test_other_answer_than_a_release_is_refused() -> None:
    with pytest.raises(FormatError, match="is the mirror a Debian archive"):
        unverified_text(b"<html>not found</html>")


def test_release_without_digests_is_refused() -> None:
    with pytest.raises(FormatError, match="Date or SHA256 is missing"):
        parse_release("testing", "Origin: Test\n")


def serve(tmp_path: Path, digest: str, data: bytes) -> Mirror:
    path = tmp_path / f"dists/testing/main/binary-riscv64/by-hash/SHA256/{digest}"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return Mirror(f"file://{tmp_path}")


def test_index_is_read_by_its_digest(tmp_path: Path) -> None:
    data = lzma.compress(INDEX)
    digest = hashlib.sha256(data).hexdigest()
    suite = Release("testing", "", {"main/binary-riscv64/Packages.xz": digest})
    assert suite.read_index(serve(tmp_path, digest, data), "riscv64") == INDEX.decode()


def test_index_of_another_digest_is_refused(tmp_path: Path) -> None:
    suite = Release("testing", "", {"main/binary-riscv64/Packages.xz": "0" * 64})
    with pytest.raises(MirrorError, match="has sha256 [0-9a-f]{64}, InRelease says 0{64}"):
        suite.read_index(serve(tmp_path, "0" * 64, lzma.compress(INDEX)), "riscv64")


def test_unknown_architecture_is_named() -> None:
    with pytest.raises(MirrorError, match="suite testing has no main/binary-sparc/Packages.xz"):
        Release("testing", "", {}).read_index(Mirror("file:///"), "sparc")
