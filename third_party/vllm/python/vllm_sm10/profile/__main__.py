# SPDX-License-Identifier: Apache-2.0
"""`python -m vllm_sm10.profile MODEL`: loads a model, runs one prefill and one decode step, and tells what each op took.

On a board: wall time. On this project's emulator, which has no speed, --count: exact numbers of executed instructions of all threads,
scalar, vector and matrix (IME2). What no op explains is reported as such: the whole step, measured unwatched, less the ops.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from vllm_sm10.profile import meters, picture, table
from vllm_sm10.profile.errors import ProfileError
from vllm_sm10.profile.record import Profile, as_json

_EPILOG = """\
An op is what torch dispatches: vLLM's (_C::...), the int4 product (_C::ime2_gemm_packed), torch's own (aten::...). One that calls others
inside of C++ has their cost. torch.compile is off: it would hide ops in its own. Threads that wait for work in a loop are counted apart
("waiting"). Figures of one op include torch's dispatch of it, some thousand instructions a call.
"""


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python -m vllm_sm10.profile",
        description=__doc__.partition("`: ")[2],
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("model", metavar="MODEL", help="folder or name of a model, as LLM() takes it")
    result.add_argument("--quantization", metavar="NAME", help="as LLM() takes it, e.g. ime2 (default: the checkpoint's)")
    result.add_argument("--dtype", default="auto", help="of activations (default: %(default)s)")
    result.add_argument(
        "--tokens", type=int, action="append", metavar="N", help="of the prompt (default: 32); repeatable: a prefill and a decode step for each"
    )
    result.add_argument("--kv-cache-memory", type=int, default=1 << 28, metavar="BYTES", help="(default: %(default)s)")
    result.add_argument("--count", action="store_true", help="instructions instead of time")
    result.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    result.add_argument("--svg", type=Path, metavar="FILE", help="draw them there too")
    return result


def _check(options: argparse.Namespace) -> None:
    """What can be known before a model is loaded, which takes long."""
    if options.count:
        meters.require_tally()
    if min(options.tokens) < 1:
        raise ProfileError(f"--tokens {min(options.tokens)}: a prompt has at least one", "give a positive number")
    for name, file in (("--json", options.json), ("--svg", options.svg)):
        if file is not None and not os.access(file.parent, os.W_OK):
            raise ProfileError(f"{name} {file}: its folder cannot be written to", "name a file in a folder that exists")


def profile(options: argparse.Namespace) -> Profile:
    from vllm_sm10.profile import engine

    llm = engine.start(options.model, options.quantization, options.dtype, max(options.tokens), options.kv_cache_memory)
    meter: meters.Meter[Any] = meters.Instructions() if options.count else meters.Clock()
    passes = tuple(one for tokens in options.tokens for one in engine.measure(llm, tokens, meter))
    config = llm.llm_engine.model_config
    return Profile(Path(options.model).name, config.quantization, str(config.dtype).removeprefix("torch."), meter.unit, passes)


def _write(file: Path, text: str) -> None:
    """Whole or not at all."""
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    options.tokens = options.tokens or [32]
    try:
        _check(options)
        found = profile(options)
    except ProfileError as error:
        print(f"vllm_sm10.profile: {error}", file=sys.stderr)
        return 2
    if options.json:
        _write(options.json, as_json(found))
    if options.svg:
        _write(options.svg, picture.draw(found))
    print(table.text(found), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
