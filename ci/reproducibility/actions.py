# SPDX-License-Identifier: Apache-2.0
"""The actions of a build, from `bazel aquery --output=jsonproto`, and what their outputs are."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ci.isolated.errors import JobError


@dataclass(frozen=True)
class Action:
    """target: its label. key: digest of what it executes. inputs and outputs: paths below the execution root."""

    target: str
    mnemonic: str
    key: str
    inputs: frozenset[str]
    outputs: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.mnemonic} of {self.target}"


@dataclass(frozen=True)
class Build:
    """actions: in the order of the graph. digests: of each output that is there, by path."""

    actions: tuple[Action, ...]
    digests: Mapping[str, str]


def parse(text: str) -> tuple[Action, ...]:
    """The actions of an answer."""
    try:
        graph = json.loads(text)
    except json.JSONDecodeError as error:
        raise JobError(f"bazel aquery gave no usable answer: {error}") from error
    fragments = {entry["id"]: entry for entry in graph.get("pathFragments", [])}
    paths: dict[int, str] = {}

    def path(fragment: int) -> str:
        if fragment not in paths:
            entry = fragments[fragment]
            parent = entry.get("parentId")
            paths[fragment] = f"{path(parent)}/{entry['label']}" if parent else entry["label"]
        return paths[fragment]

    artifacts = {entry["id"]: path(entry["pathFragmentId"]) for entry in graph.get("artifacts", [])}
    sets = {entry["id"]: entry for entry in graph.get("depSetOfFiles", [])}
    targets = {entry["id"]: entry["label"] for entry in graph.get("targets", [])}

    def members(roots: Iterable[int]) -> frozenset[str]:
        pending = list(roots)
        seen: set[int] = set()
        found: set[str] = set()
        while pending:
            number = pending.pop()
            if number not in seen:
                seen.add(number)
                found.update(artifacts[artifact] for artifact in sets[number].get("directArtifactIds", []))
                pending += sets[number].get("transitiveDepSetIds", [])
        return frozenset(found)

    return tuple(
        Action(
            targets.get(entry.get("targetId", 0), "?"),
            entry["mnemonic"],
            entry.get("actionKey", ""),
            members(entry.get("inputDepSetIds", [])),
            tuple(artifacts[artifact] for artifact in entry.get("outputIds", [])),
        )
        for entry in graph.get("actions", [])
    )


def digest(path: Path) -> str:
    """sha256 of a file, or of a folder's names and contents; a link that leads nowhere counts by its text."""
    if path.is_dir():
        total = hashlib.sha256()
        for folder, folders, files in os.walk(path):
            folders.sort()
            for name in sorted(files):
                member = Path(folder) / name
                total.update(f"{member.relative_to(path)}\0{digest(member)}\n".encode())
        return total.hexdigest()
    if path.is_symlink() and not path.exists():
        return f"link to {os.readlink(path)}"
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests(actions: Iterable[Action], root: Path) -> dict[str, str]:
    """Path -> digest, of all outputs that are there below an execution root."""
    found = {}
    for action in actions:
        for output in action.outputs:
            path = root / output
            # Trees of links to inputs are what the inputs are.
            if os.path.lexists(path) and action.mnemonic not in ("Middleman", "SymlinkTree", "SourceSymlinkManifest"):
                found[output] = digest(path)
    return found


def to_json(build: Build) -> str:
    rows = [[action.target, action.mnemonic, action.key, sorted(action.inputs), action.outputs] for action in build.actions]
    return json.dumps({"actions": rows, "digests": build.digests})


def from_json(text: str) -> Build:
    data = json.loads(text)
    actions = tuple(Action(target, mnemonic, key, frozenset(inputs), tuple(outputs)) for target, mnemonic, key, inputs, outputs in data["actions"])
    return Build(actions, data["digests"])
