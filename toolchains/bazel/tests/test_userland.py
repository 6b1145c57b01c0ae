# SPDX-License-Identifier: Apache-2.0
"""The userland's folder depends on the lock, and only its usr is ever mounted."""

from pathlib import Path

import truststore
import userland
from lock import LockedPackage

A = LockedPackage("a", "1", "aa", 1, "pool/a")
B = LockedPackage("b", "1", "bb", 1, "pool/b")


def test_the_key_does_not_depend_on_the_order() -> None:
    assert userland.key([A, B]) == userland.key([B, A])


def test_another_digest_is_another_userland() -> None:
    assert userland.key([A]) != userland.key([LockedPackage("a", "1", "cc", 1, "pool/a")])


def test_links_into_etc_lead_into_usr_afterwards(tmp_path: Path) -> None:
    (tmp_path / "etc/java").mkdir(parents=True)
    (tmp_path / "etc/java/conf").write_text("x")
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/conf").symlink_to("/etc/java/conf")
    userland.relocate_etc(tmp_path)
    assert (tmp_path / "usr/lib/conf").readlink() == Path("/usr/etc/java/conf")
    assert (tmp_path / "usr/etc/java/conf").read_text() == "x"


def test_a_key_store_holds_every_certificate_of_the_bundle() -> None:
    pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" * 3
    store = truststore.java_key_store(pem)
    assert store[:12] == bytes.fromhex("feedfeed 00000002 00000003")
