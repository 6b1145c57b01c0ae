# SPDX-License-Identifier: Apache-2.0
"""The wheel requires what upstream requires on riscv64, with the reviewed differences and no stale ones."""

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from wheelbuild import requirements
from wheelbuild.errors import WheelError

NO_DIFFERENCES = requirements.Differences(frozenset(), {}, {})


def differences(tmp_path: Path, text: str) -> requirements.Differences:
    file = tmp_path / "requirements.toml"
    file.write_text(text)
    return requirements.read_differences(file)


def test_included_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "common.txt").write_text("a >= 1 # why\n# comment\n")
    (tmp_path / "cpu.txt").write_text("-r common.txt\n--index-url nowhere\nb\n")
    assert [str(found) for found in requirements.upstream_requirements(tmp_path / "cpu.txt")] == ["a>=1", "b"]


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ('platform_machine == "x86_64"', False),
        ('platform_machine != "riscv64"', False),
        ('platform_machine == "riscv64"', True),
        ('python_version > "3.13"', True),
        ('python_version < "3.11"', False),
    ],
)
def test_markers_decide_for_riscv64(marker: str, expected: bool) -> None:
    assert requirements.concerns_riscv64(Requirement(f"a; {marker}")) is expected


def test_a_dropped_name_is_not_required(tmp_path: Path) -> None:
    found = requirements.wheel_requirements([Requirement("numba==1"), Requirement("b")], differences(tmp_path, '[drop]\nnumba = "x"\n'))
    assert found == ["b"]


def test_a_replacement_stands_once(tmp_path: Path) -> None:
    upstream = [Requirement("torch==2.14.0"), Requirement("torch==2.14.0; platform_system == 'Linux'")]
    assert requirements.wheel_requirements(upstream, differences(tmp_path, '[replace]\ntorch = "torch>=2.14"\n')) == ["torch>=2.14"]


def test_a_difference_that_changes_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="no longer requires numba"):
        requirements.wheel_requirements([Requirement("b")], differences(tmp_path, '[drop]\nnumba = "x"\n'))


def test_an_addition_that_upstream_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="requires b on riscv64 itself"):
        requirements.wheel_requirements([Requirement("b")], differences(tmp_path, '[add]\nb = "b"\n'))


def test_a_line_that_is_no_requirement_is_named(tmp_path: Path) -> None:
    (tmp_path / "cpu.txt").write_text("not a requirement\n")
    with pytest.raises(WheelError, match="not a requirement"):
        requirements.upstream_requirements(tmp_path / "cpu.txt")


def test_an_unknown_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match=r"unknown table \[dorp\]"):
        differences(tmp_path, "[dorp]\n")
