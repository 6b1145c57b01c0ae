# SPDX-License-Identifier: Apache-2.0
"""Audits a riscv64 shared library as it ships: where vector and matrix instructions stand, what it needs, what it gives away.

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

_SECTION = re.compile(r"Disassembly of section (\S+):")
_INSTRUCTION = re.compile(r"\s*[0-9a-f]+:\s+[0-9a-f ]+\t(\S+)")
# An instruction that the disassembler has no name for. xsmtvdotii's all have the major opcode custom-1.
_UNNAMED = re.compile(r"\s*[0-9a-f]+:\s+[0-9a-f]{8}\s+\t\.insn\t4, 0x([0-9a-f]{8})")
_CUSTOM_1 = 0x2B
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
    matrix_instructions: dict[str, int]
    needed: list[str]
    run_paths: list[str]
    text_relocations: bool
    vector_instructions: dict[str, int]


@dataclasses.dataclass
class Counts:
    """Instructions of each section with code."""

    vector: dict[str, int]
    matrix: dict[str, int]


def is_matrix(line: str) -> bool:
    """Whether a line of a disassembly is an instruction of xsmtvdotii."""
    found = _UNNAMED.match(line)
    return found is not None and int(found[1], 16) & 0x7F == _CUSTOM_1


def count_instructions(disassembly: Iterable[str]) -> Counts:
    """Vector and matrix instructions of each section, from `objdump -d`. All vector mnemonics, and no others, begin with v."""
    counts = Counts({}, {})
    section = ""
    for line in disassembly:
        if found := _SECTION.match(line):
            section = found[1]
            counts.vector.setdefault(section, 0)
            counts.matrix.setdefault(section, 0)
        elif (found := _INSTRUCTION.match(line)) and found[1].startswith("v"):
            counts.vector[section] += 1
        elif is_matrix(line):
            counts.matrix[section] += 1
    return counts


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


def _disassemble(objdump: str, library: Path) -> Counts:
    with subprocess.Popen([objdump, "--disassemble", str(library)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        counts = count_instructions(process.stdout)
    if process.returncode != 0 or not counts.vector:
        raise AuditError(f"{library}: objdump cannot disassemble it")
    return counts


def read_report(library: Path, readelf: str, objdump: str) -> Report:
    """Collects a library's facts."""
    needed, run_paths, text_relocations = parse_dynamic(_output([readelf, "--wide", "--dynamic", str(library)]))
    segments = _output([readelf, "--wide", "--segments", str(library)])
    symbols = _output([readelf, "--wide", "--dyn-syms", str(library)])
    counts = _disassemble(objdump, library)
    return Report(
        build_paths=find_build_paths(library.read_bytes()),
        executable_stack=bool(re.search(r"GNU_STACK.* RWE ", segments)),
        exported_kernels=find_exported_kernels(symbols.splitlines()),
        matrix_instructions=counts.matrix,
        needed=needed,
        run_paths=run_paths,
        text_relocations=text_relocations,
        vector_instructions=counts.vector,
    )


def misplaced(kind: str, counts: dict[str, int], sections: Iterable[str]) -> list[str]:
    """Sections that hold such instructions and may not, or do not and should, as sentences."""
    allowed = set(sections)
    result = [f"section {name} has {count} {kind} instructions and may have none" for name, count in counts.items() if count and name not in allowed]
    return result + [f"section {name} should hold {kind} code and has none" for name in sorted(allowed) if not counts.get(name)]


def violations(report: Report, vector_sections: Iterable[str], matrix_sections: Iterable[str], needed: Iterable[str]) -> list[str]:
    """What breaks the rules, as sentences."""
    expected = set(needed)
    result = misplaced("vector", report.vector_instructions, vector_sections) + misplaced("matrix", report.matrix_instructions, matrix_sections)
    result += [f"it needs {name}, which is not among {', '.join(sorted(expected))}" for name in report.needed if name not in expected]
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
    parser.add_argument("--objdump", required=True, help="objdump for riscv64")
    parser.add_argument("--vector-section", action="append", default=[], help="section that holds, and may hold, vector code")
    parser.add_argument("--matrix-section", action="append", default=[], help="section that holds, and may hold, instructions of xsmtvdotii")
    parser.add_argument("--needed", action="append", default=[], help="library that it may need")
    parser.add_argument("--report", required=True, type=Path, help="where the JSON report goes")
    arguments = parser.parse_args()
    try:
        report = read_report(arguments.library, arguments.readelf, arguments.objdump)
        found = violations(report, arguments.vector_section, arguments.matrix_section, arguments.needed)
        if found:
            raise AuditError("\n".join(f"{arguments.library}: {text}" for text in found))
    except AuditError as error:
        print(error, file=sys.stderr)
        return 1
    arguments.report.write_text(json.dumps(dataclasses.asdict(report), indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
