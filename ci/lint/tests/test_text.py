# SPDX-License-Identifier: Apache-2.0
"""Every file has what each check of ci/lint/checks.py asks for, and no link in the documents is dead."""

import re
from pathlib import Path, PurePosixPath

import pytest
from conftest import files, folder, located

from ci.lint.checks import CHECKS, MOUNTED, NO_FILES, Check
from ci.lint.links import dead_links

# Signed and binary: test data that must stay as it was made.
AS_MADE = ("third_party/debian/tests/signed/",)


def texts(kind: str) -> dict[PurePosixPath, str]:
    top = folder(kind)
    return {PurePosixPath(name): (top / name).read_text(encoding="utf-8") for name in files(kind) if not name.startswith(AS_MADE)}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_file_passes(check: Check) -> None:
    problems = [problem for path, text in texts("all").items() for problem in check(path, text)]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def test_no_file_names_the_folder_where_the_workspace_lies() -> None:
    place = located("WORKSPACE_PATH").read_text().strip()
    several = len(Path(place).parts) > 2  # a name alone may stand for anything
    assert [str(path) for path, text in texts("all").items() if several and place in text] == []


@pytest.mark.parametrize("name", sorted(MOUNTED | NO_FILES))
def test_exception_of_paths_is_needed(name: str) -> None:
    paths = re.compile(rf"(?<![\w./-])/{re.escape(name)}\b")
    assert [path for path, text in texts("all").items() if path.name not in {"checks.py", "test_checks.py"} and paths.search(text)]


def test_no_link_is_dead() -> None:
    problems = dead_links(texts("docs"), [PurePosixPath(name) for name in files("all")])
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)
