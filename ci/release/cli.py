# SPDX-License-Identifier: Apache-2.0
"""Hands over what was built: stages it with checksums, verifies it elsewhere, publishes it as a release.

Standard library only. Exit codes: 0; 1 something is not as it must be; 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.release import publishing, staging
from ci.release.errors import ReleaseError
from ci.release.github import Api
from ci.runner.faults import RunnerError


def _say(line: str) -> None:
    print(line, flush=True)


def _stage(options: argparse.Namespace) -> None:
    try:
        files = [Path(line) for line in options.files.read_text(encoding="utf-8").splitlines() if line]
    except OSError as error:
        raise ReleaseError(f"{options.files}: {error.strerror}", "./bazelw cquery --output=files TARGET writes such a list") from error
    digest = staging.stage(files, options.output)
    for path in sorted(options.output.iterdir()):
        _say(path.name)
    if options.github_output:
        with options.github_output.open("a", encoding="utf-8") as file:
            file.write(f"sha256={digest}\n")
    _say(f"sha256 of SHA256SUMS: {digest}")


def _verify(options: argparse.Namespace) -> None:
    for name in staging.verify(options.folder, options.sha256):
        _say(f"as built: {name}")


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ReleaseError(f"{name} is not set", "publish is a step of a workflow; GITHUB_TOKEN must be handed to it")
    return value


def _publish(options: argparse.Namespace) -> None:
    api = Api(_variable("GITHUB_API_URL"), _variable("GITHUB_REPOSITORY"), _variable("GITHUB_TOKEN"))
    publishing.publish(api, options.tag, options.folder, options.sha256, _say)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ci.release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("stage", help="copy built files into one folder, with bills of materials and SHA256SUMS")
    command.add_argument("--files", type=Path, required=True, metavar="FILE", help="list of the files, one a line")
    command.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="new folder")
    command.add_argument("--github-output", type=Path, metavar="FILE", help="append sha256=DIGEST, for GITHUB_OUTPUT")
    command.set_defaults(run=_stage)

    for name, text in {"publish": "make or complete a tag's release", "verify": "is a folder what was staged?"}.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("folder", type=Path, metavar="FOLDER", help="the staged folder")
        command.add_argument("--sha256", required=True, help="of its SHA256SUMS, as stage printed it")
        if name == "publish":
            command.add_argument("--tag", required=True, help="v and the wheel's version")
        command.set_defaults(run=_publish if name == "publish" else _verify)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        options.run(options)
    except (ReleaseError, RunnerError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
