# SPDX-License-Identifier: Apache-2.0
"""Runs a command in the emulated riscv64 guest."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence

from guest import command, config, levels, namespace, root, supervise
from guest.errors import GuestError, UsageError

_WITH_VALUE = ("--base", "--config", "--env", "--folder", "--heartbeat", "--level", "--time-limit", "--vlen")
_EXIT_CANNOT_START = 125

_DESCRIPTION = """\
Runs COMMAND in an emulated riscv64 Debian with Python 3.14, torch and the vLLM wheel installed. The current folder is visible and writable at its
own path; /usr is the guest's. Without COMMAND: a shell. `-m MODULE ...` and `-c CODE ...` are short for `python3 -m ...`.
Arguments, standard input, exit code, signals and the terminal are passed on. What the command leaves running ends with it."""

_EPILOG = f"""\
examples:
  python3 my_script.py             on the default level's core
  --level rvv128 -m pytest tests   on a core with VLEN 128
  --vlen 512 python3 my_script.py  the default level's extensions, another width
  --level sm10 python3 my.py       on a board with X100 and A100 cores; threads start on X100 cores

Variables passed on from your environment: {", ".join(command.PASSED)}; others with --env.
Only programs of /usr/bin and /usr/sbin can be started as children; a riscv64 program of your own can be COMMAND itself."""


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(own options, command): the command begins at the first word that is no long option or an option's value, or after `--`."""
    position = 0
    while position < len(arguments):
        word = arguments[position]
        if word == "--":
            return list(arguments[:position]), list(arguments[position + 1 :])
        if not word.startswith("--") and word != "-h":
            break
        position += 2 if word in _WITH_VALUE else 1
    return list(arguments[:position]), list(arguments[position:])


def parser() -> argparse.ArgumentParser:
    """The command line. --config and --base are the build's."""
    result = argparse.ArgumentParser(
        prog="guest", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
        usage="guest [option ...] [COMMAND [argument ...]]",
    )  # fmt: skip
    result.add_argument("--level", metavar="LEVEL", help="ISA level whose core is emulated, or board; an unknown one lists all")
    result.add_argument("--vlen", type=int, metavar="BITS", help=f"another vector width: {', '.join(map(str, levels.VLENS))}")
    result.add_argument("--folder", action="append", default=[], type=pathlib.Path, metavar="PATH", help="show this folder too, writable; repeatable")
    result.add_argument("--env", action="append", default=[], metavar="NAME[=VALUE]", help="set a variable, or pass yours on; repeatable")
    result.add_argument("--no-network", action="store_true", help="only a loopback interface")
    result.add_argument("--time-limit", type=float, metavar="SECONDS", help="then print Python tracebacks and end everything")
    result.add_argument("--heartbeat", type=float, metavar="SECONDS", help="print a progress line this often")
    result.add_argument("--config", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    result.add_argument("--base", type=pathlib.Path, help=argparse.SUPPRESS)
    return result


def caller_folder(environment: Mapping[str, str]) -> str:
    """Where the user called from: bazelw's word where that is outside of the workspace, else `bazel run`'s, else the current folder."""
    return environment.get("BAZELW_WORKING_DIRECTORY") or environment.get("BUILD_WORKING_DIRECTORY") or os.getcwd()


def folders(current: pathlib.Path, more: Sequence[pathlib.Path]) -> tuple[root.Bind, ...]:
    """The user's folders at their own paths, outer ones first; one that lies in another is there already."""
    wanted = sorted({path.resolve() for path in (current, *more)})
    for path in wanted:
        root.check_visible(path)
    outer = [path for path in wanted if not any(other in path.parents for other in wanted)]
    return tuple(root.Bind(path, str(path).lstrip("/"), writable=True) for path in outer)


def run(arguments: Sequence[str]) -> supervise.Outcome:
    """Parses the command line and runs the command."""
    options_words, words = split(arguments)
    options = parser().parse_args(options_words)
    namespace.check_machine()
    built = config.load(options.config, options.base or options.config.parent)
    core = levels.choose_core(built.levels, options.level or built.default_level, options.vlen)
    current = pathlib.Path(caller_folder(os.environ)).resolve()
    shown = folders(current, options.folder)
    variables = command.environment(core, os.environ, options.env)
    completed = command.complete(words)
    steps = root.root_steps(built.tree, core, os.geteuid(), os.getegid(), shown)
    if options.time_limit is not None:
        steps += root.traceback_steps()
    return supervise.run(
        enter=lambda: namespace.enter_root(built.tree, steps),
        start=lambda: command.start(completed, core, variables, current),
        network=not options.no_network,
        limits=supervise.Limits(time_limit=options.time_limit, heartbeat=options.heartbeat),
    )


def main() -> None:
    """Ends as the command ended; 2 for a wrong command line, 125 when the guest cannot be started."""
    try:
        outcome = run(sys.argv[1:])
    except UsageError as error:
        print(f"guest: {error}", file=sys.stderr)
        sys.exit(2)
    except GuestError as error:
        print(f"guest: {error}", file=sys.stderr)
        sys.exit(_EXIT_CANNOT_START)
    supervise.leave(outcome.status)
