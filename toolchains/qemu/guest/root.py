# SPDX-License-Identifier: Apache-2.0
"""What the guest's file system looks like, as a list of steps.

The root is a tmpfs that is built anew for each run. The Debian tree and the Python trees are mounted into it read-only, the user's folders at their
own paths. Nothing of the host's userland (/usr, /etc, /lib ...) is in it.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Sequence

from guest.errors import GuestError, UsageError
from guest.levels import Core

# Owned by the guest root: a folder of the user's under one of these would hide, or be hidden by, the guest's own files.
RESERVED = ("bin", "dev", "etc", "guest", "lib", "lib64", "proc", "sbin", "sys", "usr")

PROGRAM_FOLDERS = ("usr/bin", "usr/sbin")
MERGED_LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib"}
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
OWN_ETC = ("group", "hosts", "nsswitch.conf", "passwd", "resolv.conf", "alternatives")
SITE = "usr/local/lib/python3.14/dist-packages"
QEMU = "/guest/qemu-riscv64"
HOME = "/guest/home"

_ELF_MAGIC = b"\x7fELF"
_MACHINE_OFFSET = 18
_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}


@dataclasses.dataclass(frozen=True)
class Folder:
    """A directory of the new root's tmpfs."""

    path: str
    mode: int = 0o755


@dataclasses.dataclass(frozen=True)
class Bind:
    """A file or directory of the host, mounted in the new root."""

    source: pathlib.Path
    path: str
    writable: bool = False


@dataclasses.dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: str
    target: str


@dataclasses.dataclass(frozen=True)
class Text:
    """A small generated file."""

    path: str
    text: str


@dataclasses.dataclass(frozen=True)
class Launcher:
    """A stand-in for a riscv64 program: a hard link to the launcher."""

    path: str


Step = Folder | Bind | Link | Text | Launcher


@dataclasses.dataclass(frozen=True)
class Tree:
    """Where the guest's parts are on the host.

    root: the extracted Debian tree. qemu: the static emulator. launcher: the stand-in program. ime2_qemu: the emulator of cores with IME2. overlays:
    trees with a usr/local of their own (scripts and Python packages). sites: further folders of Python packages.
    """

    root: pathlib.Path
    qemu: pathlib.Path
    launcher: pathlib.Path
    ime2_qemu: pathlib.Path | None = None
    overlays: tuple[pathlib.Path, ...] = ()
    sites: tuple[pathlib.Path, ...] = ()


def elf_machine(path: pathlib.Path) -> str | None:
    """The machine that an ELF file is for, None when it is no ELF file."""
    try:
        with path.open("rb") as file:
            head = file.read(_MACHINE_OFFSET + 2)
    except OSError:
        return None
    if not head.startswith(_ELF_MAGIC) or len(head) < _MACHINE_OFFSET + 2:
        return None
    number = int.from_bytes(head[_MACHINE_OFFSET:], "little")
    return _MACHINES.get(number, f"ELF machine {number}")


def _programs(root: pathlib.Path, folder: str, launchers: bool) -> list[Step]:
    """A program folder: launchers for riscv64 programs, links for everything else; links only, where the emulator itself executes riscv64 children."""
    steps: list[Step] = [Folder(folder), Bind(root / folder, f"guest/real/{folder}")]
    for entry in sorted(os.scandir(root / folder), key=lambda e: e.name):
        path = f"{folder}/{entry.name}"
        if entry.is_symlink():
            steps.append(Link(path, os.readlink(entry.path)))
        elif launchers and entry.is_file() and elf_machine(pathlib.Path(entry.path)) == "riscv64":
            steps.append(Launcher(path))
        else:
            steps.append(Link(path, f"/guest/real/{path}"))
    return steps


def _shell(root: pathlib.Path) -> list[Step]:
    """/usr/bin/sh is made by a maintainer script, so an extracted tree may lack it."""
    if os.path.lexists(root / "usr/bin/sh"):
        return []
    for name in ("dash", "bash"):
        if (root / "usr/bin" / name).exists():
            return [Link("usr/bin/sh", name)]
    raise GuestError(f"{root} holds no shell", "add dash or bash to the guest's packages")


def _children(root: pathlib.Path, folder: str, leave_out: tuple[str, ...]) -> list[Step]:
    """A folder whose entries are mounted one by one, so that others can be put beside them."""
    steps: list[Step] = [Folder(folder)]
    if not (root / folder).is_dir():
        return steps
    for entry in sorted(os.scandir(root / folder), key=lambda e: e.name):
        path = f"{folder}/{entry.name}"
        if entry.name in leave_out:
            continue
        if entry.is_symlink():
            steps.append(Link(path, os.readlink(entry.path)))
        else:
            steps.append(Bind(pathlib.Path(entry.path), path))
    return steps


def _accounts(uid: int, gid: int) -> list[Step]:
    """The Debian tree is extracted, not configured: its accounts files do not exist."""
    passwd = f"root:x:0:0:root:{HOME}:/bin/bash\n"
    group = "root:x:0:\n"
    if uid != 0:
        passwd += f"guest:x:{uid}:{gid}:guest:{HOME}:/bin/bash\n"
    if gid != 0:
        group += f"guest:x:{gid}:\n"
    return [
        Text("etc/passwd", passwd),
        Text("etc/group", group),
        Text("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
        Text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ]


def merge(trees: Sequence[pathlib.Path], path: str) -> list[Step]:
    """Several folders shown as one at `path`: what only one of them holds is mounted whole, a folder in several is merged in turn."""
    steps: list[Step] = [Folder(path)]
    holders: dict[str, list[os.DirEntry[str]]] = {}
    for tree in trees:
        for entry in os.scandir(tree):
            holders.setdefault(entry.name, []).append(entry)
    for name, entries in sorted(holders.items()):
        below = f"{path}/{name}"
        if len(entries) == 1:
            target = os.readlink(entries[0].path) if entries[0].is_symlink() else ""
            steps.append(Bind(pathlib.Path(entries[0].path), below) if not target or os.path.isabs(target) else Link(below, target))
        elif all(entry.is_dir() for entry in entries):
            steps += merge([pathlib.Path(entry.path) for entry in entries], below)
        else:
            raise GuestError(f"{' and '.join(entry.path for entry in entries)} both want to be /{below}", "install only one of them in the guest")
    return steps


def _local_steps(tree: Tree) -> list[Step]:
    """/usr/local: the overlays, and Python's site folders of the caller's."""
    steps: list[Step] = []
    for folder in ("bin", "share"):
        steps += merge([overlay / "usr/local" / folder for overlay in tree.overlays if (overlay / "usr/local" / folder).is_dir()], f"usr/local/{folder}")
    steps += merge([overlay / SITE for overlay in tree.overlays if (overlay / SITE).is_dir()] + list(tree.sites), SITE)
    return steps


def traceback_steps() -> tuple[Step, ...]:
    """Makes each Python process of the guest print the stacks of its threads on SIGTERM, which the time limit sends, before it ends. Standard error is
    copied because pytest's capture takes the descriptor itself.
    """
    line = "import faulthandler, os, signal; faulthandler.register(signal.SIGTERM, file=os.dup(2), all_threads=True, chain=True)\n"
    return (Text(f"{SITE}/guest_traceback.pth", line),)


def check_visible(path: pathlib.Path) -> None:
    """A user's folder must not lie where the guest's own files are."""
    parts = path.parts
    if not path.is_absolute() or len(parts) < 2 or parts[1] in RESERVED:
        raise UsageError(
            f"{path} cannot be shown in the guest: the guest has its own files there",
            f"use a folder that is not in /{', /'.join(RESERVED)} and is not / itself",
        )


def emulator(tree: Tree, core: Core) -> pathlib.Path:
    """The emulator of the core."""
    if not core.ime2:
        return tree.qemu
    if tree.ime2_qemu is None:
        raise GuestError(
            f"level {core.level} has IME2 and this guest's emulator has not", "set ime2_qemu of the guest target, or choose another level or --vlen"
        )
    return tree.ime2_qemu


def root_steps(tree: Tree, core: Core, uid: int, gid: int, folders: tuple[Bind, ...]) -> list[Step]:
    """All that makes the guest's root, in order. folders: what of the host is shown besides the guest's own parts."""
    if not (tree.root / "usr/lib/riscv64-linux-gnu/libc.so.6").exists():
        raise GuestError(f"{tree.root} is no riscv64 Debian tree (no usr/lib/riscv64-linux-gnu/libc.so.6)", "name the extracted guest root")
    steps: list[Step] = [Folder("tmp", 0o1777), Folder("run"), Folder("var/tmp", 0o1777), Folder(HOME.lstrip("/"), 0o777)]
    steps += [Folder("guest/real/usr"), Bind(emulator(tree, core), QEMU.lstrip("/")), Text("guest/cpu", core.cpu + "\n")]
    steps += _children(tree.root, "usr", ("bin", "sbin", "local"))
    for folder in PROGRAM_FOLDERS:
        if (tree.root / folder).is_dir():
            steps += _programs(tree.root, folder, launchers=not core.board)
    steps += _shell(tree.root)
    steps += [Link(name, target) for name, target in MERGED_LINKS.items()]
    steps += _children(tree.root, "etc", OWN_ETC)
    if (tree.root / "etc/alternatives").is_dir():
        steps.append(Bind(tree.root / "etc/alternatives", "etc/alternatives"))
    steps += _accounts(uid, gid)
    steps += _local_steps(tree)
    steps += [Text(f"{HOME.lstrip('/')}/.bashrc", f"PS1='[{core.level} vlen={core.vlen or 'none'}] \\w\\$ '\n")]
    steps += _kernel_steps()
    steps += folders
    return steps


def _kernel_steps() -> list[Step]:
    """What the kernel supplies. /sys is limited to what libnuma, torch and OpenMP read."""
    steps: list[Step] = [Folder("proc"), Bind(pathlib.Path("/proc"), "proc", writable=True), Folder("dev"), Folder("dev/shm", 0o1777)]
    steps += [Bind(pathlib.Path("/dev") / name, f"dev/{name}", writable=True) for name in DEVICES if (pathlib.Path("/dev") / name).exists()]
    if pathlib.Path("/dev/pts").is_dir():
        steps += [Bind(pathlib.Path("/dev/pts"), "dev/pts", writable=True), Link("dev/ptmx", "pts/ptmx")]
    steps += [Link("dev/fd", "/proc/self/fd")]
    steps += [Link(f"dev/{name}", f"/proc/self/fd/{fd}") for fd, name in enumerate(("stdin", "stdout", "stderr"))]
    steps += [Folder("sys/devices"), Bind(pathlib.Path("/sys/devices/system"), "sys/devices/system")]
    return steps
