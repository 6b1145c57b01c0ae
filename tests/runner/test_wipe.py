# SPDX-License-Identifier: Apache-2.0
"""The work folder is emptied, and nothing beside it is touched."""

from __future__ import annotations

import os
from pathlib import Path

import made
import namespace
import pytest
from conftest import Refused

from ci.runner import wipe
from ci.runner.faults import Kind, RunnerError


def test_the_work_folder_is_emptied_but_for_what_the_runner_has_filled(runner: made.Runner) -> None:
    for name in ("_actions/a/b", "_tool/node/x", "other/repo/file", "vllm-sm10/vllm-sm10/.git/config"):
        (runner.work / name).parent.mkdir(parents=True)
        (runner.work / name).write_text("left", encoding="utf-8")
    runner.start()
    assert sorted(path.name for path in runner.work.iterdir()) == ["_actions", "_temp", "vllm-sm10"]


def test_the_job_finds_its_folder_empty(runner: made.Runner) -> None:
    runner.workspace.mkdir(parents=True)
    (runner.workspace / "left").touch()
    runner.start()
    assert list(runner.workspace.iterdir()) == []


def test_what_a_link_points_to_stays(runner: made.Runner, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").touch()
    (runner.work / "link").symlink_to(tmp_path / "precious")
    (runner.work / "vllm-sm10").symlink_to(tmp_path / "precious")
    runner.start()
    assert (tmp_path / "precious/file").exists()


def test_the_links_are_gone(runner: made.Runner, tmp_path: Path) -> None:
    (runner.work / "vllm-sm10").symlink_to(tmp_path)
    runner.start()
    assert not (runner.work / "vllm-sm10").is_symlink()


def test_a_hard_link_does_not_take_the_other_name(runner: made.Runner, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text", encoding="utf-8")
    os.link(tmp_path / "precious", runner.work / "link")
    runner.start()
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "text"


def test_folders_without_permissions_are_emptied(runner: made.Runner) -> None:
    (runner.work / "a/b/c").mkdir(parents=True)
    (runner.work / "a/b").chmod(0)
    (runner.work / "a").chmod(0o500)
    runner.start()
    assert not (runner.work / "a").exists()


def test_pipes_and_strange_names_are_removed(runner: made.Runner) -> None:
    os.mkfifo(runner.work / "pipe")
    (runner.work / "-rf\n*").touch()
    (runner.work / os.fsdecode(b"\xff")).touch()
    runner.start()
    assert sorted(os.listdir(runner.work)) == ["_temp", "vllm-sm10"]


def test_a_work_folder_that_is_a_link_is_refused(runner: made.Runner, refused: Refused, tmp_path: Path) -> None:
    environment = runner.environment()
    runner.work.rename(tmp_path / "elsewhere")
    runner.work.symlink_to(tmp_path / "elsewhere")
    with refused(Kind.WORK, "is a symbolic link or no folder"):
        made.hook.started(runner.machine, environment, made.NOW)
    assert (tmp_path / "elsewhere/_temp").is_dir()


@pytest.mark.parametrize("place", ["/etc", "relative", "", "{work}", "{work}/../../etc", "{work}x/y"])
def test_a_workspace_outside_is_refused(runner: made.Runner, refused: Refused, place: str) -> None:
    with refused(Kind.ENVIRONMENT, "GITHUB_WORKSPACE"):
        runner.start(GITHUB_WORKSPACE=place.format(work=runner.work))


def _mounted(work: Path, kind: str) -> str:
    inner = work / "a b/mount"
    inner.mkdir(parents=True)
    (work / "0 sorts before").touch()
    if kind == "bind":
        (work.parent / "precious").mkdir()
        (work.parent / "precious/file").touch()
        namespace.mount(str(work.parent / "precious"), inner, flags=namespace.MS_BIND)
    else:
        namespace.mount("tmpfs", inner, "tmpfs")
        (inner / "file").touch()
    try:
        wipe.empty(work)
    except RunnerError as error:
        left = (work / "0 sorts before").exists() and (inner / "file").exists()
        return f"{error.kind.name}, all {'there' if left else 'gone'}: {error}"
    return "emptied"


@pytest.mark.parametrize("kind", ["bind", "tmpfs"])
def test_a_mount_in_the_work_folder_is_refused_before_anything_is_removed(tmp_path: Path, kind: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    said = namespace.run(lambda: _mounted(work, kind))
    assert said.startswith(f"WORK, all there: work (23): {work}/a b/mount: is a mount point")


def _mounted_meanwhile(work: Path) -> str:
    (work / "mount").mkdir()
    (work.parent / "precious").mkdir()
    (work.parent / "precious/file").touch()
    namespace.mount(str(work.parent / "precious"), work / "mount", flags=namespace.MS_BIND)
    wipe.mounts_below = lambda folder, mountinfo: []
    try:
        wipe.empty(work)
    except RunnerError as error:
        return f"{error.kind.name}, {(work.parent / 'precious/file').exists()}"
    return "emptied"


def test_a_mount_that_comes_while_the_folder_is_emptied_is_not_entered(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    assert namespace.run(lambda: _mounted_meanwhile(work)) == "WORK, True"


def _own_mount(work: Path) -> str:
    namespace.mount("tmpfs", work, "tmpfs")
    (work / "a/b").mkdir(parents=True)
    wipe.empty(work)
    return str(os.listdir(work))


def test_the_work_folder_may_be_a_mount_itself(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    assert namespace.run(lambda: _own_mount(work)) == "[]"
