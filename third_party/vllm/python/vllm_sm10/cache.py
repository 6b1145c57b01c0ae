# SPDX-License-Identifier: Apache-2.0
"""Packed weights on disk, found by what they were made from.

An entry is `<sha256 of scheme, sources and format>.ime2`: 64 bytes (magic, size of the weight, sha256 of name and weight), then the weight. It appears
under its name whole or not at all. One that is not what it should be is reported and made anew. The checksum tells accidents, not attackers: trust the
folder as the checkpoint.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from vllm.logger import init_logger

from vllm_sm10.errors import Ime2Error
from vllm_sm10.settings import CACHE

_HEADER = struct.Struct("<8sQ32s16x")
_MAGIC = b"SM10PK01"
_SUFFIX, _UNFINISHED = ".ime2", ".unfinished"
_ABANDONED_AFTER = 24 * 3600  # seconds; no writer takes so long

logger = init_logger("vllm.sm10.ime2")


class EntryError(Exception):
    """A file is no whole entry of its name; the text goes on after the file's name."""


def _bytes_of(tensor: torch.Tensor) -> memoryview:
    return memoryview(tensor.contiguous().view(torch.uint8).reshape(-1).numpy())


@functools.cache
def _packed_format() -> bytes:
    """Magic and version of packed weights, from the code that packs them."""
    blob = torch.ops._C.ime2_pack_weight(torch.zeros(1, 1, 16, dtype=torch.uint8), torch.zeros(1, 1, dtype=torch.float32))
    return bytes(blob[:12].tolist())


def name_of(scheme: str, sources: Sequence[torch.Tensor]) -> str:
    """sha256, in hexadecimal, of all that decides what the packed weight is."""
    digest = hashlib.sha256(_packed_format())
    for text in (scheme, *(f"{tensor.dtype} {tuple(tensor.shape)}" for tensor in sources)):
        digest.update(text.encode() + b"\0")
    for tensor in sources:
        digest.update(_bytes_of(tensor))
    return digest.hexdigest()


def _digest(name: str, content: memoryview) -> bytes:
    digest = hashlib.sha256(name.encode())
    digest.update(content)
    return digest.digest()


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Cache:
    """A folder of entries; any number of processes may use it at the same time."""

    folder: Path

    @classmethod
    def open(cls, folder: Path) -> Cache:
        """Makes the folder unless it is there, and removes what writers left that were killed."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob(f"*{_UNFINISHED}"):
                if time.time() - path.stat().st_mtime > _ABANDONED_AFTER:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise Ime2Error(
                f"{CACHE}={folder} is no folder for packed weights: {error.strerror}", "name a folder that can be made or read, or unset it"
            ) from error
        return cls(folder)

    def path_of(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def read(self, name: str) -> torch.Tensor | None:
        """The entry's weight; None if there is none. Raises EntryError or OSError."""
        try:
            file = self.path_of(name).open("rb")
        except FileNotFoundError:
            return None
        with file:
            head = file.read(_HEADER.size)
            if len(head) < _HEADER.size:
                raise EntryError("is cut")
            magic, size, digest = _HEADER.unpack(head)
            if magic != _MAGIC:
                raise EntryError("is no packed weight of this version")
            if os.fstat(file.fileno()).st_size != _HEADER.size + size:
                raise EntryError("is cut, or has more than one weight")
            blob = torch.empty(size, dtype=torch.uint8)
            content = _bytes_of(blob)
            if file.readinto(content) != size or _digest(name, content) != digest:
                raise EntryError("is damaged, or was made under another name")
            return blob

    def write(self, name: str, blob: torch.Tensor) -> None:
        """Raises OSError; the folder is then as it was."""
        content = _bytes_of(blob)
        unfinished = self.folder / f"{name}.{secrets.token_hex(8)}{_UNFINISHED}"
        try:
            with unfinished.open("xb") as file:
                file.write(_HEADER.pack(_MAGIC, len(content), _digest(name, content)))
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path_of(name))
        except OSError:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise
        _sync(self.folder)

    def fetch(self, scheme: str, sources: Sequence[torch.Tensor], make: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, bool]:
        """The packed weight, and whether it was in the cache; what make() gives is kept for the next time, if it can be."""
        name = name_of(scheme, sources)
        try:
            blob = self.read(name)
        except (EntryError, OSError) as error:
            logger.warning("packed weight %s %s; it is made anew", self.path_of(name), error)
            blob = None
        if blob is not None:
            return blob, True
        blob = make()
        try:
            self.write(name, blob)
        except OSError as error:
            logger.warning("packed weight %s cannot be written: %s; the next start packs it again", self.path_of(name), error.strerror)
        return blob, False
