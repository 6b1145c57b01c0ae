# SPDX-License-Identifier: Apache-2.0
"""Puts the locked /usr in place of the machine's, for this process and its children only."""

import ctypes
import os
from pathlib import Path

from errors import LauncherError

# From linux/sched.h and linux/mount.h.
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_RDONLY = 1
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_SLAVE = 1 << 19

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise LauncherError(
            f"{what}: {os.strerror(number)}\n"
            "  Bazel's userland is mounted over /usr in a private mount namespace. Allow unprivileged user namespaces\n"
            "  (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), run as root,\n"
            "  or set BAZEL to a Bazel of the version in .bazelversion."
        )


def _mount(source: str, target: str, flags: int) -> None:
    _check(_libc.mount(source.encode(), target.encode(), None, flags, None), f"mount {source} on {target}")


def enter(usr: Path) -> None:
    """Unshares the mount namespace (and, unprivileged, a user namespace with the same ids) and mounts `usr` on /usr."""
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNS if uid == 0 else CLONE_NEWNS | CLONE_NEWUSER
    where = os.getcwd()
    _check(_libc.unshare(flags), "unshare")
    if uid != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    for folder in ("/bin", "/lib", "/lib64", "/sbin"):
        if not os.path.islink(folder):
            raise LauncherError(f"{folder} is no link into /usr (a system before the /usr merge); set BAZEL to a Bazel of the version in .bazelversion")
    _mount("none", "/", MS_REC | MS_SLAVE)
    _mount(str(usr), "/usr", MS_BIND | MS_REC)
    _mount("none", "/usr", MS_BIND | MS_REMOUNT | MS_RDONLY | _locked_flags("/usr"))
    os.chdir(where)


def _locked_flags(target: str) -> int:
    """Mount flags that a remount in a user namespace has to repeat (nosuid, nodev, noexec, relatime...)."""
    flags = os.statvfs(target).f_flag
    kept = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME
    return flags & kept | (1 << 21 if flags & os.ST_RELATIME else 0)  # 1<<21: MS_RELATIME
