# SPDX-License-Identifier: Apache-2.0
"""Makes the lock anew from the archive."""

from collections.abc import Callable
from pathlib import Path

from third_party.debian.lock.drift import unmet_exclusions
from third_party.debian.lock.errors import ResolveError
from third_party.debian.lock.index import Index, Package, parse_packages
from third_party.debian.lock.lockfile import LockRow
from third_party.debian.lock.mirror import Mirror
from third_party.debian.lock.release import Release, parse_release, unverified_text, verified_text
from third_party.debian.lock.requests import Requests
from third_party.debian.lock.resolver import Closure, resolve


def fetch_releases(mirror: Mirror, requests: Requests, verify: bool, keyring: Path | None) -> dict[str, Release]:
    """The InRelease file of each suite that is asked for."""
    releases = {}
    for suite in requests.suites():
        data = mirror.read(f"dists/{suite}/InRelease")
        text = verified_text(suite, data, keyring) if verify else unverified_text(data)
        releases[suite] = parse_release(suite, text)
    return releases


def build_index(requests: Requests, architecture: str, read_index: Callable[[str, str], str]) -> Index:
    """The packages of an architecture, each from the suite that requests.toml gives it; `read_index(suite, architecture)` is the text of an index."""
    packages: list[Package] = []
    for suite in requests.suites():
        for package in parse_packages(read_index(suite, architecture), suite):
            if requests.suite_of.get(package.name, requests.suite) == suite:
                packages.append(package)
    return Index.of(packages)


def close_sets(requests: Requests, indices: dict[str, Index]) -> dict[str, Closure]:
    """The closure of each set, by name; raises on exclusions that exclude nothing."""
    closures = {request.name: resolve(indices[request.architecture], request.roots, request.excluded, f"set '{request.name}'") for request in requests.sets}
    stale = unmet_exclusions(requests, [closures[request.name] for request in requests.sets])
    if stale:
        raise ResolveError("\n".join(["requests.toml has exclusions that exclude nothing; drop them:", *stale]))
    return closures


def lock_rows(requests: Requests, closures: dict[str, Closure], snapshots: dict[str, str]) -> tuple[list[LockRow], list[tuple[str, Package]]]:
    """The lines of lock.tsv, and the packages with their architecture."""
    members: dict[tuple[str, str], list[str]] = {}
    packages: dict[tuple[str, str], Package] = {}
    for request in requests.sets:
        for name, package in closures[request.name].packages.items():
            members.setdefault((request.architecture, name), []).append(request.name)
            packages[(request.architecture, name)] = package
    rows = [
        LockRow(
            arch,
            name,
            package.version,
            package.suite,
            package.sha256,
            str(package.size),
            package.path,
            snapshots[package.suite],
            ",".join(sorted(members[(arch, name)])),
        )
        for (arch, name), package in packages.items()
    ]
    return rows, [(arch, package) for (arch, _), package in packages.items()]
