# SPDX-License-Identifier: Apache-2.0
"""A wheel with the same bytes wherever it is made: sorted, one time stamp, two modes, one compression."""

import base64
import hashlib
import zipfile
from pathlib import Path

# The first time that a zip archive can hold.
EPOCH = (1980, 1, 1, 0, 0, 0)
MODE_FILE = 0o100644
MODE_PROGRAM = 0o100755  # programs and libraries


def record_line(name: str, data: bytes) -> str:
    """A line of RECORD: path, digest, size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    quoted = f'"{name}"' if "," in name else name
    return f"{quoted},sha256={digest},{len(data)}"


def write_wheel(path: Path, members: dict[str, bytes], record: str) -> None:
    """Writes `members` sorted, .dist-info last as the wheel format recommends, and RECORD (named `record`) at the end."""
    folder = record.rsplit("/", 1)[0] + "/"
    names = sorted(members, key=lambda name: (name.startswith(folder), name))
    lines = [record_line(name, members[name]) for name in names] + [f"{record},,"]
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            _add(archive, name, members[name])
        _add(archive, record, ("\n".join(lines) + "\n").encode())


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.create_system = 3  # Unix, so that the mode counts
    entry.external_attr = (MODE_PROGRAM if data.startswith(b"\x7fELF") else MODE_FILE) << 16
    # zlib's output depends on its version; the Python that runs this is locked with its libraries.
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=6)
