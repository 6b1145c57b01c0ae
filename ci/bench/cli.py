# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of vLLM on the SM10. Each writes a result file that sm10-gates (`./bazelw run //ci/gates`) judges.

    sm10-bench gemm --fact memory_mts=6400 --output gemm.json
    sm10-bench generate --models FOLDER --wheel vllm-….whl --fact memory_mts=6400 --output generation.json
    sm10-bench serve --models FOLDER --model tinyllama-1.1b --wheel vllm-….whl --fact memory_mts=6400 --output serving.json

Exit codes: 0 all rows measured; 1 the file is written, but without the rows whose errors were printed; 2 nothing is written.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import gemm, generation, machine, models, serving, session, shapes, wheels
from .errors import BenchError
from .samples import Plan, Taken, take_in_turns

PROGRAM = Path(__file__).with_name("sm10-gemm")
_GEMM_REMEDY = "./bazelw build //ci/bench:sm10-gemm"


def numbers(text: str) -> list[int]:
    """1,4,16."""
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 1,4,16") from None
    if min(found) < 1:
        raise argparse.ArgumentTypeError("the least is 1")
    return found


def shape(text: str) -> shapes.Shape:
    """A model of the published measurements, or K,N."""
    for known in shapes.SHAPES:
        if text == known.model:
            return known
    match = re.fullmatch(r"(\d+),(\d+)", text)
    if not match or int(match[1]) % 32 or int(match[1]) < 32 or int(match[2]) < 32:
        listed = ", ".join(known.model for known in shapes.SHAPES)
        raise argparse.ArgumentTypeError(f"{text!r} is neither K,N (K a multiple of 32) nor one of {listed}")
    return shapes.Shape("other", int(match[1]), int(match[2]))


def fact(text: str) -> tuple[str, str | int]:
    """NAME=VALUE."""
    name, _, value = text.partition("=")
    if name not in machine.GIVABLE or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE with NAME of {', '.join(machine.GIVABLE)}")
    if not name.endswith(("_mhz", "_mts")):
        return name, value
    if not value.isdecimal():
        raise argparse.ArgumentTypeError(f"{name} is a whole number")
    return name, int(value)


def model_name(text: str) -> str:
    """A part of a metric's name."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of small letters, digits, dots and dashes")
    return text


def _add_common(parser: argparse.ArgumentParser, repeats: int) -> None:
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.json", help="the result file")
    parser.add_argument("--repeats", type=int, default=repeats, help=f"samples of each metric (default {repeats}; a gate wants at least 5)")
    parser.add_argument("--fact", action="append", type=fact, default=[], metavar="NAME=VALUE", help="a fact of the board that it does not tell (repeatable)")


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", type=Path, required=True, metavar="FOLDER", help="holds a folder with a checkpoint for each model")
    parser.add_argument(
        "--model",
        action="append",
        type=model_name,
        metavar="NAME",
        help=f"only this folder (repeatable; default: the published ten, {', '.join(models.MODELS)})",
    )
    parser.add_argument("--way", action="append", choices=sorted(models.WAYS), help="only this way to run them (repeatable; default: all)")
    parser.add_argument("--wheel", type=Path, required=True, metavar="FILE.whl", help="the wheel that --python has installed")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="Python of a venv with the wheel (default: this one)")
    parser.add_argument("--against-wheel", type=Path, metavar="FILE.whl", help="a second wheel: A/B in turns; the same again: A/A, for calibration")
    parser.add_argument("--against-python", type=Path, metavar="PYTHON", help="Python of the second wheel's venv")
    parser.add_argument("--warmup", type=int, default=1, help="runs of each model and wheel before the first that counts (default 1)")
    parser.add_argument("--limit", type=float, default=1800, metavar="SECONDS", help="longest wait for an answer, loading included (default 1800)")
    parser.add_argument("--emulated", action="store_true", help="this machine is an emulator: function only, no board's gate takes the results")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sm10-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchmarks = parser.add_subparsers(dest="benchmark", required=True)

    products = benchmarks.add_parser("gemm", help="IME2 products, GOP/s", description=gemm.__doc__)
    products.add_argument("--program", type=Path, default=PROGRAM, metavar="FILE", help=f"sm10-gemm (default: the tool's own; `{_GEMM_REMEDY}`)")
    products.add_argument("--against", type=Path, metavar="FILE", help="a second sm10-gemm: A/B in turns; the same file again: A/A, for calibration")
    products.add_argument("--kernel", action="append", choices=gemm.KERNELS, help="only this kernel (repeatable)")
    products.add_argument("--shape", action="append", type=shape, metavar="MODEL|K,N", help="only this weight matrix (repeatable; default: the published nine)")
    products.add_argument("--m", type=numbers, default=list(gemm.ROWS), metavar="M,M...", help="rows of the activations (default 1,4,8,16,128)")
    products.add_argument("--cores", type=numbers, default=list(gemm.CORES), metavar="C,C...", help="A100 cores (default 1,2,4,8)")
    products.add_argument("--min-ms", type=int, default=50, help="least time of a sample; 0: one call (default 50)")
    products.add_argument("--emulator", type=shlex.split, metavar="COMMAND", help="run the program by this command; the results are marked as emulated")
    products.add_argument("--emulated", action="store_true", help="this machine is an emulator; the results are marked so")
    _add_common(products, 9)
    products.set_defaults(prepare=_products)

    generate = benchmarks.add_parser("generate", help="tokens/s of one request", description=generation.__doc__)
    _add_models(generate)
    _add_common(generate, 5)
    generate.set_defaults(prepare=_generation)

    serve = benchmarks.add_parser("serve", help="requests/s and latencies of a server", description=serving.__doc__)
    _add_models(serve)
    serve.add_argument("--streams", type=numbers, default=list(serving.STREAMS), metavar="S,S...", help="concurrent streams (default 1,4,8)")
    serve.add_argument("--requests", type=int, default=4, help="of each stream in a run (default 4)")
    _add_common(serve, 5)
    serve.set_defaults(prepare=_serving)

    options = parser.parse_args(arguments)
    least = {"repeats": 1, "min_ms": 0, "warmup": 0, "requests": 1}
    for name, value in least.items():
        if getattr(options, name, value) < value:
            parser.error(f"--{name.replace('_', '-')} is at least {value}")
    if (getattr(options, "against_wheel", None) is None) != (getattr(options, "against_python", None) is None):
        parser.error("--against-wheel and --against-python go together")
    return options


Prepared = tuple[session.Session, Callable[[], Iterable[Taken]]]


def _products(options: argparse.Namespace) -> Prepared:
    programs = {"A": options.program.absolute()} | ({"B": options.against.absolute()} if options.against else {})
    found = {label: wheels.digest(path, _GEMM_REMEDY) for label, path in programs.items()}
    rows = gemm.plan(options.kernel or gemm.KERNELS, options.shape or shapes.SHAPES, options.m, options.cores)
    if not rows:
        raise BenchError("nothing to measure\n  remedy: the published kernel runs on one core only; add --cores 1")
    sampler = gemm.Sampler(options.emulator or (), options.min_ms)
    recording = session.Session("gemm", bool(options.emulator) or options.emulated, dict(options.fact), found, options.repeats)
    return recording, lambda: gemm.take(rows, programs, options.repeats, sampler)


def _environment() -> dict[str, str]:
    """The user's, without what would reach for a network."""
    return {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}


def _pythons(options: argparse.Namespace) -> Mapping[str, tuple[Path, Path]]:
    """Python and wheel by label."""
    first = {"A": (options.python, options.wheel)}
    return first | ({"B": (options.against_python, options.against_wheel)} if options.against_python else {})


def _engines(options: argparse.Namespace, tool: str, unit: Callable[[str], str], start: Callable[..., Any]) -> Prepared:
    environment = _environment()
    pythons = _pythons(options)
    found = {label: wheels.check(python, wheel, environment) for label, (python, wheel) in pythons.items()}
    names = options.model or list(models.MODELS)
    subjects = models.subjects({name: options.models / name for name in names}, options.way or sorted(models.WAYS))
    recording = session.Session(tool, options.emulated, dict(options.fact), found, options.repeats)
    starter = lambda subject, label: start(subject, pythons[label][0], environment, options.limit)  # noqa: E731
    return recording, lambda: take_in_turns(subjects, starter, unit, list(pythons), Plan(options.repeats, options.warmup))


def _generation(options: argparse.Namespace) -> Prepared:
    return _engines(options, "generate", lambda _: "tokens/s", generation.engine)


def _serving(options: argparse.Namespace) -> Prepared:
    return _engines(options, "serve", serving.unit, functools.partial(serving.server, requests=options.requests, streams=tuple(options.streams)))


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        recording, take = options.prepare(options)
        document, errors = recording.record(take)
        session.write(document, options.output)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if errors:
        print(f"bench: {options.output} is written without {len(errors)} failed rows", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
