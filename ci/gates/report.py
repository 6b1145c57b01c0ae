# SPDX-License-Identifier: Apache-2.0
"""Writes a verdict wherever the caller wants it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import markdown, page, terminal
from .faults import Fault, Kind, exit_code
from .history import Past
from .verdict import Verdict


EXPECTATIONS = Path(__file__).with_name("expectations")


def default_expectations() -> list[Path]:
    """All reviewed files beside this module."""
    return sorted(EXPECTATIONS.glob("*.toml"))


def add_expectations(parser: argparse.ArgumentParser) -> None:
    """The option of the gates that hold boards' figures."""
    text = "expectation files, one of them with [board] (default: all of ci/gates/expectations)"
    parser.add_argument("--expectations", type=Path, nargs="+", metavar="FILE", help=text)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """The options of all gates."""
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report, one static file that opens offline")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML, a case for each metric")
    parser.add_argument("--summary", type=Path, metavar="FILE.md", help="append a Markdown summary, for GITHUB_STEP_SUMMARY")


def _write(verdict: Verdict, options: argparse.Namespace, past: Past) -> None:
    if options.html:
        options.html.write_text(page.as_html(verdict, past), encoding="utf-8")
    if options.summary:
        with options.summary.open("a", encoding="utf-8") as file:
            file.write(markdown.as_markdown(verdict))
    if options.junit:
        from . import junit_file  # needs a package; only who asks for it must have it

        options.junit.write_text(junit_file.as_xml(verdict), encoding="utf-8")


def publish(verdict: Verdict, options: argparse.Namespace, past: Past | None = None) -> int:
    """Prints and writes the verdict; returns the exit code."""
    print(terminal.as_text(verdict), file=sys.stderr if verdict.faults else sys.stdout)
    try:
        _write(verdict, options, past or Past())
    except OSError as error:
        fault = Fault(Kind.UNREADABLE, f"{error.filename}: {error.strerror}", "name a file in a folder that exists and can be written")
        print(fault, file=sys.stderr)
        return exit_code([*verdict.faults, fault])
    return verdict.code
