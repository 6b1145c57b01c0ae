# SPDX-License-Identifier: Apache-2.0
"""Builds without a network: everything that a build needs is locked and declared, or this job fails and names it.

First all locked files are brought into a folder, with the network. Then, in a network namespace that has loopback only, a copy of the workspace makes its
repositories from that folder (--distdir) and nothing else, and is built with an empty repository cache that must stay empty: a new output base, no disk
cache, no rc file but the workspace's, and traps where a machine has headers and libraries. A canary shows that the network is off.

Exit code: 0 nothing found, 1 something found, 2 the job could not be done.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.airgap import checks
from ci.isolated import fetch, job, places, workspace
from ci.isolated.bazel import Bazel
from ci.isolated.errors import JobError
from ci.isolated.world import World, run_in


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = job.arguments_parser("airgap", __doc__, "//:wheel", "5 GB")
    parser.add_argument("--jobs", type=int, default=2, help="Bazel's --jobs")
    return parser.parse_args(words)


def canary_urls() -> list[str]:
    """Where locked files come from: what a fetch would ask."""
    mirrors = [f"{mirror}/dists/" for mirror in os.environ.get("DEBIAN_MIRROR", "").split() if "{" not in mirror and not mirror.startswith("file:")]
    index = os.environ.get("PYPI_INDEX", "")
    return mirrors + ([f"{index}/"] if index and not index.startswith("file:") else [])


def airgap(targets: list[str], scratch: Path, jobs: int) -> None:
    """Finding or JobError."""
    source = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    copy = scratch / "workspace"
    workspace.copy(source, copy)
    print("fetch phase, with the network", flush=True)
    fetch.download(Bazel(copy, scratch / "fetch", places.variables()), targets, places.repository_cache())
    locked = fetch.locked(fetch.lock_files(copy))
    count = fetch.fill(scratch / "locked", locked, places.repository_cache())
    shutil.rmtree(scratch / "fetch", ignore_errors=True)
    urls = canary_urls()
    if not any(checks.answers(url) for url in urls):
        raise JobError(
            "the canary gets no answer even with the network, so it could show nothing\n  remedy: set DEBIAN_MIRROR or PYPI_INDEX to one that answers"
        )
    print(f"{count} locked files; the canary gets an answer from the machine's network", flush=True)
    bazel = Bazel(copy, scratch / "build", flags=[f"--distdir={scratch / 'locked'}", f"--jobs={jobs}"])
    empty = scratch / "empty"
    empty.mkdir()

    def work() -> None:
        checks.canary(urls)
        try:
            print("the network is off; making the repositories", flush=True)
            checks.build(bazel, ["--nobuild", *targets])
            checks.only_locked(bazel.repository_cache, locked.values())
            print("building", flush=True)
            checks.build(bazel, [f"--repository_cache={empty}", *targets])
            checks.canary(urls)
            checks.still_empty(empty)
        finally:
            bazel.stop()

    run_in(World(network=False, traps=True), work)


def main(words: Sequence[str]) -> int:
    options = _arguments(words)

    def work(scratch: Path) -> list[str]:
        airgap(options.targets, scratch, options.jobs)
        return ["nothing found: the build needs no network, and the repository cache is empty"]

    return job.run("airgap", options.scratch, work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
