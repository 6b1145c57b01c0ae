# SPDX-License-Identifier: Apache-2.0
"""The SM10 as a self-hosted GitHub Actions runner: set it up, look at it, admit jobs, take artefacts over.

Exit codes: 0; 2 for wrong arguments; one for each reason to refuse (ci/runner/README.md has the table).
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.runner import artefact, board, hook, ledger, places, prepare, setup
from ci.runner import config as configs
from ci.runner.faults import Kind, RunnerError


def _say(line: str) -> None:
    print(line, flush=True)


def _fact(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name or not value or '"' in value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _setup(options: argparse.Namespace) -> None:
    path = options.root / configs.CONFIG
    if options.repository:
        defaults = {field.name: field.default for field in dataclasses.fields(configs.Config) if field.default is not dataclasses.MISSING}
        wanted = defaults | {"repository": options.repository, "repository_id": options.repository_id, "facts": tuple(sorted(options.fact))}
        config = configs.parse(path, configs.render(configs.Config(**wanted)))
    else:
        config = configs.read(options.root)
    setup.run(options.root, config, _say, dry=options.dry_run)


def _check(options: argparse.Namespace) -> None:
    findings = list(board.examine(options.root, configs.read(options.root)))
    for finding in findings:
        _say(str(finding))
    bad = [finding for finding in findings if not finding.good]
    if bad:
        raise RunnerError(Kind.BOARD, f"{len(bad)} of {len(findings)} findings are bad", bad[0].remedy)


def _prepare(options: argparse.Namespace) -> None:
    prepare.run(options.root, configs.read(options.root), _say)


def _hook(options: argparse.Namespace) -> None:
    if not os.getuid():
        raise RunnerError(Kind.ENVIRONMENT, "a hook must not run as root", f"the runner runs as {places.USER}: `systemctl cat sm10-runner`")
    machine = hook.Machine(options.root, configs.read(options.root), os.getuid(), _say)
    if options.moment == "job-started":
        hook.started(machine, os.environ, datetime.datetime.now(datetime.UTC))
    else:
        hook.completed(machine)


def _facts(options: argparse.Namespace) -> None:
    for name, value in configs.read(options.root).facts:
        _say(f"--fact={name}={value}")


def _number(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "")
    if not value.isdecimal():
        raise RunnerError(Kind.ENVIRONMENT, f"{name} is {value!r}, not a number", "take is a step of a job on this machine")
    return int(value)


def _take(options: argparse.Namespace) -> None:
    run, attempt = _number(os.environ, "GITHUB_RUN_ID"), _number(os.environ, "GITHUB_RUN_ATTEMPT")
    ledger.require(options.root / places.LEDGER, run, attempt, os.environ.get("GITHUB_JOB", ""))
    for name in artefact.take(options.folder, options.sha256, options.into):
        _say(f"as built: {name}")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sm10-runner", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("/"), metavar="DIR", help="the machine's root folder (default /)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("setup", help="install user, units, hooks and configuration; a second run changes nothing")
    command.add_argument("--repository", metavar="OWNER/NAME", help="the repository to run jobs of (default: as configured)")
    command.add_argument("--repository-id", type=int, metavar="NUMBER", help="its id: `gh api repos/OWNER/NAME --jq .id`")
    command.add_argument("--fact", action="append", type=_fact, default=[], metavar="NAME=VALUE", help="a fact of the board that it does not tell (ci/bench)")
    command.add_argument("--dry-run", action="store_true", help="only say what would be done")
    command.set_defaults(run=_setup)

    commands.add_parser("check", help="is the board in the state for measuring?").set_defaults(run=_check)
    commands.add_parser("prepare", help="as root: set governor, permissions and the work folder's owner").set_defaults(run=_prepare)

    command = commands.add_parser("hook", help="what the runner starts before and after a job")
    command.add_argument("moment", choices=["job-started", "job-completed"])
    command.set_defaults(run=_hook)

    commands.add_parser("facts", help="the configured facts of the board, as arguments of sm10-bench").set_defaults(run=_facts)

    command = commands.add_parser("take", help="in an admitted job: take an artefact over if it is what the build job made")
    command.add_argument("folder", type=Path, metavar="FOLDER", help=f"the downloaded artefact, with its {artefact.SUMS}")
    command.add_argument("--sha256", required=True, help=f"of {artefact.SUMS}, as the build job's output says")
    command.add_argument("--into", type=Path, required=True, metavar="FOLDER", help="new folder for the files")
    command.set_defaults(run=_take)

    options = parser.parse_args(arguments)
    if getattr(options, "repository", None) and not options.repository_id:
        parser.error("--repository needs --repository-id")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        options.run(options)
    except RunnerError as error:
        print(f"sm10-runner: {error}", file=sys.stderr)
        return error.kind.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
