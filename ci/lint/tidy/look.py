# SPDX-License-Identifier: Apache-2.0
"""What clang-tidy finds in one file, as a report: empty if nothing. Run by the aspect of clang_tidy.bzl."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).absolute().parents[3]))

from ci.lint.tools import by_loader_of

# The compiler's own headers come with clang-tidy; it would ask /proc/self/exe, which is the loader.
_PACKAGE = "clang_tidy/data"
# What GCC knows and Clang takes for an error.
_GCC_ONLY = frozenset({"-fno-canonical-system-headers"})
_WITH_VALUE = frozenset({"-MF", "-c", "-o"})


class TidyFailed(Exception):
    """clang-tidy ended without a verdict; the text has its words."""


def flags_of(argv: Sequence[str]) -> Iterator[str]:
    """A compile action's flags without its program, its files and what only GCC knows."""
    words = iter(argv[1:])
    for word in words:
        if word in _WITH_VALUE:
            next(words)
        elif word != "-MD" and word not in _GCC_ONLY:
            yield word


def gcc_flags(triple: str, argv: Sequence[str]) -> Iterator[str]:
    """What Clang takes from GCC: C++ headers, by its folder's name (the one in /lib leads nowhere where /lib is no link), and omp.h, behind all of its own."""
    for word in argv:
        if word.startswith("--sysroot="):
            for folder in Path(word.removeprefix("--sysroot=")).glob(f"usr/lib/gcc/{triple}/*"):
                yield f"--gcc-install-dir={folder}"
                if "-fopenmp" in argv:
                    yield f"-idirafter{folder}/include"


def resource_folder(data: Path) -> Path:
    (found,) = data.glob("lib/clang/*")
    return found


def findings(data: Path, exec_root: Path, config: Path, triple: str, source: Path, argv: Sequence[str]) -> str:
    program = by_loader_of(exec_root, data / "bin/clang-tidy")
    flags = [f"--target={triple}", f"-resource-dir={resource_folder(data).absolute()}", *flags_of(argv), *gcc_flags(triple, argv), "-Wno-error"]
    done = program.run("--quiet", f"--config-file={config}", source, "--", *flags)
    # Its paths of this file are absolute, in a sandbox.
    found = "\n".join(line for line in done.stdout.replace(f"{Path.cwd()}/", "").splitlines() if not line.endswith(" generated."))
    if done.returncode and "error:" not in found:
        raise TidyFailed(f"clang-tidy ended with {done.returncode} on {source}:\n{done.stdout}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="look", description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="folder of the installed Python packages")
    parser.add_argument("--exec-root", type=Path, required=True, help="Debian tree with the loader and the libraries")
    parser.add_argument("--config", type=Path, required=True, help="the file .clang-tidy")
    parser.add_argument("--triple", required=True, help="what the code is for, as GNU names it")
    parser.add_argument("--source", type=Path, required=True, help="the file to look at")
    parser.add_argument("--report", type=Path, required=True, help="file to write")
    parser.add_argument("argv", nargs="+", metavar="WORD", help="the compile action's command line, behind --")
    options = parser.parse_args()
    try:
        report = findings(options.packages / _PACKAGE, options.exec_root, options.config, options.triple, options.source, options.argv)
    except TidyFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.report.write_text(report + "\n" if report else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
