# SPDX-License-Identifier: Apache-2.0
"""Merges the results of all tests into one JUnit file and one page that opens without a network.

Without arguments: the results that lie below bazel-testlogs, from whichever run they are. With a build event file: those of one run, and then also
tests that were incompatible, were not built, ran out of time or crashed. Exit code 1: a result could not be read, which the page shows as an error.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence

from ci.report import build_events, expected, logs, merged, page, testlogs
from ci.report.cells import Collected
from ci.report.errors import ReportError
from ci.report.model import Outcome

JUNIT, PAGE = "junit.xml", "index.html"


def _workspace() -> pathlib.Path:
    return pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ci/report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("folder", nargs="?", type=pathlib.Path, help="where test.xml files are, in Bazel's layout; default: the workspace's bazel-testlogs")
    source.add_argument("--build_event_json_file", type=pathlib.Path, metavar="FILE", help="what `bazelw test --build_event_json_file=FILE` wrote")
    parser.add_argument(
        "--matrix", type=pathlib.Path, metavar="FILE", help="what `bazelw run //tests:matrix -- --json` printed: cells without results are shown too"
    )
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR", help="folder for the report; default: the workspace's bazel-report")
    parser.add_argument("--environments", type=lambda text: text.split(","), default=[], metavar="A,B", help="of the matrix (set by the target)")
    return parser.parse_args(words)


def write(collected: Collected, folder: pathlib.Path, environments: Sequence[str]) -> None:
    """The report's files."""
    folder.mkdir(parents=True, exist_ok=True)
    copies = {cell.label: logs.copy_all(cell, folder) for cell in collected.cells}
    (folder / JUNIT).write_text(merged.text(collected.cells), encoding="utf-8")
    (folder / PAGE).write_text(page.html(collected.cells, copies, environments), encoding="utf-8")


def summary(collected: Collected) -> str:
    """One line."""
    counts = {outcome: sum(cell.outcome == outcome for cell in collected.cells) for outcome in Outcome}
    return f"{len(collected.cells)} targets: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)


def main(words: Sequence[str]) -> int:
    """The exit code."""
    options = _arguments(words)
    output = options.output or _workspace() / "bazel-report"
    try:
        if options.build_event_json_file:
            collected = build_events.collect(options.build_event_json_file, options.environments)
        else:
            collected = testlogs.collect(options.folder or _workspace() / "bazel-testlogs", options.environments)
        if options.matrix:
            collected = expected.complete(collected, options.matrix, options.environments)
    except ReportError as error:
        print(f"ci/report: {error}", file=sys.stderr)
        return 2
    try:
        write(collected, output, options.environments)
    except OSError as error:
        print(f"ci/report: {error.filename}: {error.strerror}\n  remedy: give a folder that can be written, by --output", file=sys.stderr)
        return 2
    for problem in collected.damaged:
        print(f"ci/report: {problem}", file=sys.stderr)
    print(f"{summary(collected)}\n{output / PAGE}\n{output / JUNIT}")
    return 1 if collected.damaged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
