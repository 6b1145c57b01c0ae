# SPDX-License-Identifier: Apache-2.0
"""Measures IME2 products and writes a result file for ci/gates.

On the board, from a copy of this folder's package and of the program:

    python3 -m ci.bench.cli --program sm10-gemm --fact memory_mts=6400 --output results.json
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.bench import gemm, machine
from ci.bench.errors import BenchError

VERSION = "1"


def numbers(text: str) -> list[int]:
    """1,4,16."""
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 1,4,16") from None
    if min(found) < 1:
        raise argparse.ArgumentTypeError("the least is 1")
    return found


def shape(text: str) -> gemm.Shape:
    """A model of the published measurements, or K,N."""
    for known in gemm.SHAPES:
        if text == known.model:
            return known
    match = re.fullmatch(r"(\d+),(\d+)", text)
    if not match or int(match[1]) % 32 or int(match[1]) < 32 or int(match[2]) < 32:
        models = ", ".join(known.model for known in gemm.SHAPES)
        raise argparse.ArgumentTypeError(f"{text!r} is neither K,N (K a multiple of 32) nor one of {models}")
    return gemm.Shape("other", int(match[1]), int(match[2]))


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


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ci.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, metavar="FILE", help="sm10-gemm, of `./bazelw build //ci/bench:sm10-gemm`")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.json", help="the result file")
    parser.add_argument("--against", type=Path, metavar="FILE", help="a second sm10-gemm: A/B in turns; the same file again: A/A, for calibration")
    parser.add_argument("--kernel", action="append", choices=gemm.KERNELS, help="only this kernel (repeatable)")
    parser.add_argument("--shape", action="append", type=shape, metavar="MODEL|K,N", help="only this weight matrix (repeatable; default: the published nine)")
    parser.add_argument("--m", type=numbers, default=list(gemm.ROWS), metavar="M,M...", help="rows of the activations (default 1,4,8,16,128)")
    parser.add_argument("--cores", type=numbers, default=list(gemm.CORES), metavar="C,C...", help="A100 cores (default 1,2,4,8)")
    parser.add_argument("--repeats", type=int, default=9, help="samples of each metric (default 9; a gate wants at least 5)")
    parser.add_argument("--min-ms", type=int, default=50, help="least time of a sample; 0: one call (default 50)")
    parser.add_argument("--fact", action="append", type=fact, default=[], metavar="NAME=VALUE", help="a fact of the board that it does not tell (repeatable)")
    parser.add_argument("--emulator", type=shlex.split, metavar="COMMAND", help="run the program by this command; the results are marked as emulated")
    options = parser.parse_args(arguments)
    if options.repeats < 1 or options.min_ms < 0:
        parser.error("--repeats is at least 1, --min-ms at least 0")
    return options


def digest(path: Path) -> str:
    """sha256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}\n  remedy: ./bazelw build //ci/bench:sm10-gemm") from error


def _fingerprint(options: argparse.Namespace) -> machine.Facts:
    return machine.emulated() if options.emulator else machine.read_board(Path("/"), dict(options.fact))


def _metrics(samples: Mapping[str, list[gemm.Sample]]) -> list[dict[str, object]]:
    return [{"name": name, "samples": taken, "unit": "GOP/s"} for name, taken in sorted(samples.items())]


def record(options: argparse.Namespace) -> dict[str, object]:
    """Measures; returns the document."""
    programs = {"A": options.program.absolute()} | ({"B": options.against.absolute()} if options.against else {})
    wheels = {label: digest(path) for label, path in programs.items()}
    started = datetime.datetime.now(datetime.UTC)
    before = _fingerprint(options)
    rows = gemm.plan(options.kernel or gemm.KERNELS, options.shape or gemm.SHAPES, options.m, options.cores)
    if not rows:
        raise BenchError("nothing to measure\n  remedy: the published kernel runs on one core only; add --cores 1")
    samples: dict[str, list[gemm.Sample]] = {row.name: [] for row in rows}
    for row, sample in gemm.take(rows, programs, options.repeats, gemm.Sampler(options.emulator or (), options.min_ms)):
        samples[row.name].append(sample)
        print(f"{row.name} {sample['wheel']}: {sample['value']:.4g} GOP/s", file=sys.stderr)
    return {
        "fingerprint": {"after": _fingerprint(options), "before": before},
        "machine": "emulated" if options.emulator else "board",
        "metrics": _metrics(samples),
        "repeats": options.repeats,
        "schema": "sm10-results",
        "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "tool": {"name": "ci/bench gemm", "version": VERSION},
        "version": 1,
        "wheels": wheels,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        document = record(options)
        options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
