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
import junit  # noqa: E402
from guest import config  # noqa: E402
from guest.root import SITE  # noqa: E402


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
    os.environ |= settings["env"]
    test = bazel_env.read(os.environ)
    if test.shard:
        os.environ["SM10_SHARD"] = test.shard
    # Bazel's time limit comes as SIGTERM.
    faulthandler.register(signal.SIGTERM, file=os.dup(2), all_threads=True, chain=True)
    sys.dont_write_bytecode = True

    import pytest  # only now: the packages' folder was just added

    workspace = base / settings["workspace"]
    os.chdir(workspace)
    words = [*bazel_env.pytest_options(test), f"--rootdir={workspace}", f"--junitxml={test.report}", f"--basetemp={test.temporary / 'pytest'}"]
    code = int(pytest.main([*words, *settings["args"], *extra, *settings["srcs"]]))
    if code != 0:
        return code
    problem = junit.complaint(junit.count(test.report), settings["max_skipped"])
    if problem:
        print(f"host_pytest_test: {problem}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
