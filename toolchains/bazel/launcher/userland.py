# SPDX-License-Identifier: Apache-2.0
"""Makes the locked userland (a /usr with Bazel, its JDK and the tools that actions see) in the user's cache."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import debfile
import download
from lock import LockedPackage
from progress import Progress, say

# Raise when the unpacking below changes, so that folders made by an older version are not used.
LAYOUT = 1


def key(packages: Sequence[LockedPackage]) -> str:
    """Name of the folder for exactly these packages."""
    text = f"{LAYOUT}\n" + "\n".join(sorted(f"{package.package} {package.sha256}" for package in packages))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def relocate_etc(root: Path) -> None:
    """Moves etc/ below usr/ and redirects links to it: only usr/ is mounted, and the machine's /etc stays its own."""
    etc = root / "etc"
    if etc.is_dir():
        shutil.move(etc, root / "usr/etc")
    for folder, folders, files in os.walk(root / "usr"):
        for name in folders + files:
            path = os.path.join(folder, name)
            if os.path.islink(path) and (target := os.readlink(path)).startswith("/etc/"):
                os.unlink(path)
                os.symlink("/usr" + target, path)


def link_defaults(root: Path) -> None:
    """Links that the packages' maintainer scripts would have made through update-alternatives."""
    binaries = root / "usr/bin"
    for name, target in (("awk", "gawk"), ("java", "../lib/jvm/default-java/bin/java"), ("sh", "dash")):
        if not (binaries / name).exists() and not (binaries / name).is_symlink():
            (binaries / name).symlink_to(target)


def ensure(packages: Sequence[LockedPackage], mirror: str | None, cache: Path) -> Path:
    """The userland's usr folder, made if need be; safe against a second bazelw and against being killed."""
    home = cache / "userland"
    root = home / key(packages)
    if (root / "complete").exists():
        return root / "usr"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if (root / "complete").exists():
            return root / "usr"
        size = sum(package.size for package in packages) >> 20
        say(f"making the locked userland for Bazel: {len(packages)} packages, {size} MiB, in {root}")
        files = download.fetch_all(packages, mirror, cache / "repository")
        if root.exists():
            shutil.rmtree(root)  # left by a run that was killed; nothing is ever mounted below it
        (root / "usr").mkdir(parents=True)
        say("unpacking")
        progress = Progress()
        with ProcessPoolExecutor() as pool:
            jobs = [pool.submit(debfile.unpack, files[p.package], root, f"{p.package} {p.version}") for p in packages]
            for number, job in enumerate(jobs, start=1):
                job.result()
                progress.show(f"unpacked {number} of {len(jobs)} packages")
        progress.end()
        relocate_etc(root)
        link_defaults(root)
        (root / "complete").touch()
        say("userland ready")
    return root / "usr"
