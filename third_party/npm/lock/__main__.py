#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes lock.tsv from requests.toml, or says where the two have drifted apart."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lockfile import LockError, drift, read_lock, read_requests, render_lock
from registry import Registry, RegistryError

HERE = Path(__file__).resolve().parent.parent


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="update", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing and ask no registry: exit 1 with the differences if the two disagree")
    parser.add_argument("--requests", type=Path, default=HERE / "requests.toml", help="request file [requests.toml beside the lock]")
    parser.add_argument("--lock", type=Path, default=HERE / "lock.tsv", help="lock file [lock.tsv of this folder]")
    return parser.parse_args(arguments)


def registry() -> Registry:
    url = os.environ.get("NPM_REGISTRY", "").rstrip("/")
    if not url:
        raise RegistryError("no npm registry is known: set NPM_REGISTRY to a registry's base URL (./bazelw takes it from npm's configuration)")
    return Registry(url)


def main(arguments: list[str]) -> int:
    options = parse_arguments(arguments)
    try:
        requests = read_requests(options.requests)
        if options.check:
            problems = drift(requests, read_lock(options.lock))
            for problem in problems:
                print(f"error: {problem}", file=sys.stderr)
            return 1 if problems else 0
        source = registry()
        text = render_lock([source.lock(name, version, requests) for name, version in requests.items()])
    except (LockError, RegistryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    before = options.lock.read_text() if options.lock.exists() else ""
    options.lock.write_text(text)
    print(f"{options.lock.name}: {'unchanged' if text == before else 'written'}, {len(requests)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
