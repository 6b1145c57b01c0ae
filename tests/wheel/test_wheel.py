# SPDX-License-Identifier: Apache-2.0
"""The wheel's file: whole, complete, and with nothing of the machine that made it."""

from __future__ import annotations

import base64
import csv
import email
import email.message
import hashlib
import io
import os
import zipfile
from pathlib import Path

import pytest

LIBRARIES = ("vllm/_C.abi3.so", "vllm/fs_io_C.abi3.so", "vllm/spinloop.abi3.so")
EPOCH = (1980, 1, 1, 0, 0, 0)
# A build's folders: sandbox, execution root, output tree, and the repositories' own.
BUILD_PATHS = (b"/sandbox/", b"/execroot/", b"bazel-out", b"external/")


@pytest.fixture(scope="module")
def path() -> Path:
    return Path(os.environ["WHEEL"])


@pytest.fixture(scope="module")
def wheel(path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def info(wheel: zipfile.ZipFile) -> str:
    (folder,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    return folder


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile, info: str) -> email.message.Message:
    return email.message_from_bytes(wheel.read(f"{info}/METADATA"))


def test_archive_is_whole(wheel: zipfile.ZipFile) -> None:
    assert wheel.testzip() is None


def test_record_confirms_every_file(wheel: zipfile.ZipFile, info: str) -> None:
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(f"{info}/RECORD").decode()))}
    expected = {}
    for name in wheel.namelist():
        content = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        expected[name] = [f"sha256={digest}", str(len(content))]
    expected[f"{info}/RECORD"] = ["", ""]
    assert rows == expected


def test_no_file_stands_in_it_twice(wheel: zipfile.ZipFile) -> None:
    assert len(set(wheel.namelist())) == len(wheel.namelist())


def test_files_are_sorted_with_the_metadata_last(wheel: zipfile.ZipFile, info: str) -> None:
    names = [name for name in wheel.namelist() if name != f"{info}/RECORD"]
    assert names == sorted(names, key=lambda name: (name.startswith(info), name))
    assert wheel.namelist()[-1] == f"{info}/RECORD"


def test_times_are_the_epoch_of_the_format(wheel: zipfile.ZipFile) -> None:
    assert {entry.date_time for entry in wheel.infolist()} == {EPOCH}


def test_modes_are_two(wheel: zipfile.ZipFile) -> None:
    modes = {(entry.filename.endswith(".so"), entry.external_attr >> 16) for entry in wheel.infolist()}
    assert modes == {(False, 0o100644), (True, 0o100755)}


def test_there_is_no_byte_code(wheel: zipfile.ZipFile) -> None:
    assert [name for name in wheel.namelist() if name.endswith(".pyc") or "__pycache__" in name] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_library_is_there_without_a_path_of_the_build(library: str, wheel: zipfile.ZipFile) -> None:
    content = wheel.read(library)
    assert content.startswith(b"\x7fELF")
    assert [word for word in BUILD_PATHS if word in content] == []


def test_there_are_no_other_libraries(wheel: zipfile.ZipFile) -> None:
    assert sorted(name for name in wheel.namelist() if name.endswith(".so")) == sorted(LIBRARIES)


def test_name_of_the_file_tells_version_and_tag(path: Path, wheel: zipfile.ZipFile, info: str, metadata: email.message.Message) -> None:
    tags = email.message_from_bytes(wheel.read(f"{info}/WHEEL")).get_all("Tag")
    assert [path.name] == [f"vllm-{metadata['Version']}-{tag}.whl" for tag in tags]


def test_version_is_upstreams_with_our_local_part(metadata: email.message.Message) -> None:
    assert metadata["Version"].partition("+")[2] == "sm10"


def test_platform_tag_is_linux_riscv64_for_the_stable_abi(path: Path) -> None:
    # No manylinux: libgomp and libnuma come from the system.
    python, abi, platform = path.stem.split("-")[-3:]
    assert (python, abi, platform) == ("cp311", "abi3", "linux_riscv64")


def test_entry_points_are_upstreams(wheel: zipfile.ZipFile, info: str) -> None:
    lines = wheel.read(f"{info}/entry_points.txt").decode().splitlines()
    assert "vllm = vllm.entrypoints.cli.main:main" in lines
    assert "[vllm.general_plugins]" in lines


def test_licences_of_upstream_and_of_this_project_are_there(wheel: zipfile.ZipFile, info: str, metadata: email.message.Message) -> None:
    texts = [wheel.read(f"{info}/licenses/{name}") for name in metadata.get_all("License-File")]
    assert len(texts) == 2
    assert all(b"Apache License" in text for text in texts)


@pytest.mark.parametrize("module", ["numba", "opencv-python-headless", "oss-harmony", "outlines", "torchvision", "triton", "xgrammar"])
def test_nothing_without_a_riscv64_build_is_required(module: str, metadata: email.message.Message) -> None:
    required = [line.lower().replace("_", "-") for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert [line for line in required if line.startswith(module)] == []
