# SPDX-License-Identifier: Apache-2.0
"""BuildGrid and its database on this machine."""

from __future__ import annotations

import dataclasses
import socket
import string
from pathlib import Path

from ci.remote.errors import FleetError
from ci.remote.parts import Parts
from ci.remote.sandbox import UID, Root, Trees, command

_POSTGRES = "/usr/lib/postgresql/18/bin"
_CONNECTION = "postgresql+psycopg:///postgres?host=/database&user=fleet"
_SITE = "/python/usr/local/lib/python3.14/dist-packages"
_BGD = ("/usr/bin/python3.14", "-B", "/python/usr/local/bin/bgd")
# What is lost with the machine is only a cache.
_SETTINGS = {"listen_addresses": "", "unix_socket_directories": "/database", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_START = 600.0  # a machine that is busy otherwise


@dataclasses.dataclass(frozen=True)
class Service:
    """Where it listens and keeps its files."""

    trees: Trees
    folder: Path
    port: int

    @property
    def endpoint(self) -> str:
        """As Bazel's --remote_executor and --remote_cache take it."""
        return f"grpc://127.0.0.1:{self.port}"


def listens(port: int) -> bool:
    """Whether something answers at the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def start(parts: Parts, service: Service) -> None:
    """Database, then BuildGrid; returns when it takes connections. Nobody else uses the folder."""
    if listens(service.port):
        raise FleetError(f"port {service.port} is taken", "choose another: --port")
    _start_database(parts, service)
    configuration = service.folder / "buildgrid.yml"
    template = string.Template(Path(__file__).with_name("buildgrid.yml").read_text(encoding="utf-8"))
    configuration.write_text(template.substitute(port=service.port), encoding="utf-8")
    storage = service.folder / "cas"
    storage.mkdir(exist_ok=True)
    root = Root(
        tree=service.trees.exec,
        shown={"/python": service.trees.python, "/etc/buildgrid.yml": configuration},
        writable={"/database": service.folder / "database", "/cas": storage},
        variables={"PYTHONPATH": _SITE},
    )
    parts.run("migrate", command(service.trees.fleet, root, [*_BGD, "migrate", "apply", _CONNECTION]))
    parts.start("buildgrid", command(service.trees.fleet, root, [*_BGD, "server", "start", "/etc/buildgrid.yml"]))
    parts.wait_for("buildgrid", lambda: listens(service.port), _START)


def _start_database(parts: Parts, service: Service) -> None:
    database = service.folder / "database"
    database.mkdir(exist_ok=True)
    accounts = service.folder / "passwd"
    accounts.write_text(f"fleet:x:{UID}:{UID}::/:/bin/sh\n", encoding="utf-8")
    root = Root(tree=service.trees.fleet, shown={"/etc/passwd": accounts}, writable={"/database": database}, user=True)
    if not (database / "data/PG_VERSION").exists():
        options = ["--pgdata=/database/data", "--username=fleet", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8"]
        parts.run("initdb", command(service.trees.fleet, root, [f"{_POSTGRES}/initdb", *options]))
    socket_file = database / ".s.PGSQL.5432"
    # What a run that was killed left; the caller holds the folder's lock.
    for left in (socket_file, database / ".s.PGSQL.5432.lock", database / "data/postmaster.pid"):
        left.unlink(missing_ok=True)
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    parts.start("postgres", command(service.trees.fleet, root, [f"{_POSTGRES}/postgres", "-D", "/database/data", *settings]))
    parts.wait_for("postgres", socket_file.exists, _START)
