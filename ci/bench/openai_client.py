# SPDX-License-Identifier: Apache-2.0
"""The few requests that a benchmark sends to an OpenAI-compatible server, with times. Standard library only: it runs on the board."""

from __future__ import annotations

import dataclasses
import http.client
import json
import time
from typing import Any

from .errors import BenchError


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds from sending to the first and to the last token, and how many there were."""

    first: float
    total: float
    tokens: int


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A server. `limit`: seconds that it may be silent."""

    host: str
    port: int
    model: str
    limit: float

    def healthy(self) -> bool:
        """Does it answer /health with 200?"""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def tokenize(self, text: str) -> list[int]:
        """Token ids without special tokens."""
        connection, response = self._post("/tokenize", {"add_special_tokens": False, "model": self.model, "prompt": text})
        try:
            return list(json.loads(response.read())["tokens"])
        except (KeyError, ValueError) as error:
            raise BenchError(f"{self.model}: /tokenize gave no tokens ({error})\n  remedy: is it vLLM's server?") from error
        finally:
            connection.close()

    def complete(self, prompt: list[int], tokens: int) -> Timing:
        """One streamed completion of exactly `tokens` tokens at temperature 0."""
        body = {
            "ignore_eos": True,
            "max_tokens": tokens,
            "model": self.model,
            "prompt": prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
        }
        start = time.perf_counter()
        connection, response = self._post("/v1/completions", body)
        try:
            return self._timing(response, start, tokens)
        except OSError as error:
            raise BenchError(f"{self.model}: the server went silent: {error}\n  remedy: a larger --limit, or see its log") from error
        finally:
            connection.close()

    def _timing(self, response: http.client.HTTPResponse, start: float, tokens: int) -> Timing:
        first = last = None
        counted = 0
        for event in _events(response):
            if "error" in event:
                raise BenchError(f"{self.model}: the server answered with an error: {json.dumps(event['error'])[:500]}")
            if event.get("choices"):
                last = time.perf_counter()
                # A token may be no text yet (half a character); its chunk comes all the same.
                first = first or last
            counted = (event.get("usage") or {}).get("completion_tokens", counted)
        if first is None or last is None or counted != tokens:
            raise BenchError(f"{self.model}: {counted} tokens came and not {tokens}\n  remedy: does the model allow the prompt and {tokens} more?")
        return Timing(first - start, last - start, counted)

    def _post(self, path: str, body: dict[str, Any]) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.limit)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
        except OSError as error:
            connection.close()
            raise BenchError(f"{self.model}: {path}: {error}\n  remedy: a larger --limit, or see the server's log") from error
        if response.status != 200:
            text = response.read().decode("utf-8", "replace")[:500]
            connection.close()
            raise BenchError(f"{self.model}: {path} answered {response.status}: {text}")
        return connection, response


def _events(response: http.client.HTTPResponse) -> Any:
    """The JSON objects of a stream of server-sent events up to [DONE]."""
    for line in response:
        text = line.decode("utf-8").strip()
        if not text.startswith("data:"):
            continue
        payload = text.removeprefix("data:").strip()
        if payload == "[DONE]":
            return
        yield json.loads(payload)
    raise BenchError("the stream ended without [DONE]\n  remedy: see the server's log")
