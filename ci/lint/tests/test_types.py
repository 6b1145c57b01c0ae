# SPDX-License-Identifier: Apache-2.0
"""The programs' types are right."""

from pathlib import Path

import pytest
from conftest import folder

from ci.lint.typecheck import Group, check, groups


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


@pytest.mark.parametrize("group", groups(folder("python")), ids=lambda group: str(group.folder))
def test_folder_is_typed(group: Group, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder("python"))
    problems = check(folder("python"), group, cache)
    if problems:
        pytest.fail(problems, pytrace=False)


def test_wrong_type_is_found(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ci/lint").mkdir(parents=True)
    (tmp_path / "ci/lint/mypy.ini").write_text((folder("python") / "ci/lint/mypy.ini").read_text())
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.py").write_text('value: int = "text"\n')
    monkeypatch.chdir(tmp_path)
    (group,) = groups(tmp_path)
    assert "a/one.py:1: error: Incompatible types in assignment" in check(tmp_path, group, cache)
