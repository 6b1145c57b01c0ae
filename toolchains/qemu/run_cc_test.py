# SPDX-License-Identifier: Apache-2.0
"""Entry point of cc_tests for riscv64: runs the test program in the guest, on a core of the VLEN that it was built for."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Mapping

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE))

from guest import command, config, levels, namespace, root, supervise  # noqa: E402
from guest.errors import GuestError  # noqa: E402

# What Bazel tells a test about its files and shards; the paths are the same in the guest.
_PASSED = ("GTEST_*", "RUNFILES_DIR", "TEST_*", "TESTBRIDGE_TEST_ONLY", "XML_OUTPUT_FILE")
_WRITABLE = ("TEST_TMPDIR", "TEST_UNDECLARED_OUTPUTS_DIR")
_MARGIN = 15.0


def core_of_width(cores: Mapping[str, levels.Core], vlen: int | None) -> levels.Core:
    """The contract's core with exactly this VLEN."""
    for core in cores.values():
        if core.vlen == vlen:
            return core
    raise GuestError(f"no level has VLEN {vlen}", "add it to toolchains/isa/levels.bzl")


def host_folders(environ: Mapping[str, str]) -> tuple[root.Bind, ...]:
    """Everything of the host but its userland, read-only: runfiles are links to wherever Bazel keeps files. What may be read is Bazel's sandbox's to say."""
    top = [entry.path for entry in sorted(os.scandir("/"), key=lambda e: e.name) if entry.is_dir() and not entry.is_symlink()]
    hidden = {f"/{name}" for name in root.RESERVED} | {"/boot", "/run", "/lost+found"}
    binds = [root.Bind(pathlib.Path(path), path.lstrip("/")) for path in top if path not in hidden]
    writable = [environ[name] for name in _WRITABLE if environ.get(name)]
    if environ.get("XML_OUTPUT_FILE"):
        writable.append(os.path.dirname(environ["XML_OUTPUT_FILE"]))
    binds += [root.Bind(pathlib.Path(path).absolute(), path.lstrip("/"), writable=True) for path in writable if os.path.isdir(path)]
    return tuple(binds)


def run(settings: dict, base: pathlib.Path, words: list[str]) -> supervise.Outcome:
    """Runs the program with the test's arguments."""
    namespace.check_machine()
    built = config.load(base / settings["guest"], base)
    core = core_of_width(built.levels, settings["vlen"] or None)
    program = str(base / settings["program"])
    variables = command.environment(core, os.environ, [], passed=_PASSED) | settings["env"]
    if os.environ.get("TEST_TMPDIR"):
        variables["TMPDIR"] = os.environ["TEST_TMPDIR"]
    steps = root.root_steps(built.tree, core, os.geteuid(), os.getegid(), host_folders(os.environ))
    timeout = os.environ.get("TEST_TIMEOUT")
    folder = pathlib.Path.cwd()
    return supervise.run(
        enter=lambda: namespace.enter_root(built.tree, steps),
        start=lambda: command.start([program, *words], core, variables, folder),
        network=False,
        limits=supervise.Limits(time_limit=float(timeout) - _MARGIN if timeout else None),
    )


def main() -> None:
    """Ends as the test program ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=pathlib.Path, required=True, help="settings that the toolchain wrote")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="runfiles folder")
    options, words = parser.parse_known_args()
    settings = json.loads(options.config.read_text(encoding="utf-8"))
    try:
        outcome = run(settings, options.base, words)
    except GuestError as error:
        sys.exit(f"guest: {error}")
    if outcome.timed_out:
        sys.exit(1)
    supervise.leave(outcome.status)


main()
