# SPDX-License-Identifier: Apache-2.0
"""What is started in the guest, and with which environment."""

from __future__ import annotations

import fnmatch
import os
import pathlib
import shutil
from collections.abc import Mapping, Sequence

from guest import root
from guest.errors import UsageError
from guest.levels import Core

SHELL = ("bash",)
PATH = "/usr/local/bin:/usr/bin:/usr/sbin"

# Variables of the caller that are of use in the guest; the rest (PATH, LD_*, PYTHON*, HOME, Bazel's ...) describes the host.
PASSED = (
    "COLORTERM", "COLUMNS", "HF_*", "LANG", "LC_*", "LINES", "NO_COLOR", "OMP_*", "OPENBLAS_*", "SM10_*", "TERM", "TORCH_*", "TQDM_*",
    "TRANSFORMERS_*", "VLLM_*",
)  # fmt: skip


def environment(core: Core, caller: Mapping[str, str], settings: Sequence[str], passed: Sequence[str] = PASSED) -> dict[str, str]:
    """The guest's environment: fixed values, what the core needs, what is passed on, and last the --env settings."""
    result = {
        "HOME": root.HOME,
        "LANG": "C.UTF-8",
        "PATH": PATH,
        "SM10_LEVEL": core.level,
        "SM10_VLEN": str(core.vlen or 0),
        "SHELL": "/bin/bash",
        "TMPDIR": "/tmp",
        "USER": "root" if os.geteuid() == 0 else "guest",
    }
    result |= core.environment()
    own = set(result) - {"LANG"}
    result |= {name: value for name, value in caller.items() if name not in own and any(fnmatch.fnmatchcase(name, pattern) for pattern in passed)}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name or (not equals and name not in caller):
            raise UsageError(f"--env {setting}: no such variable", "write --env NAME=VALUE, or set NAME in your own environment")
        result[name] = value if equals else caller[name]
    return result


def complete(words: Sequence[str]) -> tuple[str, ...]:
    """Nothing means a shell; `-m module` and `-c code` mean Python."""
    if not words:
        return SHELL
    if words[0] in ("-c", "-m"):
        return ("python3", *words)
    return tuple(words)


def find(name: str) -> pathlib.Path:
    """The program's path; called inside the guest's root."""
    if "/" in name:
        path = pathlib.Path(name)
        if not path.exists():
            raise UsageError(f"{name} does not exist in the guest", "give a path below the current folder, or show its folder with --folder")
    else:
        found = shutil.which(name, path=PATH)
        if found is None:
            raise UsageError(f"{name} is no program of the guest", "give a program of the guest's /usr/bin, or a path with a slash")
        path = pathlib.Path(found)
    if path.is_dir() or not os.access(path, os.X_OK):
        raise UsageError(f"{name} is not executable", f"make it so (chmod +x), or for a Python file: python3 {name}")
    return path


def argv(name: str, words: Sequence[str], core: Core) -> tuple[str, list[str]]:
    """(file to exec, argument vector): the emulator for a riscv64 file, and on a board for a script; launchers and scripts as they are."""
    path = find(name)
    machine = root.elf_machine(path.resolve())
    if machine == "riscv64":
        return root.QEMU, [root.QEMU, *core.options(), "-0", name, str(path), *words[1:]]
    if core.board and machine is None:
        # A script: its interpreter is a riscv64 program, which this kernel does not start but the emulator does, for its own children.
        return root.QEMU, [root.QEMU, *core.options(), find("env").as_posix(), str(path), *words[1:]]
    is_launcher = path.resolve().parent in (pathlib.Path("/usr/bin"), pathlib.Path("/usr/sbin"))
    if machine is not None and not is_launcher:
        raise UsageError(f"{name} is a program for {machine}", "build it for riscv64")
    return str(path), list(words)


def start(words: Sequence[str], core: Core, variables: Mapping[str, str], folder: pathlib.Path) -> None:
    """Replaces this process with the program; called inside the guest's root."""
    os.chdir(folder)
    file, arguments = argv(words[0], words, core)
    os.execve(file, arguments, dict(variables))
