# SPDX-License-Identifier: Apache-2.0
"""usage: poison.py COMMAND... : runs COMMAND where every header and library that a host could have is a trap.

Below a private mount namespace, /usr/include and /usr/local hold headers that end a compilation and /usr/lib/gcc and the
riscv64 library folder hold rubbish; programs stay.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000  # linux/sched.h
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18  # linux/mount.h

HEADERS = ("stdio.h", "stdlib.h", "stdint.h", "features.h", "bits/types.h", "iostream", "vector", "cstdio", "riscv_vector.h", "omp.h")
LIBRARIES = ("libc.so", "libc.a", "libm.so", "libstdc++.so", "libgcc.a", "libgcc_s.so", "crt1.o", "Scrt1.o", "crti.o")
HEADER_FOLDERS = ("include", "include/c++/15", "include/riscv64-linux-gnu", "include/x86_64-linux-gnu", "local/include")
LIBRARY_FOLDERS = ("lib/riscv64-linux-gnu", "lib/gcc/riscv64-linux-gnu/15", "lib/gcc-cross/riscv64-linux-gnu/15", "riscv64-linux-gnu/lib")

_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Ends the program when a system call failed."""
    if result:
        sys.exit(f"poison: {what}: {os.strerror(ctypes.get_errno())}")


def mount(source: str, target: Path, kind: str | None, flags: int) -> None:
    """mount(2)."""
    check(_libc.mount(source.encode(), os.fsencode(target), kind.encode() if kind else None, flags, None), f"mount on {target}")


def poisoned_usr(stage: Path) -> Path:
    """A /usr whose folders are the machine's, with the traps in place of what compilers look for."""
    usr = stage / "usr"
    traps = {*HEADER_FOLDERS, *LIBRARY_FOLDERS}
    top = {trap.split("/")[0] for trap in traps} - {"lib"}
    usr.mkdir()
    for entry in Path("/usr").iterdir():
        if entry.name in top or entry.is_symlink() or not entry.is_dir():
            continue
        (usr / entry.name).mkdir()
        if entry.name != "lib":
            mount(str(entry), usr / entry.name, None, MS_BIND | MS_REC)
    for entry in Path("/usr/lib").iterdir():
        if entry.name in {"riscv64-linux-gnu", "gcc", "gcc-cross"}:
            continue
        target = usr / "lib" / entry.name
        if entry.is_symlink():
            target.symlink_to(os.readlink(entry))
        elif entry.is_dir():
            target.mkdir()
            mount(str(entry), target, None, MS_BIND | MS_REC)
    if Path("/usr/lib64").is_symlink():
        (usr / "lib64").symlink_to(os.readlink("/usr/lib64"))
    for folder in HEADER_FOLDERS:
        for name in HEADERS:
            write(usr / folder / name, f'#error "host header {folder}/{name} was used"\n')
    for folder in LIBRARY_FOLDERS:
        for name in LIBRARIES:
            write(usr / folder / name, "rubbish of the host\n")
    return usr


def write(path: Path, text: str) -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main(command: list[str]) -> int:
    """Exit code of the command."""
    uid, gid, where = os.getuid(), os.getgid(), os.getcwd()
    check(_libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    mount("none", Path("/"), None, MS_REC | MS_PRIVATE)
    stage = Path(tempfile.mkdtemp())  # stays behind as an empty folder: the mount on it ends with this process
    mount("tmpfs", stage, "tmpfs", 0)
    mount(str(poisoned_usr(stage)), Path("/usr"), None, MS_BIND | MS_REC)
    if "was used" not in Path("/usr/include/stdio.h").read_text():
        sys.exit("poison: the trap is not in place")
    os.chdir(where)
    return subprocess.run(command).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        raise SystemExit(2)
    raise SystemExit(main(sys.argv[1:]))
