# SPDX-License-Identifier: Apache-2.0
"""Writes the provenance statement of a wheel. Called by a build action; every input is named on the command line."""

import argparse
import os
import sys
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(description=__doc__)
    result.add_argument("--site", type=Path, action="append", default=[], help="folder of Python packages that this program needs")
    result.add_argument("--wheel", type=Path, required=True, help="the wheel that the statement is about")
    result.add_argument("--target", required=True, help="label that builds it")
    result.add_argument("--bazel-version", type=Path, required=True, help="file with Bazel's version")
    result.add_argument("--repository", action="append", default=[], metavar="NAME", help="external repository that is built from")
    result.add_argument("--debian-lock", type=Path, required=True, help="third_party/debian/lock.tsv")
    result.add_argument("--pypi-lock", type=Path, required=True, help="third_party/pypi/lock.tsv")
    result.add_argument("--sources", type=Path, required=True, help="file that lists the workspace's files that are built from, one path a line")
    result.add_argument("--output", type=Path, required=True, help="the statement")
    return result


def main(arguments: argparse.Namespace) -> None:
    """Writes the statement."""
    from wheelbuild import inputs, provenance
    from wheelbuild.errors import WheelError

    try:
        sets = inputs.sets_of_repositories(arguments.repository)
        files = inputs.locked_files(sets, arguments.debian_lock.read_text(), arguments.pypi_lock.read_text())
        sources = sorted(inputs.hashed(Path(line)) for line in arguments.sources.read_text().splitlines())
        subject = inputs.HashedFile(arguments.wheel.name, inputs.hashed(arguments.wheel).sha256)
        bazel = arguments.bazel_version.read_text().strip()
        arguments.output.write_bytes(provenance.statement(subject, arguments.target, bazel, files, sources))
    except WheelError as error:
        sys.exit(f"provenance: error: {error}")


if __name__ == "__main__":
    options = parser().parse_args()
    # Runs with -I, so what it imports is named here: its own folder and the given sites.
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), *map(str, options.site)]
    main(options)
