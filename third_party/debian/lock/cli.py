# SPDX-License-Identifier: Apache-2.0
"""Command line of the lock tool."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from third_party.debian.lock import drift, lockfile, update
from third_party.debian.lock.errors import LockError
from third_party.debian.lock.mirror import MIRROR_VARIABLE, find_mirror
from third_party.debian.lock.requests import Requests, load_requests


def _default_folder() -> Path:
    """third_party/debian of the workspace; `bazel run` names the workspace, as its own copy is read-only."""
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    return Path(workspace, "third_party", "debian") if workspace else Path(__file__).parents[1]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="third_party.debian.lock",
        description="Locks Debian packages by version, sha256 and pool path, from requests.toml.",
    )
    parser.add_argument("--folder", type=Path, default=_default_folder(), help="folder of requests.toml and the lock files (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    make = commands.add_parser(
        "update",
        help="make the lock anew from a mirror",
        description=f"Makes the lock anew. The mirror is ${MIRROR_VARIABLE}, else the first of apt's sources that holds all the suites.",
    )
    make.add_argument("--keyring", type=Path, help="keyring of the archive's signing keys (default: that of debian-archive-keyring)")
    make.add_argument("--no-verify-signature", action="store_true", help="trust the mirror: do not check the InRelease signatures")
    commands.add_parser("check", help="fail if the lock is not what requests.toml asks for; needs no network")
    why = commands.add_parser("why", help="show which root brings a package into each set; needs no network")
    why.add_argument("package")
    return parser


def _update(folder: Path, requests: Requests, arguments: argparse.Namespace) -> None:
    mirror = find_mirror(requests.suites())
    verify = not arguments.no_verify_signature
    if not verify:
        print("WARNING: the InRelease signatures are not checked", file=sys.stderr)
    releases = update.fetch_releases(mirror, requests, verify, arguments.keyring)
    indices = {
        architecture: update.build_index(requests, architecture, lambda suite, arch: releases[suite].read_index(mirror, arch))
        for architecture in requests.architectures()
    }
    closures = update.close_sets(requests, indices)
    rows, packages = update.lock_rows(requests, closures, {suite: release.snapshot for suite, release in releases.items()})
    (folder / "lock.tsv").write_text(lockfile.format_lock(rows), encoding="utf-8")
    (folder / "lock.depends.tsv").write_text(lockfile.format_depends_file(packages), encoding="utf-8")
    for request in requests.sets:
        members = closures[request.name].packages.values()
        print(f"{request.name}: {len(members)} packages, {sum(package.size for package in members) / 1e6:.0f} MB")


def _check(folder: Path, requests: Requests) -> None:
    rows = lockfile.load_lock(folder / "lock.tsv")
    drift.check_lock(requests, rows, lockfile.load_depends(folder / "lock.depends.tsv"))
    print(f"lock.tsv holds what requests.toml asks for: {len(rows)} packages")


def _why(folder: Path, requests: Requests, package: str) -> None:
    depends = lockfile.load_depends(folder / "lock.depends.tsv")
    found = False
    for request in requests.sets:
        closure = drift.recorded_closure(request, depends)
        if package in closure.packages:
            found = True
            print(f"{request.name}: {closure.chain(package)}")
    if not found:
        raise LockError(f"'{package}' is in no set; add it to the roots of one in requests.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        requests = load_requests(parsed.folder / "requests.toml")
        if parsed.command == "update":
            _update(parsed.folder, requests, parsed)
        elif parsed.command == "check":
            _check(parsed.folder, requests)
        else:
            _why(parsed.folder, requests, parsed.package)
    except LockError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
