# SPDX-License-Identifier: Apache-2.0
"""Facts of wheel files, for the properties of test reports: wheel_facts.py OUTPUT WHEEL..."""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parents[1]))

from guest import elf  # noqa: E402  (isolated mode leaves folders out of the path)


def compilers(wheel: pathlib.Path) -> list[str]:
    """What compilers and linkers say of themselves in the .comment of the wheel's libraries."""
    found: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                found.update(elf.compilers(archive.read(name)))
    return sorted(found)


def facts(wheel: pathlib.Path) -> dict[str, object]:
    """One wheel's."""
    return {"compilers": compilers(wheel), "file": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


def main(output: str, *wheels: str) -> None:
    """A JSON list, one entry a wheel."""
    rows = [facts(pathlib.Path(wheel)) for wheel in sorted(wheels)]
    pathlib.Path(output).write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", encoding="utf-8")


main(*sys.argv[1:])
