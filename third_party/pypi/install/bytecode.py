# SPDX-License-Identifier: Apache-2.0
"""Byte code made in advance: under emulation it saves most of the time that an import takes."""

from __future__ import annotations

import py_compile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def compile_tree(root: Path, folder: Path, jobs: int) -> None:
    """Compiles every module below `folder`; tracebacks will name paths as seen with `root` as "/"."""
    sources = sorted(folder.rglob("*.py"))
    names = ["/" + str(source.relative_to(root)) for source in sources]
    if jobs == 1:
        for source, name in zip(sources, names, strict=True):
            _compile(source, name)
        return
    with ProcessPoolExecutor(jobs) as pool:
        # The list forces the results, so that a worker's exception is not lost.
        list(pool.map(_compile, sources, names, chunksize=64))


def _compile(source: Path, name: str) -> None:
    """Unchecked-hash files stay valid when the tree is copied and its times change."""
    try:
        py_compile.compile(
            str(source),
            dfile=name,
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    except py_compile.PyCompileError:
        # Some packages ship templates and code for other Python versions as *.py; nothing imports them here.
        return
