# SPDX-License-Identifier: Apache-2.0
"""Lists every test of the workspace: where it runs, and where not and why.

Bazel itself is asked, so no test is missing: `query` for what the tests are, `cquery` for whether they are compatible.
Exit code 1: a test could not be analysed.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

_TESTS = 'tests(//...) except attr("tags", "[\\[ ]manual[,\\]]", //...)'
_COMPATIBLE = 'str(target.label).lstrip("@") + " " + str("IncompatiblePlatformProvider" not in (providers(target) or {}))'
_BUILD_MACHINE = ("@platforms//cpu:x86_64", "@platforms//os:linux")
# Rules whose `level` is what they run on.
_AT_A_LEVEL = ("guest_pytest_test", "level_test")
_INCOMPATIBLE = "@platforms//:incompatible"


class ListingError(Exception):
    """Bazel could not be asked; the text names the remedy."""


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """A test. environment: what the matrix calls it; host for a test that is no cell. why_not: empty if it runs. broken: it could not be analysed."""

    label: str
    rule: str
    environment: str
    compiler: str
    tags: tuple[str, ...]
    runs: bool
    why_not: str = ""
    broken: bool = False


def attributes(rule: dict) -> dict[str, Any]:
    """Of query's JSON."""
    keys = ("stringListValue", "stringValue", "intValue")
    return {entry["name"]: next((entry[key] for key in keys if key in entry), None) for entry in rule["attribute"]}


def environment_of(rule: str, found: dict[str, Any], environments: Sequence[str]) -> str:
    """Its own word, else its tags', else its level's."""
    own = found.get("environment") or next((tag for tag in found.get("tags") or () if tag in environments and tag.startswith(("host_", "qemu_"))), "")
    if own:
        return str(own)
    board = next((tag for tag in found.get("tags") or () if tag in environments), "")
    if board:
        return board
    if found.get("level") and rule in _AT_A_LEVEL:
        return f"qemu_{found['level']}" + (f"_vlen{found['vlen']}" if found.get("vlen") else "")
    return "host"


def reason(label: str, found: dict[str, Any], cells: Sequence[str]) -> str:
    """Why an incompatible test does not run: the matrix's word, else what its constraints ask for."""
    if found.get("why_not"):
        return str(found["why_not"])
    wanted = [str(word) for word in found.get("target_compatible_with") or () if word not in _BUILD_MACHINE]
    if wanted == [_INCOMPATIBLE]:
        return "needs a real board: --config=sm10, and SM10_BOARD (tests/README.md)"
    through = f"; runs as {', '.join(cells)}" if cells else "; runs with --platforms=//toolchains/isa:LEVEL"
    return f"is built for {' and '.join(wanted) or 'another platform, as something that it needs is'}{through}"


def cells_of(rules: Iterable[dict], compatible: dict[str, bool], environments: Sequence[str]) -> list[Cell]:
    """query's rules with cquery's answers."""
    known = [(rule["name"], rule["ruleClass"], attributes(rule)) for rule in rules]
    cells_by_target: dict[str, list[str]] = collections.defaultdict(list)
    for label, _, found in known:
        if isinstance(found.get("target"), str) and compatible.get(label):
            cells_by_target[str(found["target"])].append(label.rpartition(":")[2])
    result = []
    for label, rule, found in known:
        runs = compatible.get(label, False)
        broken = label not in compatible
        why_not = (
            "" if runs else f"could not be analysed: `./bazelw build --nobuild {label}` says why" if broken else reason(label, found, cells_by_target[label])
        )
        compiler = str(found.get("compiler") or "gcc")
        tags = tuple(str(tag) for tag in found.get("tags") or ())
        result.append(Cell(label, rule, environment_of(rule, found, environments), compiler, tags, runs, why_not, broken))
    return sorted(result)


def _bazel(workspace: pathlib.Path, words: Sequence[str], allowed: Sequence[int] = (0,)) -> str:
    command = [str(workspace / "bazelw"), *words]
    done = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        raise ListingError(f"`{' '.join(command)}` ended with exit code {done.returncode}:\n{done.stderr[-4000:]}\n  remedy: make that command work")
    return done.stdout


def ask(workspace: pathlib.Path, options: Sequence[str], environments: Sequence[str]) -> list[Cell]:
    """Both questions. cquery prints a test once for each configuration; the first question's is meant."""
    rules = [json.loads(line)["rule"] for line in _bazel(workspace, ["query", "--output=streamed_jsonproto", _TESTS]).splitlines()]
    partly = 1  # --keep_going: some could not be analysed
    answers = _bazel(
        workspace,
        ["cquery", *options, "--keep_going", "--output=starlark", f"--starlark:expr={_COMPATIBLE}", f"config({_TESTS}, target)"],
        allowed=(0, partly),
    )
    compatible = {label: word == "True" for label, word in (line.split() for line in answers.splitlines())}
    return cells_of(rules, compatible, environments)


def table(cells: Sequence[Cell]) -> str:
    """A line each, and the sums."""
    width = max(len(cell.label) for cell in cells)
    column = max(len(cell.environment) for cell in cells)
    lines = [f"{cell.label:{width}}  {cell.environment:{column}}  {'runs' if cell.runs else f'-  {cell.why_not}'}" for cell in cells]
    count = collections.Counter("broken" if cell.broken else "run" if cell.runs else "incompatible" for cell in cells)
    return "\n".join([*lines, f"{len(cells)} cells: " + ", ".join(f"{number} {word}" for word, number in sorted(count.items()))])


def main(words: Sequence[str]) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="tests:matrix", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="a list of objects with all that is known of each test")
    parser.add_argument("--config", action="append", default=[], metavar="NAME", help="ask as for `bazelw test --config=NAME`, e.g. sm10; repeatable")
    parser.add_argument("--environments", type=lambda text: text.split(","), default=[], help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")).resolve()
    try:
        cells = ask(workspace, [f"--config={name}" for name in options.config], options.environments)
    except ListingError as error:
        print(f"tests:matrix: {error}", file=sys.stderr)
        return 2
    print(json.dumps([dataclasses.asdict(cell) for cell in cells], indent=2) if options.json else table(cells))
    return 1 if any(cell.broken for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
