# SPDX-License-Identifier: Apache-2.0
"""Unpacks the parts of QEMU's source archive that qemu-riscv64 is made from: the rest would have to be hashed for nothing."""

import argparse
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

KEPT = (
    "accel/tcg",
    "common-user",
    "crypto",
    "disas",
    "fpu",
    "gdb-xml",
    "gdbstub",
    "host",
    "hw/core",
    "include",
    "linux-headers",
    "linux-user/generic",
    "linux-user/include",
    "linux-user/riscv",
    "monitor",
    "qapi",
    "qobject",
    "qom",
    "scripts",
    "semihosting",
    "stubs",
    "target/riscv",
    "tcg/i386",
    "trace",
    "util",
)


class UnpackError(Exception):
    """The archive is not what it should be; the text says how."""


def is_kept(path: PurePosixPath) -> bool:
    """A file in a kept folder, or directly in a folder on the way to one, or at the top."""
    folder = path.parent.as_posix()
    return folder == "." or any(folder == kept or folder.startswith(kept + "/") or kept.startswith(folder + "/") for kept in KEPT)


def members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """What is kept, without the archive's top folder. No links: nothing that is made from here needs one."""
    for member in archive:
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        if member.isfile() and is_kept(path):
            yield member.replace(name=path.as_posix(), deep=False)


def unpack(source: Path, output: Path) -> None:
    output.mkdir(parents=True)
    with tarfile.open(source) as archive:
        archive.extractall(output, members=members(archive), filter="data")
    missing = [kept for kept in KEPT if not (output / kept).is_dir()]
    if missing:
        raise UnpackError(f"{source.name} has no {', '.join(missing)}; is it QEMU's source, and KEPT in unpack.py right for this version?")


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path, help="the .orig.tar.xz")
    parser.add_argument("output", type=Path, help="folder to make")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse_arguments()
    try:
        unpack(options.archive, options.output)
    except (UnpackError, tarfile.TarError) as error:
        print(f"unpack.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
