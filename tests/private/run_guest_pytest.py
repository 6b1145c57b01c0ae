# SPDX-License-Identifier: Apache-2.0
"""Entry point of guest_pytest_test: runs pytest in the emulated guest and hands its report to Bazel."""

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
import facts  # noqa: E402
from guest import command, config, levels, namespace, root, runfiles, supervise  # noqa: E402
from guest.errors import GuestError  # noqa: E402
from session import Session  # noqa: E402

# Paths in the guest.
TESTS = "/test"  # the runfiles folder's counterpart; the workspace's files are in a folder of it
RESULTS = "/results"
OUTPUTS = "/outputs"
PLUGIN = "/guest/plugin"
PLUGIN_FILES = ("plugin/bazel_pytest.py", "xml_text.py")


def real(path: pathlib.Path) -> pathlib.Path:
    """What a runfile is a link to."""
    return config.real_folder(path) if path.is_dir() else path.resolve()


def mounts(base: pathlib.Path, folder: str, files: dict[str, str], results: pathlib.Path, outputs: pathlib.Path) -> tuple[root.Bind, ...]:
    """The declared files and nothing else of the workspace, by their paths from the folder (other repositories' begin with ../)."""
    binds = [root.Bind(real(runfiles.find(runfile, base)), posixpath.normpath(f"{folder}/{path}").lstrip("/")) for path, runfile in sorted(files.items())]
    binds += [root.Bind((_HERE / file).resolve(), f"{PLUGIN.lstrip('/')}/{pathlib.Path(file).name}") for file in PLUGIN_FILES]
    binds.append(root.Bind(results, RESULTS.lstrip("/"), writable=True))
    binds.append(root.Bind(outputs, OUTPUTS.lstrip("/"), writable=True))
    return tuple(binds)


def variables(core: levels.Core, test: bazel_env.BazelTest, settings: dict) -> dict[str, str]:
    """Nothing of the caller's environment: a test is the same for everybody."""
    result = command.environment(core, {}, [])
    result |= {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # assertion rewriting of plugins takes a minute under emulation
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": PLUGIN,
        "PYTHONUNBUFFERED": "1",
        "TEST_UNDECLARED_OUTPUTS_DIR": OUTPUTS,
    }
    return result | bazel_env.plugin_variables(test, pathlib.Path(RESULTS), settings["case_time_limit"]) | settings["env"]


def run(settings: dict, base: pathlib.Path, test: bazel_env.BazelTest, extra: list[str]) -> int:
    """Runs the session; the exit code is pytest's unless the report says that nothing was proven."""
    namespace.check_machine()
    built = config.load(base / settings["guest"], base)
    core = levels.choose_core(built.levels, settings["level"], settings["vlen"] or None)
    wheels = [base / file for file in settings["wheel_facts"]]
    results = test.temporary / "results"
    results.mkdir()
    folder = f"{TESTS}/{settings['workspace']}"
    shown = mounts(base, folder, settings["files"], results, test.outputs)
    words = ["python3", "-m", "pytest", *bazel_env.pytest_options(test), f"--rootdir={folder}", f"--junitxml={RESULTS}/report.xml"]
    words += [*settings["args"], *extra, *settings["srcs"]]
    steps = root.root_steps(built.tree, core, os.geteuid(), os.getegid(), shown) + list(root.traceback_steps())
    found = facts.of_guest(core, built.levels, root.emulator(built.tree, core), wheels, settings["environment"])
    session = Session("guest_pytest_test", test.report, results, found)
    session.begin()
    print(f"[guest] level {core.level}, VLEN {core.vlen or 'none'}, time limit {test.time_limit or 0:.0f} s", flush=True)
    outcome = supervise.run(
        enter=lambda: namespace.enter_root(built.tree, steps),
        start=lambda: command.start(words, core, variables(core, test, settings), pathlib.Path(folder)),
        network=False,
        limits=supervise.Limits(time_limit=test.time_limit, heartbeat=settings["heartbeat"], doing=session.doing),
    )
    return session.conclude(outcome, settings["max_skipped"])


def main() -> None:
    """--config and --base come from the rule; further arguments go to pytest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=pathlib.Path, required=True, help="settings that the rule wrote")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="runfiles folder")
    options, extra = parser.parse_known_args()
    settings = json.loads(options.config.read_text(encoding="utf-8"))
    try:
        sys.exit(run(settings, options.base, bazel_env.read(os.environ), extra))
    except GuestError as error:
        sys.exit(f"guest_pytest_test: {error}")


main()
