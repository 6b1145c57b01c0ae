# SPDX-License-Identifier: Apache-2.0
"""`python -m vllm_sm10`: which core this is, which code of vllm._C runs on it, and what does not, with the reason."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from vllm_sm10 import blas, harts
from vllm_sm10.inventory import Capabilities, CoreType, Level, OpState, capabilities
from vllm_sm10.library import LibraryError

_WIDTH = 100


def _vlen(vlen: int | None) -> str:
    return f"VLEN {vlen}" if vlen else "no vector unit (V)"


def _type(core: CoreType) -> str:
    facts = f"{_vlen(core.vlen)}, level {core.level}" + (", matrix unit (IME2)" if core.matrix else "") if core.known else "not reachable from this thread"
    return f"  harts {harts.ranges(core.harts):<8} {core.kind}: {facts}"


def _level(level: Level, machine: tuple[CoreType, ...]) -> str:
    need = f"VLEN {level.vlen}" + "".join(f" {name}" for name in level.needs) if level.vlen else "any core"
    state = ""
    if level.vlen and all(core.known and core.vlen != level.vlen for core in machine):
        state = "; no core of this machine"
    elif not level.enabled:
        state = f"; off: {'lacking ' + ', '.join(level.missing) if level.missing else 'by setting'}"
    return f"  {level.name:<8} {need}{state}"


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent="    ")


def _op_lines(ops: tuple[OpState, ...]) -> Iterator[str]:
    running = [op for op in ops if op.runs_at]
    yield f"ops: {len(running)} of {len(ops)} run on this thread"
    for level in sorted({op.runs_at or "" for op in running}):
        yield _wrapped(f"at {level}: " + ", ".join(op.name for op in running if op.runs_at == level), "  ")
    for reason, remedy in sorted({(op.reason, op.remedy) for op in ops if not op.runs_at}):
        names = ", ".join(op.name for op in ops if not op.runs_at and op.reason == reason)
        yield _wrapped(f"not {names}: {reason}; {remedy}", "  ")


def _blas_lines(found: Capabilities) -> Iterator[str]:
    widest = max((core.vlen or 0 for core in found.machine), default=found.core.vlen or 0)
    for kernels in sorted({one.kernels for one in found.openblas}):
        files = [one for one in found.openblas if one.kernels == kernels]
        yield f"OpenBLAS: kernels {kernels} ({', '.join(Path(one.path).name for one in files)})"
        if not files[0].is_right_at(widest):
            advice = f"wrong above VLEN {blas.LAST_RIGHT_VLEN}: no torch product on such a core, or start with {blas.VARIABLE}={blas.RIGHT_EVERYWHERE}"
            yield _wrapped(advice, "  ")


def lines(found: Capabilities) -> Iterator[str]:
    """The text for people."""
    core = found.core
    yield f"library: {found.library}"
    if found.error:
        yield f"  it cannot be used: {found.error}"
    extensions = "".join(f" {name}" for name in core.extensions) + (" IME2" if core.matrix else "")
    yield f"this thread: hart {core.hart}, {core.kind}, {_vlen(core.vlen)}{extensions}"
    yield f"level: {found.level} ({found.why})"
    yield "machine:"
    yield from map(_type, found.machine)
    yield "levels in the library:"
    yield from (_level(level, found.machine) for level in found.levels)
    if not found.error:
        yield from _op_lines(found.ops)
    yield from _blas_lines(found)


def main() -> int:
    """0 if the library can be used on this core."""
    parser = argparse.ArgumentParser(prog="python -m vllm_sm10", description=__doc__.partition("`: ")[2])
    parser.add_argument("--json", action="store_true", help="the record of vllm_sm10.capabilities() as JSON")
    arguments = parser.parse_args()
    try:
        found = capabilities()
    except (LibraryError, ImportError) as error:
        print(f"vllm_sm10: {error}", file=sys.stderr)
        return 1
    print(json.dumps(dataclasses.asdict(found), indent=2) if arguments.json else "\n".join(lines(found)))
    return 1 if found.error else 0


if __name__ == "__main__":
    sys.exit(main())
