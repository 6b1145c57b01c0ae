# SPDX-License-Identifier: Apache-2.0
"""The guest's file system as a list of steps."""

from __future__ import annotations

import pathlib

import pytest
from guest import cli, config, namespace, root
from guest.errors import GuestError, UsageError
from guest.levels import Core

A100 = Core(level="a100", vlen=1024, cpu="rv64,vlen=1024,xsmtvdotii=true", ime2=True)
X100 = Core(level="x100", vlen=256, cpu="rv64,vlen=256")


def elf(machine: int) -> bytes:
    """The head of an ELF file."""
    return b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little")


def write(path: pathlib.Path, content: bytes = b"") -> pathlib.Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> root.Tree:
    """The least that the runner takes for a guest."""
    base = tmp_path / "root"
    write(base / "usr/lib/riscv64-linux-gnu/libc.so.6")
    write(base / "usr/bin/bash", elf(243))
    write(base / "usr/bin/script", b"#!/bin/sh\n")
    (base / "usr/bin/sh").symlink_to("bash")
    return root.Tree(root=base, qemu=write(tmp_path / "qemu"), launcher=write(tmp_path / "launcher"))


def steps_by_path(tree: root.Tree) -> dict[str, root.Step]:
    return {step.path: step for step in root.root_steps(tree, X100, 1000, 1000, ())}


def test_riscv64_program_is_replaced_by_the_launcher(tree: root.Tree) -> None:
    assert steps_by_path(tree)["usr/bin/bash"] == root.Launcher("usr/bin/bash")


def test_script_stays_what_it_is(tree: root.Tree) -> None:
    assert steps_by_path(tree)["usr/bin/script"] == root.Link("usr/bin/script", "/guest/real/usr/bin/script")


def test_link_between_programs_is_kept(tree: root.Tree) -> None:
    assert steps_by_path(tree)["usr/bin/sh"] == root.Link("usr/bin/sh", "bash")


def test_user_has_an_account(tree: root.Tree) -> None:
    assert "guest:x:1000:1000:" in steps_by_path(tree)["etc/passwd"].text


def test_libraries_are_read_only(tree: root.Tree) -> None:
    assert steps_by_path(tree)["usr/lib"] == root.Bind(tree.root / "usr/lib", "usr/lib", writable=False)


def test_folder_that_is_no_riscv64_tree_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(GuestError, match="is no riscv64 Debian tree"):
        root.root_steps(root.Tree(root=tmp_path, qemu=tmp_path, launcher=tmp_path), X100, 0, 0, ())


def test_folders_of_two_overlays_are_merged(tmp_path: pathlib.Path) -> None:
    one, two = write(tmp_path / "one/pkg/a.py"), write(tmp_path / "two/pkg/b.py")
    binds = {step.path: step.source for step in root.merge([tmp_path / "one", tmp_path / "two"], "site") if isinstance(step, root.Bind)}
    assert binds == {"site/pkg/a.py": one, "site/pkg/b.py": two}


def test_folder_of_one_overlay_is_mounted_whole(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "one/pkg/a.py")
    assert root.merge([tmp_path / "one"], "site") == [root.Folder("site"), root.Bind(tmp_path / "one/pkg", "site/pkg")]


def test_file_in_two_overlays_is_an_error_that_names_both(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "one/a.py")
    write(tmp_path / "two/a.py")
    with pytest.raises(GuestError, match=r"one/a\.py and .*two/a\.py both want to be /site/a\.py"):
        root.merge([tmp_path / "one", tmp_path / "two"], "site")


@pytest.mark.parametrize("path", ["/", "/usr/src", "/etc", "/proc/self", "/guest/home"])
def test_folder_under_the_guests_own_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="cannot be shown in the guest"):
        root.check_visible(pathlib.Path(path))


@pytest.mark.parametrize("path", ["/home/u/x", "/tmp/x", "/srv", "/root/y"])
def test_folder_of_the_users_is_shown(path: str) -> None:
    root.check_visible(pathlib.Path(path))


def test_folder_inside_another_shown_one_is_mounted_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    assert [bind.source for bind in cli.folders(tmp_path / "a/b", [tmp_path / "a"])] == [tmp_path / "a"]


def test_elf_machine_of_a_short_file_is_none(tmp_path: pathlib.Path) -> None:
    assert root.elf_machine(write(tmp_path / "x", b"\x7fELF")) is None


def test_identity_map_keeps_every_id_of_the_namespace() -> None:
    assert namespace._identity_map("         0     100000      65536\n     70000  5 1\n") == "0 0 65536\n70000 70000 1\n"


def test_folder_of_links_leads_to_the_real_folder(tmp_path: pathlib.Path) -> None:
    real = write(tmp_path / "real/pkg/a.py")
    (tmp_path / "shown/pkg").mkdir(parents=True)
    (tmp_path / "shown/pkg/a.py").symlink_to(real)
    assert config.real_folder(tmp_path / "shown") == tmp_path / "real"


def test_tree_is_found_in_the_output_base_of_its_digest(tmp_path: pathlib.Path) -> None:
    (tmp_path / "external/repo/root").mkdir(parents=True)
    digest = write(tmp_path / "execroot/_main/bazel-out/x.id")
    (tmp_path / "runfiles").mkdir()
    (tmp_path / "runfiles/x.id").symlink_to(digest)
    assert config.locate({"id": "x.id", "path": "external/repo/root"}, tmp_path / "runfiles") == tmp_path / "external/repo/root"


def test_tree_that_is_not_in_an_output_base_is_named(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "x.id")
    with pytest.raises(GuestError, match="external/repo/root is not in the output base"):
        config.locate({"id": "x.id", "path": "external/repo/root"}, tmp_path)


def test_core_with_ime2_gets_its_own_emulator(tmp_path: pathlib.Path) -> None:
    tree = root.Tree(root=tmp_path, qemu=tmp_path / "stock", launcher=tmp_path, ime2_qemu=tmp_path / "ours")
    assert [root.emulator(tree, core).name for core in (X100, A100)] == ["stock", "ours"]


def test_core_with_ime2_is_refused_where_no_emulator_has_it(tmp_path: pathlib.Path) -> None:
    with pytest.raises(GuestError, match="level a100 has IME2"):
        root.emulator(root.Tree(root=tmp_path, qemu=tmp_path, launcher=tmp_path), A100)
