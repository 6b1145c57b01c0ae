# SPDX-License-Identifier: Apache-2.0
"""What a tree keeps of its packages and what is added to it: trees/common.toml and trees/NAME.toml."""

import fnmatch
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .errors import TreeError

_KEYS = {"drop", "keep", "links", "concatenate", "compile", "missing_libraries"}


@dataclass(frozen=True)
class Spec:
    """A tree's specification. Paths are relative to the tree's root.

    drop: glob patterns of what is left out; a pattern that matches a folder covers what is below it.
    keep: patterns that win over drop.
    links: symbolic links to add, path to target, in place of those that maintainer scripts would make.
    concatenate: files to make by joining the files of a pattern.
    compile: folders whose Python sources get their byte code now.
    missing_libraries: sonames that programs of the tree ask for and that are left out on purpose.
    """

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    concatenate: tuple[tuple[str, str], ...] = ()
    compile: tuple[str, ...] = ()
    missing_libraries: tuple[str, ...] = ()

    def filter(self) -> "PathFilter":
        """The filter that drop and keep make."""
        return PathFilter(_pattern(self.drop), _pattern(self.keep))


@dataclass(frozen=True)
class PathFilter:
    """Decides which paths of a package reach the tree."""

    drop: re.Pattern[str]
    keep: re.Pattern[str]

    def admits(self, path: str) -> bool:
        """Whether the path is kept. A pattern's match must end at a folder boundary or at the end of the path."""
        return not self.drop.match(path) or bool(self.keep.match(path))


def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    # fnmatch's * also crosses folders; a pattern with a leading folder name is precise enough here.
    bodies = (fnmatch.translate(glob).removesuffix(r"\z").removesuffix(r"\Z") for glob in globs)
    return re.compile("|".join(f"{body}(?:/|$)" for body in bodies) or r"(?!)")


def load_spec(paths: list[Path]) -> Spec:
    """One specification from several files; lists and tables add up."""
    lists: dict[str, list[str]] = {"drop": [], "keep": [], "compile": [], "missing_libraries": []}
    tables: dict[str, dict[str, str]] = {"links": {}, "concatenate": {}}
    for path in paths:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = sorted(set(data) - _KEYS)
        if unknown:
            raise TreeError(f"{path}: unknown key '{unknown[0]}'; known are {', '.join(sorted(_KEYS))}")
        for key, values in lists.items():
            values += data.get(key, [])
        for key, table in tables.items():
            table |= data.get(key, {})
    return Spec(
        **{key: tuple(values) for key, values in lists.items()},
        **{key: tuple(table.items()) for key, table in tables.items()},
    )
