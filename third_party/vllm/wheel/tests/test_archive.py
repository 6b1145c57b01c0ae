# SPDX-License-Identifier: Apache-2.0
"""A wheel's bytes depend on its members alone, and RECORD tells the truth about them."""

import base64
import csv
import hashlib
import zipfile
from pathlib import Path

from wheelbuild import archive

MEMBERS = {"vllm/b.py": b"b", "vllm-1.dist-info/METADATA": b"m", "vllm/_C.abi3.so": b"\x7fELFso"}
RECORD = "vllm-1.dist-info/RECORD"


def test_the_order_of_members_does_not_matter(tmp_path: Path) -> None:
    archive.write_wheel(tmp_path / "a.whl", MEMBERS, RECORD)
    archive.write_wheel(tmp_path / "b.whl", dict(reversed(MEMBERS.items())), RECORD)
    assert (tmp_path / "a.whl").read_bytes() == (tmp_path / "b.whl").read_bytes()


def test_record_holds_every_member_with_its_digest(tmp_path: Path) -> None:
    archive.write_wheel(tmp_path / "a.whl", MEMBERS, RECORD)
    with zipfile.ZipFile(tmp_path / "a.whl") as wheel:
        rows = list(csv.reader(wheel.read(RECORD).decode().splitlines()))
    assert rows[-1] == [RECORD, "", ""]
    for name, digest, size in rows[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(MEMBERS[name]).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={expected}", str(len(MEMBERS[name])))
    assert {row[0] for row in rows} == {*MEMBERS, RECORD}


def test_dist_info_comes_last(tmp_path: Path) -> None:
    archive.write_wheel(tmp_path / "a.whl", MEMBERS, RECORD)
    with zipfile.ZipFile(tmp_path / "a.whl") as wheel:
        assert wheel.namelist()[-2:] == ["vllm-1.dist-info/METADATA", RECORD]


def test_times_and_modes_are_fixed(tmp_path: Path) -> None:
    archive.write_wheel(tmp_path / "a.whl", MEMBERS, RECORD)
    with zipfile.ZipFile(tmp_path / "a.whl") as wheel:
        assert {entry.date_time for entry in wheel.infolist()} == {archive.EPOCH}
        assert wheel.getinfo("vllm/b.py").external_attr >> 16 == archive.MODE_FILE
        assert wheel.getinfo("vllm/_C.abi3.so").external_attr >> 16 == archive.MODE_PROGRAM
