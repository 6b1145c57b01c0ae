# SPDX-License-Identifier: Apache-2.0
"""The few calls of GitHub's REST API that a release needs."""

from __future__ import annotations

import dataclasses
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ci.release.errors import ReleaseError

_VERSION = "2022-11-28"
_SECONDS = 120


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Our token goes to the address that was named, and nowhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


@dataclasses.dataclass(frozen=True)
class Asset:
    """A file of a release."""

    name: str
    digest: str  # sha256:..., empty while GitHub has none
    state: str  # uploaded, or starter: an upload that broke off
    number: int


@dataclasses.dataclass(frozen=True)
class Release:
    """A release, published or a draft."""

    number: int
    tag: str
    draft: bool
    upload_url: str
    assets: tuple[Asset, ...]


def _release(found: Mapping[str, Any]) -> Release:
    assets = tuple(Asset(asset["name"], asset.get("digest") or "", asset["state"], asset["id"]) for asset in found["assets"])
    return Release(found["id"], found["tag_name"], found["draft"], found["upload_url"].partition("{")[0], assets)


@dataclasses.dataclass(frozen=True)
class Api:
    """A repository's API."""

    root: str  # GITHUB_API_URL
    repository: str
    token: str

    def _call(self, method: str, url: str, data: bytes | None = None, kind: str = "application/json") -> Any:
        if urllib.parse.urlsplit(url).scheme != "https" and urllib.parse.urlsplit(url).hostname not in ("127.0.0.1", "localhost"):
            raise ReleaseError(f"{url} is not https", "GITHUB_API_URL must be")
        headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {self.token}", "X-GitHub-Api-Version": _VERSION}
        if data is not None:
            headers["Content-Type"] = kind
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with _OPENER.open(request, timeout=_SECONDS) as answer:
                text = answer.read()
            return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()[:300].decode("utf-8", "replace")
            raise ReleaseError(f"{method} {url}: {error.code} {text}", "has the job `contents: write`? Run it again: what is there is kept") from error
        except (OSError, ValueError) as error:
            raise ReleaseError(f"{method} {url}: {error}", "run it again: what is there is kept") from error

    def _url(self, path: str) -> str:
        return f"{self.root}/repos/{self.repository}/releases{path}"

    def find(self, tag: str) -> Release | None:
        """The release of a tag; drafts too, which only the list shows."""
        found: list[Release] = []
        page = 1
        while answer := self._call("GET", self._url(f"?per_page=100&page={page}")):
            found += [_release(release) for release in answer if release["tag_name"] == tag]
            page += 1
        if len(found) > 1:
            raise ReleaseError(f"{len(found)} releases have the tag {tag}", "remove the drafts that nobody wants")
        return found[0] if found else None

    def create(self, tag: str, notes: str) -> Release:
        """A draft for a tag that exists."""
        body = {"body": notes, "draft": True, "name": tag, "tag_name": tag}
        return _release(self._call("POST", self._url(""), json.dumps(body).encode()))

    def upload(self, release: Release, path: Path) -> None:
        """Adds a file."""
        url = f"{release.upload_url}?{urllib.parse.urlencode({'name': path.name})}"
        self._call("POST", url, path.read_bytes(), "application/octet-stream")

    def remove(self, asset: Asset) -> None:
        """Removes an upload that broke off."""
        self._call("DELETE", self._url(f"/assets/{asset.number}"))

    def publish(self, release: Release) -> None:
        """A draft becomes visible."""
        self._call("PATCH", self._url(f"/{release.number}"), json.dumps({"draft": False}).encode())
