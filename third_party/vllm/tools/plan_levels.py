# SPDX-License-Identifier: Apache-2.0
"""Plans how per-level objects become one library: stubs, symbol renames and late-bound symbols.

Everything is derived from the objects: an op is what the bindings leave undefined and a level defines. So an op that
upstream adds gets a stub by itself, and one that no level defines stays undefined and fails the final link.

A part is code of one level that takes no core away from the other levels: it gets no stubs, its callers ask for the core
before they call its entries. An entry is what another object of the library leaves undefined and a part defines.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*\Z")
_DEFINED = frozenset("TtWwVvDdBbRrSsGgu")


class PlanError(Exception):
    """The objects do not fit together; the text names the symbol or object and what to do."""


@dataclasses.dataclass(frozen=True)
class Symbols:
    """What one object defines globally and what it wants from others."""

    defined: frozenset[str]
    undefined: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Level:
    """One set of kernels. `vlenb` is 0 for the scalar level, which runs anywhere."""

    name: str
    vlenb: int
    symbols: Symbols

    def renamed(self, op: str) -> str:
        """The op's name inside the library."""
        return f"vml_{self.name}_{op}"


@dataclasses.dataclass(frozen=True)
class Part:
    """Code of one level that only named callers enter."""

    name: str
    symbols: Symbols


def parse_nm(text: str) -> Symbols:
    """Splits `nm --extern-only --format=posix` output into defined and undefined names."""
    defined: set[str] = set()
    undefined: set[str] = set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 2:
            continue
        name, kind = fields[0], fields[1]
        if kind in ("U", "w", "v") and (kind == "U" or len(fields) == 2):
            undefined.add(name)
        elif kind in _DEFINED:
            defined.add(name)
    return Symbols(frozenset(defined), frozenset(undefined))


def read_symbols(nm: str, path: Path, *, dynamic: bool = False) -> Symbols:
    """Reads the global symbols of an object or of a shared library's dynamic table."""
    flags = ["--dynamic"] if dynamic else []
    done = subprocess.run([nm, "--extern-only", "--format=posix", *flags, str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PlanError(f"{path}: nm cannot read it ({done.stderr.strip()}); it must be a riscv64 object")
    # Version suffixes (GOMP_parallel@@GOMP_4.0) are no part of the name that dlsym takes.
    return parse_nm(re.sub(r"@\S+", "", done.stdout) if dynamic else done.stdout)


def ops_of(bindings: Symbols, levels: Sequence[Level]) -> list[str]:
    """Op symbols, sorted: wanted by the bindings and defined by at least one level."""
    return sorted(op for op in bindings.undefined if any(op in level.symbols.defined for level in levels))


def entries_of(part: Part, callers: Iterable[Symbols], levels: Sequence[Level], ops: Iterable[str]) -> list[str]:
    """Symbols of a part that the library's other objects call, sorted."""
    if any(level.name == part.name for level in levels):
        raise PlanError(f"--part {part.name}: it is a --level too; a level's kernels belong to its --level object")
    if taken := sorted(part.symbols.defined & frozenset(ops)):
        raise PlanError(f"--part {part.name}: it defines {cxx_name(taken[0])}, an op that is chosen by level; move the op's kernel to a --level")
    wanted = frozenset().union(*(caller.undefined for caller in callers))
    if not (entries := sorted(wanted & part.symbols.defined)):
        raise PlanError(f"--part {part.name}: no object calls anything of it; pass its callers as --support, or leave the part out")
    return entries


def cxx_name(symbol: str) -> str:
    """Qualified function name of a mangled symbol, without its parameters; the symbol itself if it is none."""
    match = re.match(r"_Z(N?)((?:\d+[A-Za-z_].*)|\Z)", symbol)
    if not match or not match[2]:
        return symbol
    rest, parts = match[2], []
    while number := re.match(r"\d+", rest):
        length = int(number[0])
        parts.append(rest[number.end() : number.end() + length])
        rest = rest[number.end() + length :]
        if not match[1]:
            break
    return "::".join(parts)


def stub(op: str, levels: Sequence[Level]) -> str:
    """Assembly of one op's entry: find the level, jump there. Argument registers stay untouched."""
    scalar = [level for level in levels if level.vlenb == 0]
    vector = [level for level in levels if level.vlenb != 0]
    lines = [f"\t.globl {op}", f"\t.hidden {op}", f"\t.type {op}, @function", f"{op}:"]
    lines += ["\tlbu t0, sm10_vlenb_mask", "\tbeqz t0, 1f", "\tcsrr t1, 0xc22", "\tand t0, t0, t1"]
    for number, level in enumerate(vector, start=2):
        lines += [f"\tli t1, {level.vlenb}", f"\tbeq t0, t1, {number}f"]
    for number, level in enumerate([*scalar, *vector], start=1):
        lines.append(f"{number}:")
        if op in level.symbols.defined:
            lines += [f"\t.hidden {level.renamed(op)}", f"\ttail {level.renamed(op)}"]
        else:
            lines += ["\tlla a0, 8f", "\ttail sm10_missing_op"]
    lines.append(f"\t.size {op}, . - {op}")
    if any(op not in level.symbols.defined for level in levels):
        lines += ['\t.pushsection .rodata.sm10, "a"', f'8:\t.asciz "{cxx_name(op)}"', "\t.popsection"]
    return "\n".join(lines) + "\n"


def table(ops: Iterable[str], levels: Sequence[Level]) -> str:
    """Assembly of sm10_stub_table (runtime/level.h): stub, name and set of levels of each op; then an entry of nulls."""
    head = ['\t.section .data.rel.ro.sm10_stub_table, "aw", @progbits', "\t.p2align 3"]
    lines = head + ["\t.globl sm10_stub_table", "\t.hidden sm10_stub_table", "\t.type sm10_stub_table, @object", "sm10_stub_table:"]
    for op in ops:
        having = sum(level.vlenb or 1 for level in levels if op in level.symbols.defined)
        lines += ['\t.pushsection .rodata.sm10, "a"', f'7:\t.asciz "{cxx_name(op)}"', "\t.popsection", f"\t.quad {op}, 7b, {having}"]
    return "\n".join([*lines, "\t.quad 0, 0, 0", "\t.size sm10_stub_table, . - sm10_stub_table"]) + "\n"


def stubs(ops: Sequence[str], levels: Sequence[Level]) -> str:
    """The whole assembly file."""
    head = "# Generated by third_party/vllm/tools/plan_levels.py\n\t.hidden sm10_vlenb_mask\n\t.hidden sm10_missing_op\n"
    return (
        head
        + '\t.section .text.sm10_stubs, "ax", @progbits\n\t.p2align 2\n'
        + "\n".join(stub(op, levels) for op in ops)
        + table(ops, levels)
        + '\t.section .note.GNU-stack, "", @progbits\n'
    )


def late_bound(objects: Sequence[Symbols], levels: Sequence[Level | Part], libraries: Sequence[Symbols], ops: Iterable[str]) -> list[str]:
    """Symbols that the loaded torch (or the interpreter) provides at run time, sorted.

    Levels define nothing for each other or for `objects`, except `ops` (entries of parts among them): all else in them becomes local.
    """
    defined = frozenset(ops).union(*(symbols.defined for symbols in objects))
    wanted = frozenset().union(*(symbols.undefined for symbols in objects), *(level.symbols.undefined for level in levels)) - defined
    offered = frozenset().union(*(symbols.defined for symbols in libraries))
    interpreter = {name for name in wanted if name.startswith(("Py", "_Py"))}
    return sorted((wanted & offered) | interpreter)


def parse_level(text: str, nm: str) -> Level:
    """Parses NAME:VLENB=OBJECT."""
    match = re.fullmatch(r"([^:=]+):(\d+)=(.+)", text)
    if not match or not _IDENTIFIER.match(match[1]):
        raise PlanError(f"--level {text}: expected NAME:VLENB=OBJECT with a lower-case NAME, e.g. x100:32=x100.o")
    vlenb = int(match[2])
    if vlenb not in (0, 8, 16, 32, 64, 128):
        raise PlanError(f"--level {text}: vlenb must be 0 (no vectors) or a power of two from 8 to 128")
    return Level(match[1], vlenb, read_symbols(nm, Path(match[3])))


def parse_part(text: str, nm: str) -> Part:
    """Parses NAME=OBJECT."""
    name, _, path = text.partition("=")
    if not path or not _IDENTIFIER.match(name):
        raise PlanError(f"--part {text}: expected NAME=OBJECT with a lower-case NAME, e.g. a100=a100.o")
    return Part(name, read_symbols(nm, Path(path)))


def write_level(level: Level, ops: Sequence[str], folder: Path) -> None:
    """Writes objcopy's inputs for one level."""
    own = [op for op in ops if op in level.symbols.defined]
    (folder / f"{level.name}.redefine").write_text("".join(f"{op} {level.renamed(op)}\n" for op in own))
    (folder / f"{level.name}.keep").write_text("".join(f"{level.renamed(op)}\n" for op in own))


def parser() -> argparse.ArgumentParser:
    """Command line."""
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    result.add_argument("--nm", required=True, help="nm that reads riscv64 objects")
    result.add_argument("--bindings", required=True, type=Path, help="object that registers the ops")
    result.add_argument("--level", required=True, action="append", metavar="NAME:VLENB=OBJECT", help="partially linked kernels of one level")
    result.add_argument("--part", action="append", default=[], metavar="NAME=OBJECT", help="partially linked code of a level that only its callers enter")
    result.add_argument("--support", action="append", default=[], type=Path, help="other object of the library")
    result.add_argument("--late", action="append", default=[], type=Path, help="shared library whose symbols are bound at run time")
    result.add_argument("--out", required=True, type=Path, help="folder for stubs.S, NAME.redefine (levels), NAME.keep, late and ops")
    return result


def plan(arguments: argparse.Namespace) -> None:
    """Writes the plan."""
    bindings = read_symbols(arguments.nm, arguments.bindings)
    levels = sorted((parse_level(text, arguments.nm) for text in arguments.level), key=lambda level: level.vlenb)
    if [level.vlenb for level in levels].count(0) != 1 or len({level.vlenb for level in levels}) != len(levels):
        raise PlanError("--level: exactly one level must have VLENB 0, and no two levels the same VLENB")
    ops = ops_of(bindings, levels)
    if not ops:
        raise PlanError(f"{arguments.bindings}: no level defines any of its ops; were the kernels' objects passed?")
    support = [read_symbols(arguments.nm, path) for path in arguments.support]
    libraries = [read_symbols(arguments.nm, path, dynamic=True) for path in arguments.late]
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "stubs.S").write_text(stubs(ops, levels))
    (arguments.out / "ops").write_text("".join(f"{op}\n" for op in ops))
    parts = [parse_part(text, arguments.nm) for text in arguments.part]
    entries = {part.name: entries_of(part, [bindings, *support], levels, ops) for part in parts}
    late = late_bound([bindings, *support], [*levels, *parts], libraries, [*ops, *itertools.chain(*entries.values())])
    (arguments.out / "late").write_text("".join(f"{name}\n" for name in late))
    for level in levels:
        write_level(level, ops, arguments.out)
    for name, symbols in entries.items():
        (arguments.out / f"{name}.keep").write_text("".join(f"{symbol}\n" for symbol in symbols))


def main() -> int:
    """Entry point."""
    try:
        plan(parser().parse_args())
    except PlanError as error:
        print(f"plan_levels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
