# SPDX-License-Identifier: Apache-2.0
"""The inputs of the wheel are those that the build graph names, as the locks have them."""

from pathlib import Path

import pytest
from wheelbuild import inputs
from wheelbuild.errors import WheelError

SNAPSHOT = "20261030T080801Z"
DEBIAN = (
    "# arch\tpackage\n"
    f"amd64\tbash\t5.3-4\tforky\t{'a' * 64}\t1\tpool/main/b/bash/bash_5.3-4_amd64.deb\t{SNAPSHOT}\tbazel,exec\n"
    f"amd64\tlibpython\t1:3.14+x\tforky\t{'b' * 64}\t1\tpool/p_3.14_amd64.deb\t{SNAPSHOT}\tunpacker\n"
    f"riscv64\tlibc6\t2.42\tforky\t{'c' * 64}\t1\tpool/libc6.deb\t{SNAPSHOT}\tguest\n"
)
PYPI = f"# set\nexec\tsix\t1.17.0\tsix-1.17.0-py3-none-any.whl\t{'d' * 64}\nsdist\tvllm\t0.33.0\tvllm-0.33.0.tar.gz\t{'e' * 64}\n"


def test_a_repository_stands_for_its_set() -> None:
    found = inputs.sets_of_repositories(["_main~debian~debian_exec", "_main~pypi~pypi_exec", "_main~vllm~vllm_sdist", "platforms~", "bazel_tools"])
    assert found == {"debian/bazel", "debian/exec", "debian/unpacker", "pypi/exec", "pypi/sdist"}


def test_a_repository_without_a_lock_is_named() -> None:
    with pytest.raises(WheelError, match="_main~http~somebody is built from, but no lock is known"):
        inputs.sets_of_repositories(["_main~http~somebody"])


def test_a_file_is_listed_once_with_the_sets_that_count() -> None:
    found = inputs.locked_files({"debian/bazel", "debian/unpacker", "pypi/sdist"}, DEBIAN, PYPI)
    assert [(file.name, file.sets) for file in found] == [("bash", ("debian/bazel",)), ("libpython", ("debian/unpacker",)), ("vllm", ("pypi/sdist",))]


def test_a_set_that_no_lock_has_is_named() -> None:
    with pytest.raises(WheelError, match="no lock has the set debian/none"):
        inputs.locked_files({"debian/exec", "debian/none"}, DEBIAN, PYPI)


def test_a_damaged_lock_is_refused() -> None:
    with pytest.raises(WheelError, match="2 columns, expected 5"):
        inputs.locked_files({"debian/exec"}, DEBIAN, "six\t1.17.0\n")


def test_patches_stand_in_the_order_of_the_series(tmp_path: Path) -> None:
    for name in ("1.patch", "2.patch"):
        (tmp_path / name).write_text(name)
    (tmp_path / "series").write_text("# first the second\n2.patch\n1.patch\n")
    assert [Path(file.path).name for file in inputs.patches(tmp_path / "series")] == ["2.patch", "1.patch"]


def test_a_patch_that_is_no_input_is_named(tmp_path: Path) -> None:
    (tmp_path / "series").write_text("gone.patch\n")
    with pytest.raises(WheelError, match="gone.patch, which is no input"):
        inputs.patches(tmp_path / "series")
