# SPDX-License-Identifier: Apache-2.0
"""Byte code for a tree's Python sources, made once here instead of at each emulated start (import of torch: 17 s instead of 62 s)."""

import multiprocessing
import os
import py_compile
from collections.abc import Iterable
from pathlib import Path


def compile_folders(root: Path, folders: Iterable[str], jobs: int) -> int:
    """Compiles the sources below the folders; returns how many.

    Unchecked: the byte code stays valid when the build copies the tree and changes file times. Paths in it are as seen with `root` as "/".
    """
    sources = [
        (str(root), os.path.relpath(os.path.join(place, name), root))
        for folder in folders
        for place, _, names in os.walk(root / folder)
        for name in names
        if name.endswith(".py")
    ]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        return sum(pool.imap_unordered(_compile, sorted(sources), chunksize=50))


def _compile(source: tuple[str, str]) -> bool:
    root, path = source
    try:
        py_compile.compile(
            os.path.join(root, path),
            dfile="/" + path,
            doraise=True,
            quiet=2,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    except py_compile.PyCompileError:
        return False  # templates and tests of broken syntax are in some packages; the interpreter reports them when they are used
    return True
