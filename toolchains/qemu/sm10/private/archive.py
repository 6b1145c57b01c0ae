# SPDX-License-Identifier: Apache-2.0
"""Packs files into one tar.xz whose bytes depend on nothing but theirs."""

import argparse
import io
import lzma
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_README = """\
The emulated SM10 for any x86-64 Linux: ./sm10 --help, ./sm10-counts --help (needs Python 3.11 or newer).

qemu-riscv64 is QEMU, under the GNU General Public License, version 2 (COPYING), with an instruction model of the
vllm-sm10 project. Its source: Debian's source package named in source/lock.tsv, with the patches of source/series.
"""
_EXECUTABLE = frozenset({"qemu-riscv64", "sm10", "sm10-counts"})


class ArchiveError(Exception):
    """The command line does not make sense; the text says why."""


def member(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o755 if Path(name).name in _EXECUTABLE else 0o644
    return info


def pack(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A tar with sorted members, no times and no owners, compressed by one thread."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            tar.addfile(member(f"{folder}/{name}", len(files[name])), io.BytesIO(files[name]))
    return lzma.compress(raw.getvalue(), preset=6)


def parse_file(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    if not separator:
        raise ArchiveError(f"--file {text}: expected NAME=PATH")
    return name, Path(path)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="the archive")
    parser.add_argument("--folder", required=True, help="top folder in the archive")
    parser.add_argument("--file", action="append", default=[], metavar="NAME=PATH", help="a file and its name in the archive")
    parser.add_argument("--licence-of", type=Path, required=True, help="source tree whose COPYING goes along")
    parser.add_argument("--patch", action="append", default=[], type=Path, help="a file for the folder `source`")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse_arguments()
    try:
        files = {name: path.read_bytes() for name, path in map(parse_file, options.file)}
    except ArchiveError as error:
        print(f"archive.py: {error}", file=sys.stderr)
        return 2
    files |= {f"source/{path.name}": path.read_bytes() for path in options.patch}
    files["COPYING"] = (options.licence_of / "COPYING").read_bytes()
    files["README"] = _README.encode()
    options.output.write_bytes(pack(options.folder, files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
