# SPDX-License-Identifier: Apache-2.0
"""Where what a runfiles folder should hold lies.

Source directories of external repositories, as locked trees are, lie elsewhere on a worker of a Remote Execution service: Bazel 7 uploads such a directory
for the path that it has in the execution root, whatever the runfiles say. private/program.bzl has the same rule for shells.
"""

from __future__ import annotations

import pathlib

from guest.errors import GuestError

_OUTPUTS = "/bazel-out/"  # of the execution root; runfiles folders are below it
_OTHERS = "external/"


def find(path: str, base: pathlib.Path) -> pathlib.Path:
    """A file or folder by its path below the runfiles folder `base`."""
    shown = base / path
    if shown.exists():
        return shown
    execroot, outputs, _ = str(base.absolute()).rpartition(_OUTPUTS)
    if not outputs:
        raise GuestError(f"{shown} does not exist", "build the target again; its runfiles are not complete")
    there = pathlib.Path(execroot or "/", _OTHERS, path)  # an action's folder may be its root
    if not there.exists():
        raise GuestError(f"neither {shown} nor {there} exists", "build the target again; it is an input that neither the runfiles nor a worker's root hold")
    return there


def variables(settings: dict[str, str], folder: pathlib.Path) -> dict[str, str]:
    """Environment variables whose words may name files of other repositories as $(rootpath LABEL) writes them."""
    return {name: " ".join(_word(word, folder) for word in value.split(" ")) for name, value in settings.items()}


def _word(word: str, folder: pathlib.Path) -> str:
    other = word.removeprefix(_OTHERS)
    return word if other == word or (folder / word).exists() else str(find(other, folder.parent))
