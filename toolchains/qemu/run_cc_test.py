# SPDX-License-Identifier: Apache-2.0
"""Entry point of cc_tests for riscv64 and of cells of cc_matrix: runs the test program in the guest, on the core that it was built for, or on the host."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Mapping

_HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parents[1] / "tests/private")]

import facts  # noqa: E402
from guest import command, config, elf, levels, namespace, root, supervise  # noqa: E402
from guest.errors import GuestError  # noqa: E402
from program import Program  # noqa: E402
from tee import Tee  # noqa: E402

# What Bazel tells a test about its files and shards; the paths are the same in the guest.
_PASSED = ("GTEST_*", "RUNFILES_DIR", "TEST_*", "TESTBRIDGE_TEST_ONLY", "XML_OUTPUT_FILE")
_WRITABLE = ("TEST_TMPDIR", "TEST_UNDECLARED_OUTPUTS_DIR")
_MARGIN = 15.0


def core_of_width(cores: Mapping[str, levels.Core], vlen: int | None) -> levels.Core:
    """The contract's core with exactly this VLEN."""
    for core in cores.values():
        if core.vlen == vlen and not core.board:
            return core
    raise GuestError(f"no level has VLEN {vlen}", "add it to toolchains/isa/levels.bzl")


def core_of(settings: dict, cores: dict[str, levels.Core]) -> levels.Core:
    """The core that the cell asks for; a plain cc_test asks for a width."""
    if not settings.get("level"):
        return core_of_width(cores, settings["vlen"] or None)
    core = levels.choose_core(cores, settings["level"], settings["vlen"] or None)
    return levels.started_on(cores, core, settings["start"]) if settings.get("start") else core


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


def limits() -> supervise.Limits:
    """Bazel's time limit, less what the report takes."""
    timeout = os.environ.get("TEST_TIMEOUT")
    return supervise.Limits(time_limit=max(float(timeout) / 2, float(timeout) - _MARGIN) if timeout else None)


def run_on_host(program: str, words: list[str], variables: Mapping[str, str], tee: Tee) -> supervise.Outcome:
    """As it is."""

    def start() -> int:
        tee.into()
        os.execve(program, [program, *words], {**os.environ, **variables})

    return supervise.run_here(start, limits())


def run_in_guest(built: config.Config, core: levels.Core, words: list[str], variables: dict[str, str], tee: Tee) -> supervise.Outcome:
    """On the emulated core."""
    variables = command.environment(core, os.environ, [], passed=_PASSED) | variables
    if os.environ.get("TEST_TMPDIR"):
        variables["TMPDIR"] = os.environ["TEST_TMPDIR"]
    steps = root.root_steps(built.tree, core, os.geteuid(), os.getegid(), host_folders(os.environ))
    folder = pathlib.Path.cwd()

    def start() -> None:
        tee.into()
        command.start(words, core, variables, folder)

    return supervise.run(enter=lambda: namespace.enter_root(built.tree, steps), start=start, network=False, limits=limits())


def run(settings: dict, base: pathlib.Path, words: list[str]) -> int:
    """Runs the program with the test's arguments."""
    path = (base / settings["program"]).absolute()
    report = pathlib.Path(os.environ["XML_OUTPUT_FILE"]).absolute() if os.environ.get("XML_OUTPUT_FILE") else None
    known = {"compiler": "; ".join(elf.compilers(path.read_bytes()))}
    if not settings.get("guest"):
        program = Program(settings["case"], report, facts.of_host(settings["environment"]) | known)
        return program.run(lambda tee: run_on_host(str(path), words, settings["env"], tee))
    namespace.check_machine()
    built = config.load(base / settings["guest"], base)
    core = core_of(settings, built.levels)
    found = facts.of_guest(core, built.levels, root.emulator(built.tree, core), [], settings.get("environment", "")) | known
    return Program(settings["case"], report, found).run(lambda tee: run_in_guest(built, core, [str(path), *words], settings["env"], tee))


def main() -> None:
    """Ends with the program's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=pathlib.Path, required=True, help="settings that the build wrote")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="runfiles folder")
    options, words = parser.parse_known_args()
    settings = json.loads(options.config.read_text(encoding="utf-8"))
    try:
        sys.exit(run(settings, options.base, words))
    except GuestError as error:
        sys.exit(f"guest: {error}")


main()
