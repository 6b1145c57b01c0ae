# SPDX-License-Identifier: Apache-2.0
"""Audits a riscv64 shared library as it ships: what it needs, what it gives away. Its instructions are isa_proof's.

Writes a JSON report and fails when something stands where it must not.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# Kernels are entered by stubs and ops that know the core; another library must not find them.
_KERNEL = re.compile(r"(?:ime2_|vml_|_ZN4ime2)")
# A path that begins in a build's own folders. Sources keep their path below csrc/ or the sysroot.
_BUILD_PATHS = re.compile(rb"[\x20-\x7e]*(?:bazel-out|/execroot/|/sandbox/|external/|/home/|/root/|/tmp/)[\x20-\x7e]*")


class AuditError(Exception):
    """The library cannot be read, or breaks a rule; the text names library, rule and finding."""


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found."""

    build_paths: list[str]
    executable_stack: bool
    exported_kernels: list[str]
    needed: list[str]
    run_paths: list[str]
    text_relocations: bool


def parse_dynamic(text: str) -> tuple[list[str], list[str], bool]:
    """Needed libraries, run paths and whether there are text relocations, from `readelf --dynamic`."""
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", text)
    run_paths = re.findall(r"\((?:RPATH|RUNPATH)\)\s+Library r\w*path: \[(.*?)\]", text)
    return sorted(needed), run_paths, "(TEXTREL)" in text or bool(re.search(r"\(FLAGS\).*TEXTREL", text))


def find_exported_kernels(symbols: Iterable[str]) -> list[str]:
    """Kernels and IME2 functions among the symbols that a library gives others, from `readelf --dyn-syms`."""
    rows = [line.split() for line in symbols if line.strip()[:1].isdigit()]
    return sorted(row[7] for row in rows if len(row) > 7 and row[6] != "UND" and _KERNEL.match(row[7]))


def find_build_paths(content: bytes) -> list[str]:
    """Strings in a file that hold a path of the machine that built it."""
    return sorted({found.group().decode().strip() for found in _BUILD_PATHS.finditer(content)})


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AuditError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def read_report(library: Path, readelf: str) -> Report:
    """Collects a library's facts."""
    needed, run_paths, text_relocations = parse_dynamic(_output([readelf, "--wide", "--dynamic", str(library)]))
    segments = _output([readelf, "--wide", "--segments", str(library)])
    symbols = _output([readelf, "--wide", "--dyn-syms", str(library)])
    return Report(
        build_paths=find_build_paths(library.read_bytes()),
        executable_stack=bool(re.search(r"GNU_STACK.* RWE ", segments)),
        exported_kernels=find_exported_kernels(symbols.splitlines()),
        needed=needed,
        run_paths=run_paths,
        text_relocations=text_relocations,
    )


def violations(report: Report, needed: Iterable[str]) -> list[str]:
    """What breaks the rules, as sentences."""
    expected = set(needed)
    result = [f"it needs {name}, which is not among {', '.join(sorted(expected))}" for name in report.needed if name not in expected]
    result += [f"it exports the kernel {name}" for name in report.exported_kernels]
    result += [f"it has the run path {path}" for path in report.run_paths]
    result += [f"it holds a path of the build: {path}" for path in report.build_paths]
    if report.text_relocations:
        result.append("it has text relocations")
    if report.executable_stack:
        result.append("it asks for an executable stack")
    return result


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, type=Path, help="shared library")
    parser.add_argument("--readelf", required=True, help="readelf for riscv64")
    parser.add_argument("--needed", action="append", default=[], help="library that it may need")
    parser.add_argument("--report", required=True, type=Path, help="where the JSON report goes")
    arguments = parser.parse_args()
    try:
        report = read_report(arguments.library, arguments.readelf)
        found = violations(report, arguments.needed)
        if found:
            raise AuditError("\n".join(f"{arguments.library}: {text}" for text in found))
    except AuditError as error:
        print(error, file=sys.stderr)
        return 1
    arguments.report.write_text(json.dumps(dataclasses.asdict(report), indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
