# SPDX-License-Identifier: Apache-2.0
"""Entry point of cc_cell_test on a real board: takes the program and its runfiles there and runs it."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys

_HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parents[1] / "toolchains/qemu")]

import bazel_env  # noqa: E402
import board  # noqa: E402
from guest import elf, runfiles, supervise  # noqa: E402
from guest.errors import GuestError  # noqa: E402
from program import Program  # noqa: E402
from tee import Tee  # noqa: E402

# The writing thread moves, and what it executes stays there.
_MOVE = "echo 0 > /proc/set_ai_thread && "


def run(settings: dict, base: pathlib.Path, words: list[str]) -> int:
    """Runs the program with the test's arguments."""
    test = bazel_env.read(os.environ, bazel_env.HOST_MARGIN)
    machine = board.find(os.environ, runfiles.find(settings["ssh"], base).resolve())
    path = base / settings["program"]
    facts = machine.kernel() | {"compiler": "; ".join(elf.compilers(path.read_bytes())), "environment": settings["environment"], "level": settings["level"]}
    folder = machine.send({"program": path}, [])
    script = board.run_words(folder, settings["env"], test.time_limit, ["./program", *words], _MOVE if settings["start"] else "")

    def start(tee: Tee) -> supervise.Outcome:
        def connect() -> int:
            tee.into()
            return board.execute(machine, script)

        return supervise.run_here(connect, supervise.Limits(time_limit=test.time_limit + 30 if test.time_limit else None))

    try:
        return Program(settings["case"], test.report, facts).run(start)
    finally:
        machine.remove(folder)


def main() -> None:
    """Ends with the program's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=pathlib.Path, required=True, help="settings that the build wrote")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="runfiles folder")
    options, words = parser.parse_known_args()
    try:
        sys.exit(run(json.loads(options.config.read_text(encoding="utf-8")), options.base, words))
    except GuestError as error:
        sys.exit(f"board: {error}")


main()
