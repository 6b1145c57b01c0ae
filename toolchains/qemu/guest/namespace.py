# SPDX-License-Identifier: Apache-2.0
"""The private user and mount namespace whose root is the guest.

Everything happens in a forked child: the caller's mounts are never touched, and nothing is unmounted or deleted on the way out, because the
namespace and its tmpfs vanish with the last process in it. Plain system calls by ctypes: the host's Python may be older than os.unshare.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pathlib
import platform
import resource

from guest import root
from guest.errors import GuestError

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_SLAVE = 0x80000
_MS_NOSUID = 0x2
_MNT_DETACH = 2
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 1
_SYS_PIVOT_ROOT = 155  # x86-64
_SYS_MOUNT_SETATTR = 442
_CAP_SETGID = 6
_CAP_SETUID = 7
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Where the new root is built: a folder that every machine has and that is nobody's current folder. Only this namespace sees it covered.
_BUILD_PLACE = "/sys"

_libc = ctypes.CDLL(None, use_errno=True)

NAMESPACE_REMEDY = (
    "unprivileged user namespaces must be on: as root, `sysctl -w user.max_user_namespaces=15000`; where they exist also"
    " `kernel.unprivileged_userns_clone=1` (Debian) and `kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container,"
    " allow unshare and mount (`--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`)"
)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def check_machine() -> None:
    """System call numbers and the launcher are those of x86-64 Linux."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise GuestError(f"this machine is {platform.system()} on {platform.machine()}", "run the guest on x86-64 Linux")


def unshare(network: bool) -> None:
    """Enters new user and mount namespaces; without network, also a network namespace of its own."""
    flags = _CLONE_NEWUSER | _CLONE_NEWNS | (0 if network else _CLONE_NEWNET)
    try:
        _check(_libc.unshare(flags), "unshare")
    except OSError as error:
        raise GuestError(f"this machine refuses private namespaces ({error.strerror})", NAMESPACE_REMEDY) from error


def write_id_maps(pid: int) -> None:
    """Maps the child's user and group ids: to themselves, all of them where the caller may, else the caller's own."""
    proc = pathlib.Path("/proc") / str(pid)
    capabilities = _effective_capabilities()
    if capabilities >> _CAP_SETUID & 1 and capabilities >> _CAP_SETGID & 1:
        for kind in ("uid_map", "gid_map"):
            (proc / kind).write_text(_identity_map(pathlib.Path("/proc/self", kind).read_text(encoding="ascii")), encoding="ascii")
        return
    (proc / "setgroups").write_text("deny", encoding="ascii")
    (proc / "uid_map").write_text(f"{os.geteuid()} {os.geteuid()} 1\n", encoding="ascii")
    (proc / "gid_map").write_text(f"{os.getegid()} {os.getegid()} 1\n", encoding="ascii")


def _identity_map(own_map: str) -> str:
    """The map that keeps every id of a namespace whose own map is given."""
    rows = [line.split() for line in own_map.splitlines()]
    return "".join(f"{inside} {inside} {count}\n" for inside, _, count in rows)


def _effective_capabilities() -> int:
    for line in pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    raise GuestError("/proc/self/status has no CapEff line", "mount /proc")


def become_subreaper() -> None:
    """Orphans among the descendants come to this process, which ends them with the guest."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def die_with_parent(signal_number: int) -> None:
    """The guest does not outlive a runner that was killed."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def loopback_up() -> None:
    """A network namespace of one's own starts with the loopback interface down; torch.distributed needs it."""
    import fcntl
    import socket
    import struct

    siocsifflags, iff_up = 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, siocsifflags, struct.pack("16sh14x", b"lo", iff_up))


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    _check(
        _libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), data.encode() if data else None),
        f"mount {source} on {target}",
    )


def _read_only(target: str) -> None:
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    _check(
        _libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, target.encode(), _AT_RECURSIVE, ctypes.byref(attributes), ctypes.sizeof(attributes)),
        f"mount_setattr {target}",
    )


def _bind(step: root.Bind, source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(source, target, None, _MS_BIND | _MS_REC)
    if not step.writable:
        _read_only(target)


def _apply(step: root.Step, base: str, launcher: str, sources: dict[pathlib.Path, int]) -> None:
    target = f"{base}/{step.path}"
    match step:
        case root.Folder(mode=mode):
            os.makedirs(target, exist_ok=True)
            os.chmod(target, mode)
        case root.Link(target=destination):
            os.symlink(destination, target)
        case root.Text(text=text):
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
        case root.Launcher():
            os.link(launcher, target)
        case root.Bind(source=source):
            _bind(step, f"/proc/self/fd/{sources[source]}", target)


def _open_sources(steps: list[root.Step]) -> dict[pathlib.Path, int]:
    """Handles on everything that is mounted: the new root covers the place where it is built."""
    sources: dict[pathlib.Path, int] = {}
    for step in steps:
        if isinstance(step, root.Bind) and step.source not in sources:
            try:
                sources[step.source] = os.open(step.source, os.O_PATH | os.O_CLOEXEC)
            except OSError as error:
                raise GuestError(f"cannot show {step.source} in the guest: {error.strerror}", "give a path that exists") from error
    return sources


def enter_root(tree: root.Tree, steps: list[root.Step]) -> None:
    """Builds the root as a tmpfs that only this namespace sees, and moves into it."""
    _mount("none", "/", None, _MS_REC | _MS_SLAVE)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files[1], files[1]))  # a handle for each mount, some hundred
    sources = _open_sources(steps)
    launcher_code = tree.launcher.read_bytes()
    base = _BUILD_PLACE
    try:
        _mount("guest", base, "tmpfs", _MS_NOSUID, "mode=755")
    except OSError as error:
        refused = error.errno in (errno.EPERM, errno.EACCES)
        raise GuestError(f"this machine refuses mounts in a private namespace ({error.strerror})", NAMESPACE_REMEDY if refused else "see above") from error
    os.umask(0o022)
    os.makedirs(f"{base}/guest", exist_ok=True)
    launcher = f"{base}/guest/launcher"
    with open(launcher, "wb") as file:
        file.write(launcher_code)
    os.chmod(launcher, 0o755)
    for step in steps:
        _apply(step, base, launcher, sources)
    for handle in sources.values():
        os.close(handle)
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
    os.chdir(base)
    _check(_libc.syscall(_SYS_PIVOT_ROOT, b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount of the old root")
    os.chdir("/")
