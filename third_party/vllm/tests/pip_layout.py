# SPDX-License-Identifier: Apache-2.0
"""Makes a copy of the installed torch laid out as its wheels are: unversioned sonames in torch/lib, an OpenMP of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

_LIBRARIES = ["c10", "shm", "torch", "torch_cpu", "torch_global_deps", "torch_python"]
_VERSION = ".so.2.14"
_GOMP = b"libgomp.so.1\0"
# Wheels carry libgomp under a name with a hash; this one is as long as the original, so that it can be put in its place.
_OWN_GOMP = b"libgomp-t.so\0"


def _renamed(content: bytes) -> bytes:
    for name in _LIBRARIES:
        old = f"lib{name}{_VERSION}\0".encode()
        content = content.replace(old, f"lib{name}.so\0".encode().ljust(len(old), b"\0"))
    return content.replace(_GOMP, _OWN_GOMP)


def make(package: Path, libraries: Path, target: Path) -> Path:
    """Copies the package `torch` and its libraries below `target`; returns the folder for LD_LIBRARY_PATH."""
    torch = target / "torch"
    shutil.copytree(package, torch, ignore=shutil.ignore_patterns("lib", "include", "test", "testing", "share"), symlinks=True)
    for own in package.glob("testing"):
        shutil.copytree(own, torch / "testing")
    lib = torch / "lib"
    lib.mkdir()
    for name in _LIBRARIES:
        (lib / f"lib{name}.so").write_bytes(_renamed((libraries / f"lib{name}{_VERSION}").read_bytes()))
    (lib / _OWN_GOMP[:-1].decode()).write_bytes(_renamed((libraries / "libgomp.so.1").read_bytes()))
    for extension in torch.glob("_C.*.so"):
        content = _renamed(extension.read_bytes())
        extension.unlink()
        extension.write_bytes(content)
    return lib
