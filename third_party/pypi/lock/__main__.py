#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resolves requests.toml into lock.tsv, or says where the two have drifted apart."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from lockfile import (
    Entry,
    LockError,
    Request,
    drift,
    read_lock,
    read_requests,
    render_lock,
)
from resolve import ResolveError, resolve_sdists, resolve_wheels

HERE = Path(__file__).resolve().parent.parent
INDEX_HELP = "set PYPI_INDEX to the base URL of a Python package index's simple API (./bazelw takes it from pip's configuration)"


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="update", description=__doc__)
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing and ask no index: exit 1 with the differences if lock.tsv does not answer requests.toml",
    )
    parser.add_argument(
        "--upgrade",
        action="append",
        default=[],
        metavar="SET",
        help="forget the locked versions of this set and take the newest allowed (may be given again)",
    )
    parser.add_argument("--requests", type=Path, default=None, help="request file [requests.toml beside the lock]")
    parser.add_argument("--lock", type=Path, default=None, help="lock file [lock.tsv of this folder]")
    parser.add_argument("--uv", default="uv", help="the resolver's program [uv on PATH]")
    return parser.parse_args(arguments)


def source_folder() -> Path:
    """The folder in the checkout: `bazel run` starts in a copy that must not be written to."""
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    return Path(workspace) / "third_party" / "pypi" if workspace else HERE


def index_url() -> str:
    index = os.environ.get("PYPI_INDEX", "").rstrip("/")
    if not index:
        raise ResolveError(f"no package index is known: {INDEX_HELP}")
    return index


def resolve_all(requests: list[Request], old: list[Entry], upgrade: list[str], uv: str) -> list[Entry]:
    index = index_url()
    found: list[Entry] = []
    with tempfile.TemporaryDirectory() as scratch:
        for request in requests:
            print(f"resolving set {request.name} ...", flush=True)
            keep = [e for e in old if e.set == request.name and e.set not in upgrade]
            if request.is_source:
                found += resolve_sdists(request, index)
            else:
                found += resolve_wheels(request, keep, index, uv, Path(scratch))
    return found


def main(arguments: list[str]) -> int:
    options = parse_arguments(arguments)
    folder = source_folder()
    request_path = options.requests or folder / "requests.toml"
    lock_path = options.lock or folder / "lock.tsv"
    try:
        requests = read_requests(request_path)
        old = read_lock(lock_path) if lock_path.exists() else None
        if options.check:
            problems = drift(requests, old)
            for problem in problems:
                print(f"error: {problem}", file=sys.stderr)
            return 1 if problems else 0
        entries = resolve_all(requests, old.entries if old else [], options.upgrade, options.uv)
        text = render_lock(requests, entries)
    except (LockError, ResolveError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    before = lock_path.read_text() if lock_path.exists() else ""
    lock_path.write_text(text)
    print(f"{lock_path.name}: {'unchanged' if text == before else 'written'}, {len(entries)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
