# SPDX-License-Identifier: Apache-2.0
"""Unpacks wheels as the binary distribution format says (PEP 427): RECORD checked and kept, .data spread, scripts made."""

from __future__ import annotations

import base64
import configparser
import csv
import hashlib
import io
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_SCRIPT = """\
#!{interpreter}
import sys
from {module} import {head}
if __name__ == "__main__":
    sys.exit({attribute}())
"""


class InstallError(Exception):
    """A wheel cannot be installed; the text names wheel and file."""


@dataclass(frozen=True)
class Scheme:
    """Where the parts of a wheel go."""

    root: Path
    purelib: str
    prefix: str
    interpreter: str

    def folder(self, kind: str, project: str) -> str:
        folders = {
            "purelib": self.purelib,
            "platlib": self.purelib,
            "scripts": f"{self.prefix}/bin",
            "data": self.prefix,
            "headers": f"{self.prefix}/include/{project}",
        }
        if kind not in folders:
            raise InstallError(f"{project}: unknown part {kind!r} in its .data folder")
        return folders[kind]


@dataclass(frozen=True)
class _File:
    """One file of the tree: its path below the root, content, and whether it is a program."""

    path: str
    content: bytes
    executable: bool


def install(wheel: Path, scheme: Scheme) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            files = _contents(archive, wheel.name)
    except (OSError, zipfile.BadZipFile) as error:
        raise InstallError(f"{wheel.name}: not a readable wheel: {error}") from error
    info = _dist_info(list(files), wheel.name)
    _check_record(files, info, wheel.name)
    placed = [_place(name, content, executable, info, scheme) for name, (content, executable) in files.items()]
    scripts = _entry_point_scripts(files.get(f"{info}/entry_points.txt", (b"", False))[0], scheme)
    record = _record([f for f in placed if not f.path.endswith(f"{info}/RECORD")] + scripts, scheme, info)
    for file in [*(f for f in placed if not f.path.endswith(f"{info}/RECORD")), *scripts, record]:
        _write(file, scheme.root, wheel.name)


def _contents(archive: zipfile.ZipFile, wheel: str) -> dict[str, tuple[bytes, bool]]:
    files = {}
    for entry in archive.infolist():
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts:
            raise InstallError(f"{wheel}: {entry.filename} points outside the wheel; do not use this file")
        if not entry.is_dir():
            files[entry.filename] = (archive.read(entry), bool((entry.external_attr >> 16) & stat.S_IXUSR))
    return files


def _dist_info(names: list[str], wheel: str) -> str:
    found = sorted({n.split("/")[0] for n in names if n.split("/")[0].endswith(".dist-info")})
    if len(found) != 1:
        raise InstallError(f"{wheel}: expected one .dist-info folder, got {found or 'none'}")
    return found[0]


def _check_record(files: dict[str, tuple[bytes, bool]], info: str, wheel: str) -> None:
    record = files.get(f"{info}/RECORD")
    if record is None:
        raise InstallError(f"{wheel}: it has no RECORD")
    rows = {row[0]: row[1] for row in csv.reader(io.StringIO(record[0].decode())) if row}
    for name, (content, _) in files.items():
        if name.startswith(f"{info}/RECORD"):
            continue
        expected = rows.get(name, "")
        if expected != _hash(content):
            raise InstallError(f"{wheel}: {name}: RECORD says {expected or 'nothing'}, the file is {_hash(content)}")


def _hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _place(name: str, content: bytes, executable: bool, info: str, scheme: Scheme) -> _File:
    data = info.removesuffix(".dist-info") + ".data/"
    if not name.startswith(data):
        return _File(f"{scheme.purelib}/{name}", content, executable)
    kind, _, rest = name.removeprefix(data).partition("/")
    if kind == "scripts":
        executable = True
        if content.startswith(b"#!python"):
            content = f"#!{scheme.interpreter}".encode() + content[content.index(b"\n") :]
    project = info.split("-")[0]
    return _File(f"{scheme.folder(kind, project)}/{rest}", content, executable)


def _entry_point_scripts(text: bytes, scheme: Scheme) -> list[_File]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # names of scripts are case sensitive
    parser.read_string(text.decode())
    scripts = []
    for section in ("console_scripts", "gui_scripts"):
        for name, target in sorted(parser[section].items()) if parser.has_section(section) else []:
            module, _, attribute = target.split("[")[0].strip().partition(":")
            content = _SCRIPT.format(
                interpreter=scheme.interpreter,
                module=module.strip(),
                head=attribute.split(".")[0].strip(),
                attribute=attribute.strip(),
            )
            scripts.append(_File(f"{scheme.prefix}/bin/{name}", content.encode(), True))
    return scripts


def _record(files: list[_File], scheme: Scheme, info: str) -> _File:
    """RECORD of what is installed: paths are relative to the modules' folder, as installers write them."""
    up = "../" * len(PurePosixPath(scheme.purelib).parts)
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    for file in sorted(files, key=lambda f: f.path):
        inside = file.path.startswith(scheme.purelib + "/")
        name = file.path.removeprefix(scheme.purelib + "/") if inside else up + file.path
        writer.writerow((name, _hash(file.content), len(file.content)))
    writer.writerow((f"{info}/RECORD", "", ""))
    return _File(f"{scheme.purelib}/{info}/RECORD", output.getvalue().encode(), False)


def _write(file: _File, root: Path, wheel: str) -> None:
    target = root / file.path
    if target.exists():
        if target.read_bytes() == file.content:
            return
        raise InstallError(f"{wheel}: {file.path} was already installed by another wheel with other content")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.content)
    target.chmod(0o755 if file.executable else 0o644)
