# SPDX-License-Identifier: Apache-2.0
"""GitHub's releases, as far as ci/release calls them, on a port of this machine. Keeps what it is given and counts what it is asked."""

from __future__ import annotations

import hashlib
import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "made-token"
PATH = "/repos/made/vllm-sm10/releases"


class Releases(ThreadingHTTPServer):
    """The server's state: releases as GitHub's REST API shows them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.releases: list[dict[str, Any]] = []
        self.writes: list[str] = []  # POST, PATCH and DELETE requests
        self.break_upload_of = ""  # answers 502 to the upload of this file, and keeps a starter as GitHub does
        self.last_id = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def number(self) -> int:
        self.last_id += 1
        return self.last_id

    def add(self, tag: str, *, draft: bool = False) -> dict[str, Any]:
        number = self.number()
        upload = f"{self.address}{PATH}/{number}/assets{{?name,label}}"
        self.releases.append({"assets": [], "body": "", "draft": draft, "id": number, "tag_name": tag, "upload_url": upload})
        return self.releases[-1]

    def add_asset(self, release: dict[str, Any], name: str, data: bytes, state: str = "uploaded") -> None:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}" if state == "uploaded" else None
        release["assets"].append({"digest": digest, "id": self.number(), "name": name, "state": state})


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Releases

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _answer(self, code: int, body: object = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _allowed(self) -> bool:
        if self.headers["Authorization"] == f"Bearer {TOKEN}":
            return True
        self._answer(401, {"message": "Bad credentials"})
        return False

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def do_GET(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        if self._allowed():
            size, page = int(query["per_page"][0]), int(query["page"][0])
            self._answer(200, self.server.releases[size * (page - 1) : size * page])

    def do_POST(self) -> None:
        body = self._body()
        if not self._allowed():
            return
        url = urllib.parse.urlsplit(self.path)
        self.server.writes.append(f"POST {url.path.removeprefix(PATH)}")
        if url.path == PATH:
            asked = json.loads(body)
            release = self.server.add(asked["tag_name"], draft=asked["draft"])
            release["body"] = asked["body"]
            self._answer(201, release)
            return
        release = next(release for release in self.server.releases if url.path == f"{PATH}/{release['id']}/assets")
        name = urllib.parse.parse_qs(url.query)["name"][0]
        if any(asset["name"] == name for asset in release["assets"]):
            self._answer(422, {"message": "already_exists"})
        elif name == self.server.break_upload_of:
            self.server.add_asset(release, name, body, "starter")
            self._answer(502)
        else:
            self.server.add_asset(release, name, body)
            self._answer(201, release["assets"][-1])

    def do_PATCH(self) -> None:
        body = self._body()
        if self._allowed():
            self.server.writes.append(f"PATCH {self.path.removeprefix(PATH)}")
            release = next(release for release in self.server.releases if self.path == f"{PATH}/{release['id']}")
            release |= json.loads(body)
            self._answer(200, release)

    def do_DELETE(self) -> None:
        if self._allowed():
            self.server.writes.append(f"DELETE {self.path.removeprefix(PATH)}")
            number = int(self.path.rpartition("/")[2])
            for release in self.server.releases:
                release["assets"] = [asset for asset in release["assets"] if asset["id"] != number]
            self._answer(204)


@contextmanager
def running() -> Iterator[Releases]:
    """A server that ends with the block."""
    server = Releases()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
