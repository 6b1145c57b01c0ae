# SPDX-License-Identifier: Apache-2.0
"""Namespaces of one job: what its processes see of network, host name, files and users."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import poison

from ci.isolated.errors import Finding, JobError

# linux/sockios.h, net/if.h
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
NOBODY = 65534


@dataclass(frozen=True)
class World:
    """network: whether the machine's is seen. hostname: empty for the machine's. traps: in place of host headers and libraries (tests/toolchains/poison.py).
    memory: folders that get a file system in memory, whose folders list in another order. user: to run as; None for the caller. umask: of new files.
    """

    network: bool = True
    hostname: str = ""
    traps: bool = False
    memory: tuple[Path, ...] = ()
    user: int | None = None
    umask: int = 0o022


def is_real_root() -> bool:
    """Root of the machine, not of a user namespace that knows no other user."""
    return os.getuid() == 0 and Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]


def _unshare(world: World) -> None:
    uid, gid = os.getuid(), os.getgid()
    flags = os.CLONE_NEWNS | (0 if world.network else os.CLONE_NEWNET) | (os.CLONE_NEWUTS if world.hostname else 0)
    root = is_real_root()
    try:
        os.unshare(flags if root else flags | os.CLONE_NEWUSER)
    except OSError as error:
        raise JobError(
            f"unshare: {error.strerror}\n  remedy: allow user namespaces (sysctl user.max_user_namespaces, "
            "on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root"
        ) from error
    if not root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def _raise_loopback() -> None:
    """Bazel's client speaks to its server over it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(control, SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))


def _enter(world: World) -> None:
    _unshare(world)
    poison.mount("none", Path("/"), None, poison.MS_REC | poison.MS_PRIVATE)
    if not world.network:
        _raise_loopback()
    if world.hostname:
        socket.sethostname(world.hostname)
    where = os.getcwd()
    if world.traps:
        stage = Path(tempfile.mkdtemp(prefix="traps-"))  # stays behind as an empty folder: the mount on it ends with these processes
        poison.mount("tmpfs", stage, "tmpfs", 0)
        poison.mount(str(poison.poisoned_usr(stage)), Path("/usr"), None, poison.MS_BIND | poison.MS_REC)
    for folder in world.memory:
        poison.mount("tmpfs", folder, "tmpfs", 0)
        if world.user is not None:
            os.chown(folder, world.user, world.user)
    os.chdir(where)
    os.umask(world.umask)
    if world.user is not None:
        if not is_real_root():
            raise JobError("another user can be taken by root only; run the job as root, or let it keep the user")
        os.setgroups([])
        os.setresgid(world.user, world.user, world.user)
        os.setresuid(world.user, world.user, world.user)


def run_in(world: World, work: Callable[[], None]) -> None:
    """Runs `work` in a child process in that world.

    Raises:
      Finding: with the text of the child's.
      JobError: the child could not do it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        kind, text = "done", ""
        try:
            _enter(world)
            work()
        except Finding as finding:
            kind, text = "finding", str(finding)
        except JobError as error:
            kind, text = "error", str(error)
        except BaseException:  # whatever it is, the parent has to be told
            kind, text = "error", traceback.format_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(f"{kind}\n{text}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        kind, _, text = pipe.read().decode().partition("\n")
    status = os.waitpid(child, 0)[1]
    if kind == "finding":
        raise Finding(text)
    if kind != "done":
        raise JobError(text or f"the job's process ended with status {os.waitstatus_to_exitcode(status)}")
