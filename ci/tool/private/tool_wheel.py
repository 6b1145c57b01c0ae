# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of a tool. Called by a build action; every input is named on the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(description=__doc__)
    result.add_argument("--wheelbuild", type=Path, required=True, help="folder of the modules that write wheels")
    result.add_argument("--member", action="append", required=True, metavar="NAME=FILE", help="file and its name in the wheel")
    result.add_argument("--command", action="append", default=[], metavar="'NAME = MODULE:FUNCTION'", help="console script")
    result.add_argument("--requires", action="append", default=[], help="Requires-Dist value")
    result.add_argument("--distribution", required=True, help="name of the distribution")
    result.add_argument("--version", required=True, help="its version")
    result.add_argument("--summary", required=True, help="one line")
    result.add_argument("--tag", required=True, help="wheel tag")
    result.add_argument("--licence", type=Path, required=True, help="the licence's text")
    result.add_argument("--output", type=Path, required=True, help="the wheel")
    return result


def metadata(options: argparse.Namespace) -> str:
    """METADATA, core metadata 2.4."""
    fields = [
        "Metadata-Version: 2.4",
        f"Name: {options.distribution}",
        f"Version: {options.version}",
        f"Summary: {options.summary}",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Requires-Python: >=3.11",
        *(f"Requires-Dist: {requirement}" for requirement in sorted(options.requires)),
    ]
    return "\n".join(fields) + "\n"


def main(options: argparse.Namespace) -> None:
    """Writes the wheel."""
    sys.path.insert(0, str(options.wheelbuild.parent))
    from wheelbuild import archive, contents, metadata as wheel_metadata
    from wheelbuild.errors import WheelError

    try:
        members = contents.modules(options.member, {})
    except WheelError as error:
        sys.exit(f"wheel: error: {error}")
    info = f"{options.distribution.replace('-', '_')}-{options.version}.dist-info"
    members[f"{info}/METADATA"] = metadata(options).encode()
    members[f"{info}/WHEEL"] = wheel_metadata.wheel_file(options.tag).encode()
    members[f"{info}/entry_points.txt"] = ("[console_scripts]\n" + "".join(f"{line}\n" for line in sorted(options.command))).encode()
    members[f"{info}/licenses/LICENSE"] = options.licence.read_bytes()
    archive.write_wheel(options.output, members, f"{info}/RECORD")


if __name__ == "__main__":
    main(parser().parse_args())
