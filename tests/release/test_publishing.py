# SPDX-License-Identifier: Apache-2.0
"""A release is made once, completed when it broke off, and never changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import server
from conftest import TOOL, WHEEL

from ci.release import publishing
from ci.release.errors import ReleaseError
from ci.release.github import Api
from ci.runner.faults import RunnerError

TAG = "v0.33.0+sm10"

Publish = Callable[..., None]


@pytest.fixture
def publish(releases: server.Releases, digest: str, tmp_path: Path) -> Publish:
    """Publishes the staged folder."""

    def run(tag: str = TAG, token: str = server.TOKEN) -> None:
        api = Api(releases.address, "made/vllm-sm10", token)
        publishing.publish(api, tag, tmp_path / "handover", digest, print)

    return run


def names(releases: server.Releases) -> list[str]:
    return sorted(asset["name"] for asset in releases.releases[0]["assets"])


def test_a_release_holds_all_that_was_staged(publish: Publish, releases: server.Releases, tmp_path: Path) -> None:
    publish()
    assert names(releases) == sorted(path.name for path in (tmp_path / "handover").iterdir())


def test_it_becomes_visible_after_the_last_upload(publish: Publish, releases: server.Releases) -> None:
    publish()
    assert (releases.releases[0]["draft"], releases.writes[0], releases.writes[-1]) == (False, "POST ", "PATCH /1")


def test_the_notes_list_the_checksums(publish: Publish, releases: server.Releases, tmp_path: Path) -> None:
    publish()
    sums = [line.split("  ") for line in (tmp_path / "handover/SHA256SUMS").read_text(encoding="ascii").splitlines()]
    assert all(f"| `{name}` | `{digest}` |\n" in releases.releases[0]["body"] for digest, name in sums)


def test_again_nothing_is_written(publish: Publish, releases: server.Releases) -> None:
    publish()
    releases.writes.clear()
    publish()
    assert releases.writes == []


def test_a_release_that_broke_off_is_a_draft(publish: Publish, releases: server.Releases) -> None:
    releases.break_upload_of = WHEEL
    with pytest.raises(ReleaseError, match="502"):
        publish()
    assert releases.releases[0]["draft"]


def test_a_release_that_broke_off_is_completed(publish: Publish, releases: server.Releases, tmp_path: Path) -> None:
    releases.break_upload_of = WHEEL
    with pytest.raises(ReleaseError):
        publish()
    releases.break_upload_of = ""
    publish()
    assert (names(releases), releases.releases[0]["draft"]) == (sorted(path.name for path in (tmp_path / "handover").iterdir()), False)


def test_a_file_that_differs_is_not_replaced(publish: Publish, releases: server.Releases) -> None:
    release = releases.add(TAG)
    releases.add_asset(release, WHEEL, b"other")
    with pytest.raises(ReleaseError, match="a release is never changed"):
        publish()
    assert releases.writes == []


def test_a_file_that_was_not_built_is_told(publish: Publish, releases: server.Releases) -> None:
    releases.add_asset(releases.add(TAG), "evil.whl", b"evil")
    with pytest.raises(ReleaseError, match=r"holds evil\.whl, which was not built"):
        publish()


def test_a_published_release_without_a_file_is_not_completed(publish: Publish, releases: server.Releases, tmp_path: Path) -> None:
    release = releases.add(TAG)
    for path in (tmp_path / "handover").iterdir():
        if path.name != TOOL:
            releases.add_asset(release, path.name, path.read_bytes())
    with pytest.raises(ReleaseError, match=f"published without {TOOL}"):
        publish()
    assert releases.writes == []


def test_two_releases_of_one_tag_are_told(publish: Publish, releases: server.Releases) -> None:
    releases.add(TAG, draft=True)
    releases.add(TAG, draft=True)
    with pytest.raises(ReleaseError, match="2 releases have the tag"):
        publish()


def test_the_release_is_found_beyond_the_first_page(publish: Publish, releases: server.Releases, tmp_path: Path) -> None:
    for number in range(130):
        releases.add(f"v0.{number}")
    publish()
    releases.writes.clear()
    publish()
    assert releases.writes == []


@pytest.mark.parametrize("tag", ["0.33.0+sm10", "v0.33.0", "v0.33.1+sm10", "v0.33.0+sm10.0", "v0.33.0+sm10x", "v0.33.0xsm10"])
def test_a_tag_of_another_version_is_refused(publish: Publish, releases: server.Releases, tag: str) -> None:
    with pytest.raises(ReleaseError, match=r"does not fit the wheel's version 0\.33\.0\+sm10"):
        publish(tag)
    assert releases.releases == []


def test_another_build_of_a_version_has_a_number(publish: Publish, releases: server.Releases) -> None:
    publish(f"{TAG}.2")
    assert releases.releases[0]["tag_name"] == f"{TAG}.2"


def test_a_tampered_folder_is_not_published(publish: Publish, releases: server.Releases, tmp_path: Path) -> None:
    (tmp_path / "handover" / WHEEL).write_bytes(b"evil")
    with pytest.raises(RunnerError, match="has sha256"):
        publish()
    assert releases.releases == []


def test_a_wrong_token_is_told(publish: Publish) -> None:
    with pytest.raises(ReleaseError, match="401"):
        publish(token="other")


def test_a_token_is_sent_over_https_only(digest: str, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="is not https"):
        publishing.publish(Api("http://example.invalid", "made/vllm-sm10", "secret"), TAG, tmp_path / "handover", digest, print)
