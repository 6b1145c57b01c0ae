# SPDX-License-Identifier: Apache-2.0
"""A real board: another machine, which ssh leads to. Files go there and come back by tar; nothing is left there."""

from __future__ import annotations

import dataclasses
import io
import os
import pathlib
import shlex
import subprocess
import tarfile
from collections.abc import Mapping, Sequence

from guest.errors import GuestError

WHERE, SSH, PYTHON = "SM10_BOARD", "SM10_SSH", "SM10_BOARD_PYTHON"


class BoardError(GuestError):
    """The board cannot be used."""


def packed(files: Mapping[str, pathlib.Path]) -> bytes:
    """A tar archive of files and folders, by their paths on the board; links are followed."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", dereference=True) as archive:
        for path, source in sorted(files.items()):
            archive.add(source.resolve(), path)
    return stream.getvalue()


def assignments(variables: Mapping[str, str]) -> list[str]:
    """For env -i."""
    return [f"{name}={value}" for name, value in sorted(variables.items())]


@dataclasses.dataclass(frozen=True)
class Board:
    """command: what starts a shell command on the board, which is its last argument."""

    command: tuple[str, ...]

    def words(self, script: str) -> list[str]:
        """The argument vector that runs a script there."""
        return [*self.command, script]

    def ask(self, script: str, given: bytes = b"") -> bytes:
        """A script's standard output."""
        done = subprocess.run(self.words(script), input=given, capture_output=True, check=False)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
            raise BoardError(f"`{self.command[0]} ... {script}`: {said}", f"see that `{shlex.join(self.command)} true` works without a password")
        return done.stdout

    def send(self, files: Mapping[str, pathlib.Path], folders: Sequence[str]) -> str:
        """Puts files and empty folders into a new folder of the board, and gives its path."""
        made = "".join(f' && mkdir -p "$folder"/{shlex.quote(folder)}' for folder in folders)
        script = f'folder=$(mktemp -d) && tar -x -C "$folder"{made} && echo "$folder"'
        return self.ask(script, packed(files)).decode().strip()

    def fetch(self, folder: str, below: str, target: pathlib.Path) -> None:
        """Copies what lies in a folder of a board's folder."""
        data = self.ask(f"tar -c -C {shlex.quote(f'{folder}/{below}')} .")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(target, filter="data")

    def remove(self, folder: str) -> None:
        """Nothing is left there."""
        self.ask(f"rm -rf {shlex.quote(folder)}")

    def kernel(self) -> dict[str, str]:
        """What it says of itself."""
        kernel, machine = self.ask("uname -sr && uname -m").decode().splitlines()
        if machine != "riscv64":
            raise BoardError(f"the board's machine is {machine}", f"name a riscv64 machine in {WHERE}")
        return {"kernel": kernel, "machine": machine}


def locked_ssh(tree: pathlib.Path) -> tuple[str, ...]:
    """OpenSSH's client by its own loader."""
    libraries = tree / "usr/lib/x86_64-linux-gnu"
    return (str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries), str(tree / "usr/bin/ssh"))


def find(environ: Mapping[str, str], tree: pathlib.Path) -> Board:
    """The board that the user names. tree: with the locked ssh."""
    where = environ.get(WHERE)
    if not where:
        raise BoardError(f"{WHERE} is not set", f"{WHERE}=[USER@]HOST ./bazelw test --config=sm10 ...")
    ssh = (environ[SSH],) if environ.get(SSH) else locked_ssh(tree)
    return Board((*ssh, "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", where))


def run_words(folder: str, variables: Mapping[str, str], seconds: float | None, words: Sequence[str], before: str = "") -> str:
    """A script that runs a program there: nothing of the login's environment, and a time limit of its own in case the connection ends."""
    limit = ["timeout", "-k", "20", f"{seconds:.0f}"] if seconds else []
    command = ["env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin", *assignments(variables), *limit, *words]
    return f"cd {shlex.quote(folder)} && {before}exec {shlex.join(command)}"


def execute(board: Board, script: str) -> int:
    """Becomes the connection; called in a process of its own."""
    words = board.words(script)
    os.execv(words[0], words)
