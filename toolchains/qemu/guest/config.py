# SPDX-License-Identifier: Apache-2.0
"""Where the build put the guest's parts: a generated JSON file with paths relative to a base folder (the runfiles, or the file's own folder)."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib

from guest import levels, root, runfiles
from guest.errors import GuestError


@dataclasses.dataclass(frozen=True)
class Config:
    """levels: the cores by level name. default_level: what runs when none is asked for. tree: the guest's parts."""

    levels: dict[str, levels.Core]
    default_level: str
    tree: root.Tree


def real_folder(path: pathlib.Path) -> pathlib.Path:
    """The folder itself, where the build system shows it as a link or as a folder of links to its files."""
    if not path.is_dir():
        raise GuestError(f"{path} is no folder", "build the target again; the configuration names what does not exist")
    resolved = path.resolve()
    for folder, _, names in os.walk(resolved):
        for name in names:
            shown = pathlib.Path(folder, name)
            if not shown.is_symlink():
                return resolved
            relative = shown.relative_to(resolved)
            target = pathlib.Path(os.readlink(shown))
            if not target.is_absolute():  # the tree's own link, as liba.so -> liba.so.1
                continue
            if target.parts[-len(relative.parts) :] == relative.parts:
                return pathlib.Path(*target.parts[: -len(relative.parts)]).resolve()
            return resolved
    return resolved


def locate(entry: str | dict[str, str], base: pathlib.Path) -> pathlib.Path:
    """A tree's folder: below the base, or in the output base of the Bazel that made the file with the tree's digest."""
    if isinstance(entry, str):
        return real_folder(runfiles.find(entry, base))
    digest = (base / entry["id"]).resolve()
    output_base, execroot, _ = str(digest).rpartition("/execroot/")
    tree = pathlib.Path(output_base, entry["path"])
    if not execroot or not tree.is_dir():
        raise GuestError(
            f"{entry['path']} is not in the output base that {digest} lies in",
            "run the target by `bazel run` or `bazel test` on the machine that built it; copied runfiles do not hold the trees",
        )
    return tree


def load(path: pathlib.Path, base: pathlib.Path) -> Config:
    """Reads the generated file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    cores = levels.load_levels(runfiles.find(data["levels"], base).resolve())
    return Config(
        levels=cores,
        default_level=data["default_level"],
        tree=root.Tree(
            root=locate(data["root"], base),
            qemu=runfiles.find(data["qemu"], base).resolve(),
            ime2_qemu=runfiles.find(data["ime2_qemu"], base).resolve() if "ime2_qemu" in data else None,
            launcher=runfiles.find(data["launcher"], base).resolve(),
            overlays=tuple(locate(overlay, base) for overlay in data.get("overlays", [])),
            sites=tuple(locate(site, base) for site in data.get("sites", [])),
        ),
    )
