# SPDX-License-Identifier: Apache-2.0
"""Entry point of host_pytest_test: runs pytest with the locked exec Python and packages."""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import pathlib
import signal
import sys

_HERE = pathlib.Path(__file__).parent
_RUNNER = str(_HERE.parents[1] / "toolchains/qemu")
sys.path[:0] = [str(_HERE), str(_HERE / "plugin"), _RUNNER]

import bazel_env  # noqa: E402
import facts  # noqa: E402
from guest import config, runfiles, supervise  # noqa: E402
from guest.root import SITE  # noqa: E402
from session import Session  # noqa: E402


def run_pytest(workspace: pathlib.Path, words: list[str]) -> int:
    """In a process of its own, which may crash or be ended."""
    # Before pytest's capture takes the descriptor; the plugin then says which file.
    faulthandler.register(signal.SIGTERM, file=os.dup(2), all_threads=True, chain=True)
    sys.dont_write_bytecode = True

    import pytest  # only now: the packages' folder was just added

    os.chdir(workspace)
    return int(pytest.main(words))


def workers(count: int) -> list[str]:
    """pytest-xdist's options for several processes: the locked Python must be started by its own loader, and finds its packages by PYTHONPATH."""
    if count < 2:
        return []
    libraries = pathlib.Path(sys.executable).parents[1] / "lib/x86_64-linux-gnu"
    loader = [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries), "--argv0", sys.executable, sys.executable, "-B"]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    return ["--dist=worksteal", f"--tx={count}*popen//python={' '.join(loader)}"]


def main() -> int:
    """--config and --base come from the rule; further arguments go to pytest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=pathlib.Path, required=True, help="settings that the rule wrote")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="runfiles folder")
    options, extra = parser.parse_known_args()
    base = options.base.absolute()
    settings = json.loads(options.config.read_text(encoding="utf-8"))
    sys.path[:0] = [str(base / folder) for folder in settings["imports"]]
    sys.path += [str(config.locate(overlay, base) / SITE) for overlay in settings["overlays"]]
    test = bazel_env.read(os.environ, bazel_env.HOST_MARGIN)
    results = test.temporary / "results"
    results.mkdir()
    workspace = base / settings["workspace"]
    os.environ |= runfiles.variables(settings["env"], workspace) | bazel_env.plugin_variables(test, results, settings["case_time_limit"])
    words = [*bazel_env.pytest_options(test), f"--rootdir={workspace}", f"--junitxml={results}/report.xml", f"--basetemp={test.temporary / 'pytest'}"]
    session = Session("host_pytest_test", test.report, results, facts.of_host(settings["environment"]))
    session.begin()
    outcome = supervise.run_here(
        lambda: run_pytest(workspace, [*words, *workers(settings["workers"]), *settings["args"], *extra, *settings["srcs"]]),
        supervise.Limits(time_limit=test.time_limit, heartbeat=settings["heartbeat"], doing=session.doing),
    )
    return session.conclude(outcome, settings["max_skipped"])


sys.exit(main())
