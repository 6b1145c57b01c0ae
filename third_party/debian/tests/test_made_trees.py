# SPDX-License-Identifier: Apache-2.0
"""The trees that the build uses are complete and lead nowhere else. SM10_TREE_<NAME> names the root of each."""

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

NAMES = ("exec", "guest", "sysroot")
RISCV_LIBRARIES = "usr/lib/riscv64-linux-gnu"


def root(name: str) -> Path:
    return Path(os.environ[f"SM10_TREE_{name.upper()}"]).resolve()


def links(top: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        for entry in [*folders, *files]:
            path = Path(folder, entry)
            if path.is_symlink():
                yield path


@pytest.fixture(params=NAMES)
def tree(request: pytest.FixtureRequest) -> Path:
    return root(request.param)


def test_no_link_is_absolute(tree: Path) -> None:
    assert [path for path in links(tree) if path.readlink().is_absolute()] == []


def test_every_link_ends_in_the_tree(tree: Path) -> None:
    assert [path for path in links(tree) if not path.resolve().is_relative_to(tree) or not path.exists()] == []


def test_top_level_folders_are_merged_into_usr(tree: Path) -> None:
    assert {path.name: str(path.readlink()) for path in tree.iterdir() if path.is_symlink()}.items() >= {"lib": "usr/lib"}.items()


@pytest.mark.parametrize(
    "script", [("sysroot", f"{RISCV_LIBRARIES}/libc.so"), ("exec", "usr/lib/x86_64-linux-gnu/libc.so"), ("exec", "usr/lib/x86_64-linux-gnu/libm.so")]
)
def test_linker_script_has_no_path_of_the_host(script: tuple[str, str]) -> None:
    text = (root(script[0]) / script[1]).read_text()
    assert re.findall(r"[\s(](=?/[^*\s]\S*)", text), "the file is no linker script"
    assert re.findall(r"[\s(](/[^*\s]\S*)", text) == []


@pytest.mark.parametrize(
    "path",
    [
        "usr/include/riscv64-linux-gnu/asm/hwprobe.h",  # by a link to the kernel's headers of this architecture
        "usr/include/c++/15/vector",
        "usr/include/riscv64-linux-gnu/c++/15/bits/c++config.h",
        "usr/include/python3.14/Python.h",
        "usr/include/torch/csrc/api/include/torch/all.h",
        f"{RISCV_LIBRARIES}/libtorch_cpu.so",
        f"{RISCV_LIBRARIES}/libnuma.so",
        f"{RISCV_LIBRARIES}/libstdc++.so",
        f"{RISCV_LIBRARIES}/libgomp.so",
        f"{RISCV_LIBRARIES}/libc.a",
    ],
)
def test_sysroot_holds(path: str) -> None:
    assert (root("sysroot") / path).is_file()


def test_cross_compiler_has_no_c_library_beside_the_sysroot() -> None:
    folder = root("exec") / "usr/riscv64-linux-gnu"
    assert sorted(str(path.relative_to(folder)) for path in [*folder.glob("lib/*"), *folder.glob("include/*")]) == ["include/c++"]


def test_cross_compiler_can_build_for_openmp() -> None:
    assert (root("exec") / "usr/lib/gcc-cross/riscv64-linux-gnu/15/libgomp.spec").is_file()


@pytest.mark.parametrize("library", ["libblas.so.3", "liblapack.so.3", "libopenblas.so.0"])
def test_guest_has_the_links_of_update_alternatives(library: str) -> None:
    assert (root("guest") / RISCV_LIBRARIES / library).resolve().parent.name == "openblas-openmp"


def test_guest_byte_code_fits_this_python() -> None:
    """The exec Python that runs this test is of the guest's version; flag 1 without flag 2 is a hash that nobody checks."""
    code = (root("guest") / "usr/lib/python3/dist-packages/torch/__pycache__/__init__.cpython-314.pyc").read_bytes()
    assert (code[:4], code[4:8]) == (importlib.util.MAGIC_NUMBER, b"\1\0\0\0")


def test_guest_has_certificates() -> None:
    assert (root("guest") / "etc/ssl/certs/ca-certificates.crt").read_text().count("BEGIN CERTIFICATE") > 100
