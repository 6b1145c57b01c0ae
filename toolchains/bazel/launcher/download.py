# SPDX-License-Identifier: Apache-2.0
"""Downloads locked packages into Bazel's repository cache, where Bazel itself finds them again."""

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from errors import LauncherError
from lock import LockedPackage
from progress import Progress

PARALLEL_DOWNLOADS = 4


def cached_file(repository_cache: Path, sha256: str) -> Path:
    """Where Bazel's repository cache keeps the content with this digest."""
    return repository_cache / "content_addressable/sha256" / sha256 / "file"


def digest(path: Path) -> str:
    """sha256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fetch(package: LockedPackage, mirror: str | None, repository_cache: Path) -> Path:
    """The verified .deb of one package, from the cache or the mirror; nothing unverified ever gets its final name."""
    target = cached_file(repository_cache, package.sha256)
    if target.is_file():
        if digest(target) == package.sha256:
            return target
        target.unlink()  # a damaged cache entry is fetched again, as Bazel does
    if mirror is None:
        raise LauncherError(
            f"{package.package} {package.version}: not in the cache, and apt's configuration names no Debian archive; "
            "set DEBIAN_MIRROR to the root URL of one (the folder that holds dists/ and pool/)"
        )
    url = f"{mirror}/{package.path}"
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent)
    try:
        found = hashlib.sha256()
        with os.fdopen(descriptor, "wb") as stream, urllib.request.urlopen(url, timeout=60) as response:
            while block := response.read(1 << 20):
                found.update(block)
                stream.write(block)
        if found.hexdigest() != package.sha256:
            raise LauncherError(
                f"{package.package} {package.version}: wrong content from {url}\n"
                f"  expected sha256 {package.sha256}\n  got             {found.hexdigest()}\n"
                "  set DEBIAN_MIRROR to an archive that has this version"
            )
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except (urllib.error.URLError, OSError) as error:
        raise LauncherError(
            f"{package.package} {package.version}: cannot fetch {url}: {error}\n"
            "  set DEBIAN_MIRROR to an archive that answers; when a suite has moved on, to a snapshot of "
            "the date in the lock's snapshot column"
        ) from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return target


def fetch_all(packages: Sequence[LockedPackage], mirror: str | None, repository_cache: Path) -> dict[str, Path]:
    """Fetches every package, with a progress line; the first failure ends it. Returns package name -> .deb."""
    total = sum(package.size for package in packages)
    done, files, progress = 0, {}, Progress()
    with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
        jobs = {pool.submit(fetch, package, mirror, repository_cache): package for package in packages}
        try:
            for job in as_completed(jobs):
                package = jobs[job]
                files[package.package] = job.result()
                done += package.size
                progress.show(f"downloaded {done >> 20} of {total >> 20} MiB, {len(files)} of {len(packages)} packages")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    progress.end()
    return files
