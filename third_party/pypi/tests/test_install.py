# SPDX-License-Identifier: Apache-2.0
"""Wheels are installed by the rules of the format."""

import csv
import importlib.util
from pathlib import Path

import pytest
from bytecode import compile_folders
from conftest import MakeWheel
from wheels import InstallError, Scheme, install

LIB = "usr/lib/python"


@pytest.fixture
def scheme(tmp_path: Path) -> Scheme:
    return Scheme(tmp_path / "root", LIB, "usr", "/usr/bin/python3")


def test_modules_go_to_the_module_folder(make_wheel: MakeWheel, scheme: Scheme) -> None:
    install(make_wheel("a", {"a/__init__.py": b"x = 1\n"}), scheme)
    assert (scheme.root / LIB / "a/__init__.py").read_bytes() == b"x = 1\n"


def test_parts_of_the_data_folder_are_spread(make_wheel: MakeWheel, scheme: Scheme) -> None:
    parts = {"a-1.0.data/data/share/a.txt": b"1", "a-1.0.data/headers/a.h": b"2", "a-1.0.data/platlib/b.py": b"3"}
    install(make_wheel("a", parts), scheme)
    placed = [scheme.root / path for path in ("usr/share/a.txt", "usr/include/a/a.h", f"{LIB}/b.py")]
    assert [path.read_bytes() for path in placed] == [b"1", b"2", b"3"]


def test_scripts_get_the_interpreter_and_may_be_started(make_wheel: MakeWheel, scheme: Scheme) -> None:
    install(make_wheel("a", {"a-1.0.data/scripts/tool": b"#!python\nprint()\n"}), scheme)
    tool = scheme.root / "usr/bin/tool"
    assert tool.read_bytes() == b"#!/usr/bin/python3\nprint()\n"
    assert tool.stat().st_mode & 0o777 == 0o755


def test_entry_points_become_scripts(make_wheel: MakeWheel, scheme: Scheme) -> None:
    install(make_wheel("a", {"a-1.0.dist-info/entry_points.txt": b"[console_scripts]\nTool = a.b:run.main\n"}), scheme)
    text = (scheme.root / "usr/bin/Tool").read_text()
    assert "from a.b import run\n" in text
    assert "sys.exit(run.main())" in text


def test_record_lists_what_was_installed(make_wheel: MakeWheel, scheme: Scheme) -> None:
    files = {"a.py": b"1", "a-1.0.data/scripts/tool": b"#!python\n"}
    install(make_wheel("a", files), scheme)
    rows = list(csv.reader((scheme.root / LIB / "a-1.0.dist-info/RECORD").read_text().splitlines()))
    assert {row[0] for row in rows} == {"../../../usr/bin/tool", "a.py", "a-1.0.dist-info/RECORD"}
    assert all((scheme.root / LIB / row[0]).resolve().is_file() for row in rows)


def test_file_that_record_does_not_confirm_is_refused(make_wheel: MakeWheel, scheme: Scheme) -> None:
    wheel = make_wheel("a", {"a.py": b"1"}, record={"a.py": b"2"})
    with pytest.raises(InstallError, match="a-1.0-py3-none-any.whl: a.py: RECORD says sha256=.*, the file is sha256="):
        install(wheel, scheme)


def test_path_out_of_the_wheel_is_refused(make_wheel: MakeWheel, scheme: Scheme) -> None:
    with pytest.raises(InstallError, match="../a.py points outside the wheel"):
        install(make_wheel("a", {"../a.py": b"1"}), scheme)


def test_two_wheels_with_one_file_of_different_content_are_refused(make_wheel: MakeWheel, scheme: Scheme) -> None:
    install(make_wheel("a", {"shared/x.py": b"1"}), scheme)
    with pytest.raises(InstallError, match="b-1.0-py3-none-any.whl: .*shared/x.py was already installed"):
        install(make_wheel("b", {"shared/x.py": b"2"}), scheme)


def test_broken_archive_is_named(tmp_path: Path, scheme: Scheme) -> None:
    (tmp_path / "c.whl").write_bytes(b"no zip")
    with pytest.raises(InstallError, match="c.whl: not a readable wheel"):
        install(tmp_path / "c.whl", scheme)


def test_byte_code_names_the_path_in_the_root_and_templates_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / LIB
    folder.mkdir(parents=True)
    (folder / "good.py").write_text("def f(): pass\n")
    (folder / "template.py").write_text("{{ no python }}}\n")
    compile_folders(tmp_path, [LIB], 1)
    (made,) = (folder / "__pycache__").iterdir()
    spec = importlib.util.spec_from_file_location("good", made)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.f.__code__.co_filename == f"/{LIB}/good.py"
