# SPDX-License-Identifier: Apache-2.0
"""Formats this workspace's files in place: C and C++, Python, Starlark."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path, PurePosixPath

from ci.lint import tools
from ci.lint.kinds import CC, PYTHON, STARLARK, formatted_as
from ci.lint.listing import workspace_files


def formatters() -> dict[str, tuple[tools.Program, tuple[str, ...]]]:
    """Program and arguments for each kind."""
    return {
        CC: (tools.clang_format(), ("-i", "--style=file")),
        PYTHON: (tools.ruff(), ("format", "--no-cache", "--quiet")),
        STARLARK: (tools.buildifier(Path(os.environ["RUNFILES_DIR"], os.environ["BUILDIFIER"])), ("-mode=fix", "-lint=off")),
    }


def selected(workspace: Path, below: list[Path]) -> list[PurePosixPath]:
    """The workspace's files, or those below the given paths."""
    files = workspace_files(workspace)
    if not below:
        return files
    chosen = [PurePosixPath(path.resolve().relative_to(workspace.resolve())) for path in below]
    return [file for file in files if any(file == path or path in file.parents for path in chosen)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="format", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="only these files and what is below these folders [everything]")
    options = parser.parse_args()
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    try:
        files = selected(workspace, options.paths)
    except ValueError as error:
        print(f"format: error: {error}; give paths of this workspace", file=sys.stderr)
        return 2
    status = 0
    for kind, (program, arguments) in formatters().items():
        found = [str(file) for file in files if formatted_as(file) == kind]
        if not found:
            continue
        done = program.run(*arguments, *found, cwd=workspace)
        sys.stdout.write(done.stdout)
        status = status or done.returncode
        print(f"{kind}: {len(found)} files")
    return status


if __name__ == "__main__":
    sys.exit(main())
