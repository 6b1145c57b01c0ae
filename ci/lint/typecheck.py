# SPDX-License-Identifier: Apache-2.0
"""mypy, folder by folder: modules of one name (errors.py, conftest.py) are in many, and each folder has its own search path."""

from __future__ import annotations

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG = "ci/lint/mypy.ini"


@dataclass(frozen=True)
class Group:
    """The modules of a folder and where they import from, all relative to the workspace."""

    folder: Path
    files: tuple[Path, ...]
    search: tuple[Path, ...]

    @property
    def is_program(self) -> bool:
        """Tests are not checked: they run, and fixtures and parameters of theirs have no types. What runs them is a program too."""
        return "tests" not in self.folder.parts or self.folder.parts[:2] == ("tests", "private") and self.folder.name != "tests"


def groups(root: Path) -> list[Group]:
    """All folders of programs' modules below a folder."""
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        folders[path.parent.relative_to(root)].append(path.relative_to(root))
    imported = {folder: {name for file in files for name in _top_level_imports(root / file)} for folder, files in folders.items()}
    found = [Group(folder, tuple(files), tuple(_search(folder, folders, imported[folder]))) for folder, files in sorted(folders.items())]
    return [group for group in found if group.is_program]


def _top_level_imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


def _search(folder: Path, folders: Mapping[Path, list[Path]], imported: set[str]) -> Iterator[Path]:
    """Where the folder's own modules are found by the names that they import each other by, and the only other place that has a name."""
    outside = folder
    while outside / "__init__.py" in folders.get(outside, ()):
        outside = outside.parent
    own = {file.stem for file in folders[folder]}
    rooted = folder.parts[0] in imported
    if outside != folder and not rooted:
        yield outside
    elif own & imported:
        yield folder
    homes = defaultdict(set)
    for other, files in folders.items():
        for file in files:
            homes[file.stem].add(other)
            if file.name == "__init__.py":
                homes[other.name].add(other.parent)
    foreign = imported - own - {folder.name} - set(sys.stdlib_module_names)
    yield from sorted({home for name in foreign for home in homes[name] if len(homes[name]) == 1 and home not in (folder, folder.parent, outside)})
    yield Path()


def check(root: Path, group: Group, cache: Path) -> str:
    """What mypy says against a group; empty if nothing. The current folder must be `root`."""
    from mypy import api  # a locked package that only this check needs

    os.environ["MYPYPATH"] = os.pathsep.join(str(root.resolve() / place) for place in group.search)
    options = ["--config-file", CONFIG, "--cache-dir", str(cache), "--no-error-summary", "--no-color-output"]
    output, problems, status = api.run([*options, *map(str, group.files)])
    return output + problems if status else ""
