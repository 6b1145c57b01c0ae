# SPDX-License-Identifier: Apache-2.0
"""Entry point of host_python_binary: runs a module of this workspace with the locked exec Python."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import sys


def main(arguments: list[str]) -> None:
    """--base and --config come from the rule; the rest is the module's."""
    if len(arguments) < 4 or (arguments[0], arguments[2]) != ("--base", "--config"):
        sys.exit("run_host_python.py: start the target with `./bazelw run`, not this file")
    base = pathlib.Path(arguments[1]).absolute()
    settings = json.loads(pathlib.Path(arguments[3]).read_text(encoding="utf-8"))
    sys.path[:0] = [str(base / folder) for folder in settings["imports"]]
    sys.path += [str((base / site).resolve()) for site in settings["sites"]]
    sys.argv = [settings["module"], *arguments[4:]]
    os.environ |= settings["env"] | {"RUNFILES_DIR": str(base)}
    # File names in the arguments are meant from where the user stands.
    os.chdir(os.environ.get("BAZELW_WORKING_DIRECTORY") or os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    runpy.run_module(settings["module"], run_name="__main__", alter_sys=True)


main(sys.argv[1:])
