# SPDX-License-Identifier: Apache-2.0
"""The mirror is that of the environment, else the first of apt's sources that holds the suites."""

from pathlib import Path

import pytest

from third_party.debian.lock.errors import MirrorError
from third_party.debian.lock.mirror import apt_urls, find_mirror


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    folder = tmp_path / "apt"
    (folder / "sources.list.d").mkdir(parents=True)
    return folder


@pytest.fixture
def archive(tmp_path: Path) -> str:
    release = tmp_path / "archive/dists/forky/InRelease"
    release.parent.mkdir(parents=True)
    release.write_text("signed")
    return f"file://{tmp_path}/archive"


def test_one_line_source(apt: Path) -> None:
    (apt / "sources.list").write_text("# deb http://no/\ndeb [arch=amd64 signed-by=/k] http://a/debian/ forky main # why\ndeb-src http://src/ forky main\n")
    assert apt_urls(apt) == ["http://a/debian"]


def test_deb822_source(apt: Path) -> None:
    text = "Types: deb\nURIs: http://a/debian http://b/debian\nSuites: forky\n\n# off\nTypes: deb\nEnabled: no\nURIs: http://off/\n\nTypes: deb-src\nURIs: http://src/\n"
    (apt / "sources.list.d/debian.sources").write_text(text)
    assert apt_urls(apt) == ["http://a/debian", "http://b/debian"]


def test_file_of_another_suffix_is_not_read(apt: Path) -> None:
    (apt / "sources.list.d/old.list.save").write_text("deb http://old/ forky main\n")
    assert apt_urls(apt) == []


def test_environment_wins(apt: Path, archive: str) -> None:
    (apt / "sources.list").write_text("deb http://apt/debian forky main\n")
    assert find_mirror(["forky"], {"DEBIAN_MIRROR": f"{archive}/"}, apt).url == archive


def test_first_mirror_that_answers_is_taken(apt: Path, archive: str, tmp_path: Path) -> None:
    assert find_mirror(["forky"], {"DEBIAN_MIRROR": f"http://snapshot/{{snapshot}} file://{tmp_path}/none {archive}"}, apt).url == archive


def test_source_without_the_suite_is_passed_over(apt: Path, archive: str, tmp_path: Path) -> None:
    (apt / "sources.list").write_text(f"deb file://{tmp_path}/other stable main\ndeb {archive} forky main\n")
    assert find_mirror(["forky"], {}, apt).url == archive


def test_machine_without_apt_is_told_what_to_set(apt: Path) -> None:
    with pytest.raises(MirrorError, match="DEBIAN_MIRROR is not set, and .*/apt names no source"):
        find_mirror(["forky"], {}, apt)


def test_no_mirror_says_what_was_tried_and_what_to_set(apt: Path, tmp_path: Path) -> None:
    (apt / "sources.list").write_text(f"deb file://{tmp_path}/other stable main\n")
    with pytest.raises(MirrorError, match=r"serves the suites forky \(tried: file://.*/other\); set DEBIAN_MIRROR"):
        find_mirror(["forky"], {}, apt)


def test_unreadable_file_is_named(archive: str) -> None:
    with pytest.raises(MirrorError, match="pool/none.deb: cannot be read .*; set DEBIAN_MIRROR"):
        find_mirror([], {"DEBIAN_MIRROR": archive}).read("pool/none.deb")
