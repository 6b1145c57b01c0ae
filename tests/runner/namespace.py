# SPDX-License-Identifier: Apache-2.0
"""Runs a function where it may mount and where it sees its own processes only."""

from __future__ import annotations

import ctypes
import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path

# mount(2)
MS_REC, MS_BIND, MS_PRIVATE = 0x4000, 0x1000, 0x40000
# The user's number in there, as a runner's would be: not root's.
UID = 1000

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: Path | str, kind: str = "", flags: int = 0) -> None:
    """mount(2)."""
    if _libc.mount(source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), f"mount {source} {target}: {os.strerror(ctypes.get_errno())}")


def _child(write: int, work: Callable[[], str]) -> None:
    try:
        text = "ok " + work()
    except Exception:  # noqa: BLE001 - the test prints it
        text = "error " + traceback.format_exc()
    os.write(write, text.encode()[:60000])
    os._exit(0)


def _inside(write: int, work: Callable[[], str]) -> None:
    uid, gid = os.getuid(), os.getgid()
    os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS | os.CLONE_NEWPID)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{UID} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{UID} {gid} 1", encoding="ascii")
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    child = os.fork()
    if not child:
        # A process that never ends would take all of its namespace with it: nothing may hang.
        signal.alarm(60)
        mount("proc", "/proc", "proc")
        _child(write, work)
    os.waitpid(child, 0)


def run(work: Callable[[], str]) -> str:
    """What a function returned, called by the first process of new user, mount and pid namespaces, as user UID.

    Raises:
      AssertionError: it did not return.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(60)
        os.close(read)
        try:
            _inside(write, work)
        except Exception:  # noqa: BLE001 - the test prints it
            os.write(write, ("error " + traceback.format_exc()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(child, 0)
    assert text.startswith("ok "), text or "ended without a word"
    return text.removeprefix("ok ")
