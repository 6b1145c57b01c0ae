# SPDX-License-Identifier: Apache-2.0
"""The archive mirror: which one, and how files are read from it."""

import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from third_party.debian.lock import deb822
from third_party.debian.lock.errors import MirrorError

MIRROR_VARIABLE = "DEBIAN_MIRROR"
_REMEDY = f"set {MIRROR_VARIABLE} to the base URL of a Debian archive mirror (the folder that holds dists/ and pool/)"
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Mirror:
    """A Debian archive, by the URL of the folder that holds dists/ and pool/."""

    url: str

    def read(self, path: str) -> bytes:
        """The bytes of a file of the archive."""
        url = f"{self.url}/{path}"
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
                return response.read()
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise MirrorError(f"{url}: cannot be read ({error}); {_REMEDY}") from error

    def has_suite(self, suite: str) -> bool:
        """Whether the archive holds the suite."""
        try:
            return bool(self.read(f"dists/{suite}/InRelease"))
        except MirrorError:
            return False


def find_mirror(suites: Sequence[str], environment: Mapping[str, str] = os.environ, apt: Path = Path("/etc/apt")) -> Mirror:
    """The first that holds all the suites: of the environment's mirrors, or else of apt's sources.

    A snapshot archive's pattern, which the repository rules understand, is passed over: a new lock needs the present state.
    """
    chosen = [url.rstrip("/") for url in environment.get(MIRROR_VARIABLE, "").split() if "{snapshot}" not in url]
    urls = chosen or apt_urls(apt)
    for url in urls:
        mirror = Mirror(url)
        if all(mirror.has_suite(suite) for suite in suites):
            return mirror
    tried = ", ".join(urls) or f"{MIRROR_VARIABLE} is not set, and {apt} names no source"
    raise MirrorError(f"no mirror serves the suites {', '.join(suites)} (tried: {tried}); {_REMEDY}")


def apt_urls(apt: Path) -> list[str]:
    """The URLs of apt's binary package sources, in apt's order, without repetitions."""
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    urls: list[str] = []
    for file in files:
        if file.is_file() and file.suffix == ".list":
            urls += _one_line_urls(file.read_text(encoding="utf-8"))
        elif file.is_file() and file.suffix == ".sources":
            urls += _deb822_urls(file.read_text(encoding="utf-8"))
    usable = [url.rstrip("/") for url in urls if url.startswith(("http://", "https://", "file:"))]
    return list(dict.fromkeys(usable))


def _one_line_urls(text: str) -> list[str]:
    urls = []
    for line in text.splitlines():
        words = line.partition("#")[0].partition("deb ")
        if words[0].strip() or not words[2]:
            continue
        rest = words[2].strip()
        if rest.startswith("["):
            rest = rest.partition("]")[2].strip()
        urls += rest.split()[:1]
    return urls


def _deb822_urls(text: str) -> list[str]:
    return [
        url
        for fields in deb822.paragraphs(text)
        if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes").lower() != "no"
        for url in fields.get("URIs", "").split()
    ]
