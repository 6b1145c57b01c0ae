#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs wheels into one tree, as an installer would, and compiles their modules."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# Beside this folder, as another maker of trees has it too.
sys.path.append(str(Path(__file__).absolute().parents[2] / "bytecode"))

from bytecode import compile_folders
from wheels import InstallError, Scheme, install


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="install", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder to fill; it must not hold any of the files yet")
    parser.add_argument("--purelib", required=True, metavar="DIR", help="folder of the modules, below the root")
    parser.add_argument("--prefix", required=True, metavar="DIR", help="folder of bin/, share/ and include/, below the root")
    parser.add_argument("--interpreter", required=True, help="the scripts' interpreter, as they will see it")
    parser.add_argument("--jobs", type=int, default=1, help="compile with that many processes [1]")
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheel files")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse_arguments(arguments)
    scheme = Scheme(options.root, options.purelib, options.prefix, options.interpreter)
    try:
        for wheel in sorted(options.wheels):
            install(wheel, scheme)
    except InstallError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    compile_folders(options.root.absolute(), [options.purelib], options.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
