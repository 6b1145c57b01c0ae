# SPDX-License-Identifier: Apache-2.0
"""The fetch phase hands on what is locked, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.isolated import fetch
from ci.isolated.errors import JobError

DIGEST = "a" * 64


def lock(folder: Path, header: str, row: str) -> Path:
    path = folder / "lock.tsv"
    path.write_text(f"# Made by something\n# {header}\n{row}\n")
    return path


def cached(cache: Path, digest: str, text: str) -> None:
    folder = cache / "content_addressable/sha256" / digest
    folder.mkdir(parents=True)
    (folder / "file").write_text(text)


@pytest.mark.parametrize(
    ("header", "row", "name"),
    [
        ("package\tsha256\tpath", f"p\t{DIGEST}\tpool/p/p_1_amd64.deb", "p_1_amd64.deb"),
        ("set\tname\tversion\tfilename\tsha256", f"s\tn\t1\tn-1.whl\t{DIGEST}", "n-1.whl"),
        ("name\tversion\tsha256\tintegrity", f"@scope/tool\t1.2\t{DIGEST}\tsha512-x", "tool-1.2.tgz"),
    ],
)
def test_lock_is_read_by_the_names_of_its_columns(header: str, row: str, name: str, tmp_path: Path) -> None:
    assert fetch.locked([lock(tmp_path, header, row)]) == {name: DIGEST}


def test_lock_without_names_of_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="no file name and sha256 in"):
        fetch.locked([lock(tmp_path, "a\tb", f"p\t{DIGEST}")])


def test_every_lock_of_the_workspace_can_be_read() -> None:
    files = fetch.lock_files(Path.cwd())
    assert len(files) >= 4
    assert len(fetch.locked(files)) > 400


def test_what_is_cached_but_not_locked_is_left_out(tmp_path: Path) -> None:
    cached(tmp_path / "cache", DIGEST, "locked")
    cached(tmp_path / "cache", "b" * 64, "not locked")
    assert fetch.fill(tmp_path / "folder", {"p.deb": DIGEST, "absent.deb": "c" * 64}, tmp_path / "cache") == 1
    assert [(path.name, path.read_text()) for path in (tmp_path / "folder").iterdir()] == [("p.deb", "locked")]
