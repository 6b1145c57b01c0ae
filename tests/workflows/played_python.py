# SPDX-License-Identifier: Apache-2.0
"""python3 of a played machine: the real one, but for venvs, which need an installer that is not here."""

from __future__ import annotations

import configparser
import json
import os
import runpy
import shutil
import sys
import zipfile
from pathlib import Path

PIP = """#!/bin/sh
exec python3 pip "$(dirname "$0")/.." "$@"
"""
BENCH = """#!/bin/sh
exec python3 bench "$(dirname "$0")/.." "$@"
"""
SCRIPT = """#!/bin/sh
PYTHONPATH="{site}" exec python3 -c 'import sys; from {module} import {function}; sys.exit({function}())' "$@"
"""


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def venv(folder: Path) -> None:
    """python3 -m venv --system-site-packages FOLDER."""
    (folder / "bin").mkdir(parents=True)
    _write(folder / "bin/pip", PIP)


def pip(folder: Path, words: list[str]) -> None:
    """pip install --no-index --no-deps WHEEL..., pure wheels only."""
    if words[:3] != ["install", "--no-index", "--no-deps"]:
        sys.exit(f"pip {' '.join(words)}: not played")
    site = folder / f"lib/python3.{sys.version_info.minor}/site-packages"
    for wheel in words[3:]:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    for entry_points in site.glob("*.dist-info/entry_points.txt"):
        parser = configparser.ConfigParser(delimiters=("=",))
        parser.read(entry_points, encoding="utf-8")
        for name, value in parser["console_scripts"].items() if parser.has_section("console_scripts") else []:
            module, _, function = value.partition(":")
            _write(folder / "bin" / name, SCRIPT.format(site=site, module=module, function=function))
    if (folder / "bin/sm10-bench").exists():
        _write(folder / "bin/sm10-bench", BENCH)


def bench(folder: Path, words: list[str]) -> None:
    """sm10-bench: its arguments by its own code, its results recorded."""
    sys.path.insert(0, str(next(folder.glob("lib/python3.*/site-packages"))))
    from sm10_ci.bench import cli

    options = cli.parse_arguments(words)
    for wheel in [options.wheel] if hasattr(options, "wheel") else []:
        if not wheel.is_file():
            sys.exit(f"no wheel {wheel}")
    with Path(os.environ["ASKED"]).open("a", encoding="utf-8") as file:
        file.write(f"sm10-bench {json.dumps(words)}\n")
    shutil.copyfile(Path(os.environ["RECORDED"]) / f"{options.benchmark}.json", options.output)


def main() -> None:
    words = sys.argv[1:]
    sys.path[:] = [path for path in os.environ["SITE"].split(os.pathsep) if not path.endswith("/_main")] + sys.path[1:]
    if words[:2] == ["-m", "venv"]:
        venv(Path(words[-1]))
    elif words[0] == "pip":
        pip(Path(words[1]), words[2:])
    elif words[0] == "bench":
        bench(Path(words[1]), words[2:])
    elif words[0] == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.path[:0] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.argv = ["-c", *words[2:]]
        exec(words[1], {"__name__": "__main__"})  # noqa: S102 - the console scripts above
    else:
        sys.exit(f"python3 {' '.join(words)}: not played")


main()
