# SPDX-License-Identifier: Apache-2.0
"""Entry point of board_pytest_test: runs pytest on a real board and hands its report to Bazel."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import posixpath
import sys

_HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parents[1] / "toolchains/qemu")]

import bazel_env  # noqa: E402
import board  # noqa: E402
from guest import runfiles, supervise  # noqa: E402
from guest.errors import GuestError  # noqa: E402
from session import Session  # noqa: E402

_PLUGIN = ("plugin/bazel_pytest.py", "xml_text.py")


def files_of(settings: dict, base: pathlib.Path) -> dict[str, pathlib.Path]:
    """What goes to the board: the tests' files at their workspace paths (other repositories' begin with ../), and the plugin."""
    found = {posixpath.normpath(f"test/{settings['workspace']}/{path}"): runfiles.find(runfile, base) for path, runfile in settings["files"].items()}
    return found | {f"plugin/{pathlib.Path(file).name}": _HERE / file for file in _PLUGIN}


def variables(settings: dict, folder: str, test: bazel_env.BazelTest) -> dict[str, str]:
    """Nothing of the login's environment."""
    own = {
        "HOME": folder,
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{folder}/plugin",
        "PYTHONUNBUFFERED": "1",
        "SM10_LEVEL": settings["environment"],
        "SM10_VLEN": "256",  # of the cores that threads start on
        "TEST_UNDECLARED_OUTPUTS_DIR": f"{folder}/outputs",
        "TMPDIR": f"{folder}/tmp",
    }
    return own | bazel_env.plugin_variables(test, pathlib.Path(folder, "results"), settings["case_time_limit"]) | settings["env"]


def check_python(machine: board.Board, python: str) -> None:
    """A missing package is said before anything is sent."""
    try:
        machine.ask(f"{python} -c 'import pytest'")
    except board.BoardError as error:
        remedy = f"install Python and pytest there, or name a Python that has them in {board.PYTHON}"
        raise board.BoardError(f"{error.culprit}", remedy) from error


def run(settings: dict, base: pathlib.Path, extra: list[str]) -> int:
    """Runs the session; the exit code is pytest's unless the report says that nothing was proven."""
    test = bazel_env.read(os.environ)
    machine = board.find(os.environ, runfiles.find(settings["ssh"], base).resolve())
    python = os.environ.get(board.PYTHON) or "python3"
    facts = machine.kernel() | {"environment": settings["environment"], "level": settings["environment"]}
    check_python(machine, python)
    folder = machine.send(files_of(settings, base), ["results", "outputs", "tmp"])
    results = test.temporary / "results"
    results.mkdir()
    workspace = f"{folder}/test/{settings['workspace']}"
    words = [python, "-m", "pytest", *bazel_env.pytest_options(test), f"--rootdir={workspace}", f"--junitxml={folder}/results/report.xml"]
    words += [*settings["args"], *extra, *settings["srcs"]]
    session = Session("board_pytest_test", test.report, results, facts)
    session.begin()
    script = board.run_words(workspace, variables(settings, folder, test), test.time_limit, words)
    try:
        outcome = supervise.run_here(
            lambda: board.execute(machine, script),
            supervise.Limits(time_limit=test.time_limit + 25 if test.time_limit else None, heartbeat=settings["heartbeat"]),
        )
        machine.fetch(folder, "results", results)
        machine.fetch(folder, "outputs", test.outputs)
    finally:
        machine.remove(folder)
    return session.conclude(outcome, settings["max_skipped"])


def main() -> None:
    """--config and --base come from the rule; further arguments go to pytest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=pathlib.Path, required=True, help="settings that the rule wrote")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="runfiles folder")
    options, extra = parser.parse_known_args()
    try:
        sys.exit(run(json.loads(options.config.read_text(encoding="utf-8")), options.base, extra))
    except GuestError as error:
        sys.exit(f"board_pytest_test: {error}")


main()
