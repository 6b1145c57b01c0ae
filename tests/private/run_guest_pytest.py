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
import junit  # noqa: E402
from guest import command, config, levels, namespace, root, supervise  # noqa: E402
from guest.errors import GuestError  # noqa: E402

# Paths in the guest.
TESTS = "/test"  # the runfiles folder's counterpart; the workspace's files are in a folder of it
RESULTS = "/results"
OUTPUTS = "/outputs"
PLUGIN = "/guest/plugin"


def real(path: pathlib.Path) -> pathlib.Path:
    """What a runfile is a link to."""
    return config.real_folder(path) if path.is_dir() else path.resolve()


def mounts(base: pathlib.Path, folder: str, files: dict[str, str], results: pathlib.Path, outputs: pathlib.Path) -> tuple[root.Bind, ...]:
    """The declared files and nothing else of the workspace, by their paths from the folder (other repositories' begin with ../)."""
    binds = [root.Bind(real(base / runfile), posixpath.normpath(f"{folder}/{path}").lstrip("/")) for path, runfile in sorted(files.items())]
    binds.append(root.Bind((_HERE / "plugin/bazel_pytest.py").resolve(), f"{PLUGIN.lstrip('/')}/bazel_pytest.py"))
    binds.append(root.Bind(results, RESULTS.lstrip("/"), writable=True))
    binds.append(root.Bind(outputs, OUTPUTS.lstrip("/"), writable=True))
    return tuple(binds)


def variables(core: levels.Core, test: bazel_env.BazelTest, declared: dict[str, str]) -> dict[str, str]:
    """Nothing of the caller's environment: a test is the same for everybody."""
    result = command.environment(core, {}, [])
    result |= {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # assertion rewriting of plugins takes a minute under emulation
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": PLUGIN,
        "PYTHONUNBUFFERED": "1",
        "SM10_JOURNAL": f"{RESULTS}/journal.jsonl",
        "TEST_UNDECLARED_OUTPUTS_DIR": OUTPUTS,
    }
    if test.shard:
        result["SM10_SHARD"] = test.shard
    return result | declared


def run(settings: dict, base: pathlib.Path, test: bazel_env.BazelTest, extra: list[str]) -> int:
    """Runs the session; the exit code is pytest's unless the report says that nothing was proven."""
    namespace.check_machine()
    built = config.load(base / settings["guest"], base)
    core = levels.choose_core(built.levels, settings["level"], settings["vlen"] or None)
    results = test.temporary / "results"
    results.mkdir()
    folder = f"{TESTS}/{settings['workspace']}"
    shown = mounts(base, folder, settings["files"], results, test.outputs)
    words = ["python3", "-m", "pytest", *bazel_env.pytest_options(test), f"--rootdir={folder}", f"--junitxml={RESULTS}/report.xml"]
    words += [*settings["args"], *extra, *settings["srcs"]]
    steps = root.root_steps(built.tree, core, os.geteuid(), os.getegid(), shown) + list(root.traceback_steps())
    print(f"[guest] level {core.level}, VLEN {core.vlen or 'none'}, time limit {test.time_limit or 0:.0f} s", flush=True)
    outcome = supervise.run(
        enter=lambda: namespace.enter_root(built.tree, steps),
        start=lambda: command.start(words, core, variables(core, test, settings["env"]), pathlib.Path(folder)),
        network=False,
        limits=supervise.Limits(time_limit=test.time_limit, heartbeat=60),
    )
    return conclude(outcome, results, test.report, settings["max_skipped"])


def conclude(outcome: supervise.Outcome, results: pathlib.Path, report: pathlib.Path, max_skipped: int) -> int:
    """Writes Bazel's report and gives the exit code."""
    own_report = results / "report.xml"
    if outcome.timed_out or not own_report.exists():
        code = os.waitstatus_to_exitcode(outcome.status)
        reason = "time limit reached; the tracebacks are in the log" if outcome.timed_out else f"the session ended without a report (exit code {code})"
        report.write_bytes(junit.from_journal(results / "journal.jsonl", reason))
        print(f"[guest] {reason}", file=sys.stderr)
        return 1
    report.write_bytes(own_report.read_bytes())
    code = os.waitstatus_to_exitcode(outcome.status)
    if code != 0:
        return code if code > 0 else 1
    problem = junit.complaint(junit.count(report), max_skipped)
    if problem:
        print(f"guest_pytest_test: {problem}", file=sys.stderr)
        return 1
    return 0


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
