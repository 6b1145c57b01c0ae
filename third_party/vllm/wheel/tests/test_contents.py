# SPDX-License-Identifier: Apache-2.0
"""Only what the package needs at run time goes into the wheel, and only riscv64 libraries."""

from pathlib import Path

import pytest
from wheelbuild import contents
from wheelbuild.errors import WheelError


def test_sources_of_extensions_stay_out(tmp_path: Path) -> None:
    names = ["vllm/__init__.py", "vllm/a.json", "vllm/a.cu", "vllm/README.md", "vllm/x/LICENSE"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = contents.package(tmp_path, [str(tmp_path / name) for name in names])
    assert sorted(found) == ["vllm/__init__.py", "vllm/a.json", "vllm/x/LICENSE"]


def test_a_package_without_init_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="__init__"):
        contents.package(tmp_path, [])


def test_a_library_of_another_machine_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "a.so"
    library.write_bytes(b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little"))
    with pytest.raises(WheelError, match="no riscv64 library"):
        contents.libraries([f"a.so={library}"])


def test_a_module_of_ours_never_replaces_a_member(tmp_path: Path) -> None:
    module = tmp_path / "a.py"
    module.write_text("x = 1\n")
    assert contents.modules([f"own/a.py={module}"], {}) == {"own/a.py": b"x = 1\n"}
    with pytest.raises(WheelError, match="own/a.py is in the wheel already"):
        contents.modules([f"own/a.py={module}"], {"own/a.py": b""})
