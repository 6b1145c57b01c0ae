# SPDX-License-Identifier: Apache-2.0
"""Where the files are: an installed distribution or a wheel."""

from __future__ import annotations

import importlib.metadata
import os
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vllm_sm10.verify.errors import VerifyError

_PROJECT = "vllm"


class Files(Protocol):
    """The files of one distribution, by their path in RECORD."""

    @property
    def place(self) -> str:
        """For people."""

    @property
    def info(self) -> str:
        """Name of the .dist-info folder."""

    def read(self, path: str) -> bytes | None:
        """Content; None if there is no such file. ValueError for one that cannot be read."""

    def present(self, packages: Iterable[str]) -> list[str]:
        """All files of these top-level folders."""

    def damages(self) -> list[str]:
        """What is wrong with the container itself."""


@dataclass(frozen=True)
class Installed:
    """Files below a folder of packages."""

    folder: Path
    info: str

    @property
    def place(self) -> str:
        return str(self.folder)

    def read(self, path: str) -> bytes | None:
        try:
            return (self.folder / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise ValueError(error.strerror) from error

    def present(self, packages: Iterable[str]) -> list[str]:
        found = []
        for package in packages:
            if (self.folder / package).is_file():
                found.append(package)
            for place, folders, names in os.walk(self.folder / package):
                relative = Path(place).relative_to(self.folder)
                links = [name for name in folders if os.path.islink(os.path.join(place, name))]
                found += [(relative / name).as_posix() for name in [*names, *links]]
        return sorted(found)

    def damages(self) -> list[str]:
        return []


@dataclass(frozen=True)
class Wheel:
    """Members of a wheel file."""

    path: Path
    archive: zipfile.ZipFile
    info: str

    @property
    def place(self) -> str:
        return str(self.path)

    def read(self, path: str) -> bytes | None:
        try:
            return self.archive.read(path)
        except KeyError:
            return None
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
            raise ValueError(str(error)) from error

    def present(self, packages: Iterable[str]) -> list[str]:
        return sorted(self.archive.namelist())

    def damages(self) -> list[str]:
        names = self.archive.namelist()
        return [f"{name} stands in the archive twice" for name in sorted({name for name in names if names.count(name) > 1})]


def installed() -> Installed:
    """The distribution that this Python has."""
    try:
        distribution = importlib.metadata.distribution(_PROJECT)
    except importlib.metadata.PackageNotFoundError as error:
        raise VerifyError(f"this Python has no {_PROJECT}\n  remedy: install the wheel, or name one: python -m vllm_sm10.verify WHEEL") from error
    folder = getattr(distribution, "_path", None)  # the only way to its name; None for what lies in an archive
    if not isinstance(folder, Path) or not folder.is_dir():
        raise VerifyError(f"{_PROJECT} is not installed in a folder\n  remedy: name the wheel: python -m vllm_sm10.verify WHEEL")
    return Installed(folder.parent.resolve(), folder.name)


def wheel(path: Path) -> Wheel:
    """A wheel file."""
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise VerifyError(f"{path} cannot be read as a wheel: {error}\n  remedy: fetch it anew") from error
    folders = sorted({name.split("/")[0] for name in archive.namelist() if name.endswith(".dist-info/RECORD")})
    if len(folders) != 1:
        raise VerifyError(f"{path} has {len(folders)} RECORD files, a wheel has one\n  remedy: fetch it anew")
    return Wheel(path, archive, folders[0])
