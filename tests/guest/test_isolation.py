# SPDX-License-Identifier: Apache-2.0
"""The guest sees its own userland and the folders that it is shown; the host stays as it was."""

from __future__ import annotations

import ctypes
import os
import pathlib

import pytest
from conftest import Guest

CLONE_NEWUSER = 0x10000000


def test_hosts_userland_is_invisible(guest: Guest) -> None:
    shown = guest.output("sh", "-c", "ls -d /usr/lib/x86_64-linux-gnu /lib64 /boot /opt /srv 2>/dev/null; true")
    assert shown == ""


def test_top_folders_are_the_guests_and_the_current_one(guest: Guest) -> None:
    expected = {"bin", "dev", "etc", "guest", "lib", "proc", "run", "sbin", "sys", "tmp", "usr", "var"}
    assert set(guest.output("ls", "/").split()) == expected | {guest.folder.parts[1]}


def test_guests_usr_cannot_be_written(guest: Guest) -> None:
    done = guest.run("sh", "-c", "echo x > /usr/lib/python3.14/os.py")
    assert done.returncode != 0 and "Read-only file system" in done.stderr


def test_folder_beside_the_current_one_is_invisible(guest: Guest, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    assert guest.run("test", "-e", str(other)).returncode == 1


def test_folder_option_shows_a_folder_at_its_own_path(guest: Guest, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    guest.output("--folder", str(other), "sh", "-c", f"echo x > {other}/file")
    assert (other / "file").read_text() == "x\n"


def test_folder_option_names_a_missing_folder(guest: Guest) -> None:
    done = guest.run("--folder", "/no/such/folder", "true")
    assert done.returncode != 0 and "/no/such/folder" in done.stderr and "remedy:" in done.stderr


def test_folder_under_the_guests_own_is_refused(guest: Guest) -> None:
    done = guest.run("--folder", "/usr/share", "true")
    assert done.returncode == 2 and "/usr/share cannot be shown in the guest" in done.stderr


def test_hosts_mounts_are_unchanged(guest: Guest) -> None:
    mounts = pathlib.Path("/proc/self/mountinfo")
    before = mounts.read_text()
    guest.output("true")
    assert mounts.read_text() == before


def test_files_in_the_guests_tmp_are_gone_afterwards(guest: Guest) -> None:
    name = f"/tmp/guest-test-{os.getpid()}"
    guest.output("touch", name)
    assert not pathlib.Path(name).exists()


def test_no_network_leaves_only_loopback(guest: Guest) -> None:
    shown = guest.output("--no-network", "cat", "/proc/net/dev")
    assert [line.split(":")[0].strip() for line in shown.splitlines()[2:]] == ["lo"]


def test_loopback_works_without_network(guest: Guest) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); s.accept()[0].sendall(b'x');print(c.recv(1))"
    )
    assert guest.output("--no-network", "python3", "-c", code) == "b'x'\n"


def _forbid_user_namespaces() -> None:
    """In the child before exec: a user namespace in which no further one may be made."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "unshare")
    pathlib.Path("/proc/self/setgroups").write_text("deny")
    pathlib.Path("/proc/self/uid_map").write_text(f"0 {uid} 1\n")
    pathlib.Path("/proc/self/gid_map").write_text(f"0 {gid} 1\n")
    pathlib.Path("/proc/sys/user/max_user_namespaces").write_text("0\n")


def test_machine_without_user_namespaces_gets_the_remedy(guest: Guest) -> None:
    done = guest.run("true", preexec_fn=_forbid_user_namespaces)
    assert done.returncode == 125 and "refuses private namespaces" in done.stderr and "user.max_user_namespaces" in done.stderr
