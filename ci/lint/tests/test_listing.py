# SPDX-License-Identifier: Apache-2.0
"""Every file that is not ignored reaches the checks of its kind; one of an unknown kind is an error."""

import sys
from pathlib import Path, PurePosixPath

import pytest

from ci.lint.kinds import KINDS, UnknownKind, formatted_as, kinds_of
from ci.lint.listing import workspace_files

sys.path.append(str(Path(__file__).parents[1] / "private"))

from copy_sources import copy_sources


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    write(folder, "bazelw", "new/package/BUILD.bazel", "new/package/a.py", ".git/config", "bazel-bin/x.py", "sub/bazel-like.py", "a/__pycache__/b.pyc")
    (folder / ".gitignore").write_text("/bazel-*\n__pycache__/\n")
    return folder


def test_new_file_is_listed(workspace: Path) -> None:
    assert PurePosixPath("new/package/a.py") in workspace_files(workspace)


def test_what_is_ignored_is_not_listed(workspace: Path) -> None:
    assert [str(path) for path in workspace_files(workspace)] == [
        ".gitignore",
        "bazelw",
        "new/package/BUILD.bazel",
        "new/package/a.py",
        "sub/bazel-like.py",
    ]


def test_copies_lie_in_the_folders_of_their_kinds(workspace: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    output.mkdir()
    copy_sources(workspace, output)
    copied = {str(path.relative_to(output)) for path in output.rglob("*") if path.is_file()}
    assert {path.partition("/")[0] for path in copied} <= KINDS
    assert {"all/new/package/a.py", "python/new/package/a.py", "starlark/new/package/BUILD.bazel", "shell/bazelw", "all/.gitignore"} <= copied


def test_file_of_unknown_kind_is_an_error() -> None:
    with pytest.raises(UnknownKind, match="a/b.rs: no check knows what kind of file this is; remedy: add its suffix, name or path to ci/lint/kinds.py"):
        kinds_of(PurePosixPath("a/b.rs"))


def test_what_other_programs_made_is_not_formatted() -> None:
    assert kinds_of(PurePosixPath("third_party/qemu/config/config-host.h")) == {"all"}


@pytest.mark.parametrize("name", [".clang-format", "ci/lint/mypy.ini", "ruff.toml"])
def test_settings_are_there_for_their_tool_but_not_formatted(name: str) -> None:
    assert len(kinds_of(PurePosixPath(name))) == 2 and formatted_as(PurePosixPath(name)) is None


@pytest.mark.parametrize(("name", "kind"), [("a.cc", "cc"), ("b/c.py", "python"), ("BUILD.bazel", "starlark")])
def test_sources_are_formatted_as_what_they_are(name: str, kind: str) -> None:
    assert formatted_as(PurePosixPath(name)) == kind
