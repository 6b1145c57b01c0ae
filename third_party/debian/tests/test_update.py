# SPDX-License-Identifier: Apache-2.0
"""The lock is made from the packages of the suite that each is requested from."""

from third_party.debian.lock.index import Index
from third_party.debian.lock.lockfile import LockRow
from third_party.debian.lock.requests import Requests, SetRequest
from third_party.debian.lock.update import build_index, close_sets, lock_rows

SNAPSHOTS = {"forky": "20261030T080801Z", "trixie": "20261121T091544Z"}
EXEC = SetRequest("exec", "amd64", ("gcc", "qemu-user"), frozenset())
GUEST = SetRequest("guest", "riscv64", ("gcc",), frozenset())
TOOLS = SetRequest("tools", "amd64", ("gcc",), frozenset())
REQUESTS = Requests("forky", {"qemu-user": "trixie"}, frozenset(), (EXEC, GUEST, TOOLS))


def read_index(suite: str, architecture: str) -> str:
    version = {"forky": "11", "trixie": "10"}[suite]
    return "\n".join(
        f"Package: {name}\nVersion: {version}\nFilename: pool/{name}_{version}_{architecture}.deb\nSHA256: {'a' * 64}\nSize: 7\n"
        for name in ("gcc", "qemu-user")
    )


def indices() -> dict[str, Index]:
    return {architecture: build_index(REQUESTS, architecture, read_index) for architecture in REQUESTS.architectures()}


def rows() -> list[LockRow]:
    return lock_rows(REQUESTS, close_sets(REQUESTS, indices()), SNAPSHOTS)[0]


def row(arch: str, name: str) -> LockRow:
    return next(entry for entry in rows() if (entry.arch, entry.package) == (arch, name))


def test_package_comes_from_the_default_suite() -> None:
    assert row("amd64", "gcc").suite == "forky"


def test_package_comes_from_its_own_suite() -> None:
    assert row("amd64", "qemu-user").version == "10"


def test_snapshot_is_that_of_the_suite() -> None:
    assert row("amd64", "qemu-user").snapshot == "20261121T091544Z"


def test_package_of_two_sets_is_one_row() -> None:
    assert row("amd64", "gcc").sets == "exec,tools"


def test_architectures_are_apart() -> None:
    assert row("riscv64", "gcc").path == "pool/gcc_11_riscv64.deb"
