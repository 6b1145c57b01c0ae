# SPDX-License-Identifier: Apache-2.0
"""The client against a server that behaves in a made way; vLLM's own server is tests/throughput's."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ci.bench.errors import BenchError
from ci.bench.openai_client import Endpoint


def events(*objects: object, done: bool = True) -> bytes:
    """A stream of server-sent events."""
    lines = [f"data: {json.dumps(item)}\n\n" for item in objects] + (["data: [DONE]\n\n"] if done else [])
    return "".join(lines).encode()


TOKEN = {"choices": [{"text": "x"}], "usage": None}
USAGE = {"choices": [], "usage": {"completion_tokens": 2}}


@contextlib.contextmanager
def server(status: int, body: bytes) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield Endpoint("127.0.0.1", made.server_port, "m", 10)
        finally:
            made.shutdown()
            thread.join()


def test_a_whole_stream_is_timed() -> None:
    with server(200, events(TOKEN, TOKEN, USAGE)) as endpoint:
        timing = endpoint.complete([1, 2], 2)
    assert timing.tokens == 2
    assert 0 < timing.first <= timing.total


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (200, events(TOKEN, USAGE | {"usage": {"completion_tokens": 1}}), "1 tokens came and not 2"),
        (200, events(TOKEN, TOKEN, done=False), r"ended without \[DONE\]"),
        (200, events({"error": {"message": "engine died"}}), "engine died"),
        (400, b"max_tokens is too large", "answered 400: max_tokens is too large"),
        (200, events(), "0 tokens came and not 2"),
    ],
)
def test_anything_else_is_an_error(status: int, body: bytes, text: str) -> None:
    with server(status, body) as endpoint, pytest.raises(BenchError, match=text):
        endpoint.complete([1, 2], 2)


def test_nobody_listening_is_an_error() -> None:
    with server(200, b"") as endpoint:
        pass
    with pytest.raises(BenchError, match="/v1/completions: "):
        endpoint.complete([1], 2)


def test_nobody_listening_is_not_healthy() -> None:
    with server(200, b"") as endpoint:
        pass
    assert not endpoint.healthy()
