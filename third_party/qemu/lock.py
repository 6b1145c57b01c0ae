# SPDX-License-Identifier: Apache-2.0
"""Makes lock.tsv anew: QEMU's source package and the static libraries that the emulator links, from a Debian archive."""

import argparse
import hashlib
import lzma
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from third_party.debian.lock import deb822
from third_party.debian.lock.errors import LockError, MirrorError
from third_party.debian.lock.index import parse_packages
from third_party.debian.lock.lockfile import LOCK_COLUMNS, LockRow
from third_party.debian.lock.mirror import Mirror, find_mirror
from third_party.debian.lock.release import Release, parse_release, unverified_text, verified_text

FILE = Path(__file__).with_name("lock.tsv")
HEADER = "# Made by: python3 -m third_party.qemu.lock"
LIBRARIES = ("libgio-2.0-dev", "libpcre2-dev", "libsysprof-capture-4-dev")
LIBRARY_SUITE, SOURCE_SUITE = "forky", "trixie"


def read_release(mirror: Mirror, suite: str, verify: bool) -> Release:
    data = mirror.read(f"dists/{suite}/InRelease")
    return parse_release(suite, verified_text(suite, data, None) if verify else unverified_text(data))


def library_rows(release: Release, packages: str) -> list[LockRow]:
    """The lines of the binary packages, from the text of a Packages index."""
    found = {package.name: package for package in parse_packages(packages, release.suite) if package.name in LIBRARIES}
    missing = sorted(set(LIBRARIES) - set(found))
    if missing:
        raise MirrorError(f"suite {release.suite} has no {', '.join(missing)}; correct LIBRARIES in third_party/qemu/lock.py")
    return [
        LockRow("amd64", name, package.version, release.suite, package.sha256, str(package.size), package.path, release.snapshot, "glib")
        for name, package in sorted(found.items())
    ]


def original_archive(fields: Mapping[str, str]) -> tuple[str, str, str]:
    """Digest, size and name of a source package's .orig.tar."""
    for line in fields["Checksums-Sha256"].splitlines():
        cells = line.split()
        if len(cells) == 3 and ".orig.tar." in cells[2] and not cells[2].endswith(".asc"):
            return cells[0], cells[1], cells[2]
    raise MirrorError(f"source package {fields['Package']} has no .orig.tar; correct SOURCE_SUITE in third_party/qemu/lock.py")


def source_row(release: Release, sources: str) -> LockRow:
    """The line of QEMU's source package, from the text of a Sources index."""
    for fields in deb822.paragraphs(sources):
        if fields["Package"] == "qemu":
            digest, size, name = original_archive(fields)
            return LockRow("source", "qemu", fields["Version"], release.suite, digest, size, f"{fields['Directory']}/{name}", release.snapshot, "source")
    raise MirrorError(f"suite {release.suite} has no source package qemu; correct SOURCE_SUITE in third_party/qemu/lock.py")


def read_sources(mirror: Mirror, release: Release) -> str:
    """The suite's source index, checked against the digest that was signed."""
    expected = release.digests["main/source/Sources.xz"]
    data = mirror.read(f"dists/{release.suite}/main/source/by-hash/SHA256/{expected}")
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise MirrorError(f"{release.suite}: Sources.xz has sha256 {found}, InRelease says {expected}; try again or take another mirror")
    return lzma.decompress(data).decode()


def format_rows(rows: Sequence[LockRow]) -> str:
    lines = sorted("\t".join(getattr(row, column) for column in LOCK_COLUMNS) for row in rows)
    return "\n".join([HEADER, "# " + "\t".join(LOCK_COLUMNS), *lines]) + "\n"


def make_lock(verify: bool) -> str:
    mirror = find_mirror([LIBRARY_SUITE, SOURCE_SUITE])
    libraries, source = (read_release(mirror, suite, verify) for suite in (LIBRARY_SUITE, SOURCE_SUITE))
    rows = library_rows(libraries, libraries.read_index(mirror, "amd64"))
    return format_rows([*rows, source_row(source, read_sources(mirror, source))])


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m third_party.qemu.lock", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the archive and write nothing")
    parser.add_argument("--no-verify-signature", action="store_true", help="trust the mirror's InRelease files unseen")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        text = make_lock(not options.no_verify_signature)
    except LockError as error:
        print(f"third_party/qemu/lock.py: {error}", file=sys.stderr)
        return 1
    if not options.check:
        FILE.write_text(text, "utf-8")
        return 0
    if FILE.read_text("utf-8") == text:
        return 0
    print("third_party/qemu/lock.tsv differs from the archive; make it anew: python3 -m third_party.qemu.lock", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
