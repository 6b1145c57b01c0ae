# SPDX-License-Identifier: Apache-2.0
"""Puts a staged folder into the release of a tag. Idempotent: what is there and the same stays, what is missing is added, nothing is replaced."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ci.release.errors import ReleaseError
from ci.release.github import Api, Release
from ci.runner import artefact

_WHEEL = re.compile(r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[A-Za-z0-9_.+!]+)-[^-]+-[^-]+-[^-]+\.whl")


def check_tag(tag: str, names: list[str]) -> None:
    """Returns if a tag is v and the version of the vllm wheel, with .N for another build of it.

    Raises:
      ReleaseError: it is not.
    """
    versions = [match["version"] for name in names if (match := _WHEEL.fullmatch(name)) and match["name"] == "vllm"]
    if len(versions) != 1:
        raise ReleaseError(f"{len(versions)} wheels of vllm in the folder", "stage //:wheel, once")
    if not re.fullmatch(rf"v{re.escape(versions[0])}(\.[1-9][0-9]*)?", tag):
        raise ReleaseError(f"tag {tag} does not fit the wheel's version {versions[0]}", f"tag v{versions[0]}, or v{versions[0]}.N for another build of it")


def notes(sums: dict[str, str]) -> str:
    """The release's text."""
    rows = "".join(f"| `{name}` | `{digest}` |\n" for name, digest in sorted(sums.items()))
    told = "Provenance: `gh attestation verify FILE --repo OWNER/NAME`. Bill of materials: `*.cdx.json`, also in the wheel.\n"
    return f"| file | sha256 |\n|---|---|\n{rows}\n{told}"


def _present(release: Release, sums: dict[str, str], api: Api, say: Callable[[str], None]) -> set[str]:
    """Names that are there as they should be; uploads that broke off are removed."""
    found = set()
    for asset in release.assets:
        if asset.name not in sums:
            raise ReleaseError(f"the release holds {asset.name}, which was not built", "remove it there, or find out who put it there")
        if asset.state != "uploaded":
            say(f"removes {asset.name}: its upload broke off")
            api.remove(asset)
        elif asset.digest != f"sha256:{sums[asset.name]}":
            raise ReleaseError(
                f"{asset.name} in the release has {asset.digest or 'no digest'}, the built one sha256:{sums[asset.name]}",
                "a release is never changed: make a new tag",
            )
        else:
            found.add(asset.name)
    return found


def publish(api: Api, tag: str, folder: Path, expected: str, say: Callable[[str], None]) -> None:
    """Makes or completes the release.

    Raises:
      ReleaseError: the tag does not fit, or the release holds something else.
      RunnerError: the folder is not what was staged.
    """
    names = artefact.verify(folder, expected)
    check_tag(tag, names)
    sums = {name: artefact.digest_of(folder / name) for name in [*names, artefact.SUMS]}
    release = api.find(tag)
    if not release:
        release = api.create(tag, notes(sums))
        say(f"made a draft for {tag}")
    there = _present(release, sums, api, say)
    for name in sorted(set(sums) - there):
        if not release.draft:
            raise ReleaseError(f"{tag} is published without {name}", "a published release is never changed: make a new tag")
        say(f"uploads {name}")
        api.upload(release, folder / name)
    if release.draft:
        # GitHub's digests of all files, before anybody sees them.
        again = api.find(tag)
        if not again or _present(again, sums, api, say) != set(sums):
            raise ReleaseError(f"the draft for {tag} is not complete after all uploads", "run it again: what is there is kept")
        api.publish(release)
        say(f"published {tag}")
    else:
        say(f"{tag} is published as built: nothing to do")
