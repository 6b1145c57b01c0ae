# SPDX-License-Identifier: Apache-2.0
"""Serving through the OpenAI endpoint: requests/s and latencies at 1, 4 and 8 concurrent streams.

Each stream sends its requests one after the other (closed loop), 128 prompt tokens, 32 new ones at temperature 0. A run is all streams
together; its percentiles are over the requests of that run.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from . import openai_client
from .errors import BenchError
from .generation import MAX_MODEL_LEN, NEW_TOKENS, PROMPT_TOKENS
from .generation_child import PHRASE
from .models import KV_CACHE_BYTES, Subject
from .samples import Runner

STREAMS = (1, 4, 8)
PERCENTILES = (50, 90, 99)
_TAIL = 4000


def percentile(values: list[float], percent: int) -> float:
    """The nearest-rank percentile: always one of the values."""
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def unit(metric: str) -> str:
    """requests/s, or ms of a latency."""
    return "requests/s" if metric.endswith("/requests") else "ms"


def summary(timings: list[openai_client.Timing], seconds: float, prefix: str) -> dict[str, float]:
    """The metrics of a run of all streams."""
    kinds = {
        "first": [timing.first for timing in timings],
        "latency": [timing.total for timing in timings],
        "token": [(timing.total - timing.first) / (timing.tokens - 1) for timing in timings],
    }
    found = {f"{prefix}/{kind}-p{percent}": 1000 * percentile(values, percent) for kind, values in kinds.items() for percent in PERCENTILES}
    return found | {f"{prefix}/requests": len(timings) / seconds}


def command(subject: Subject, python: Path, port: int) -> list[str]:
    """`vllm serve` of the wheel that this Python has."""
    engine = [word for name, value in subject.way.engine.items() for word in (f"--{name}", value)]
    fixed = ["--enforce-eager", "--no-enable-prefix-caching", "--max-model-len", str(MAX_MODEL_LEN), "--max-num-seqs", str(max(STREAMS))]
    fixed += ["--kv-cache-memory-bytes", str(KV_CACHE_BYTES)]
    place = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", subject.model]
    return [str(python), "-m", "vllm.entrypoints.cli.main", "serve", str(subject.folder), *engine, *fixed, *place]


def free_port() -> int:
    """A port of the loopback device that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """`vllm serve` as a context manager: ready when entered, ended with its children when left."""

    def __init__(self, subject: Subject, python: Path, environment: Mapping[str, str], limit: float) -> None:
        self._subject, self._python, self._environment, self._limit = subject, python, environment, limit

    def __enter__(self) -> openai_client.Endpoint:
        self._log = tempfile.TemporaryFile()
        port = free_port()
        try:
            self._process = subprocess.Popen(
                command(self._subject, self._python, port),
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            raise BenchError(f"{self._python}: {error.strerror}\n  remedy: name the Python of the venv that holds the wheel") from error
        endpoint = openai_client.Endpoint("127.0.0.1", port, self._subject.model, self._limit)
        deadline = time.monotonic() + self._limit
        try:
            while not endpoint.healthy():
                if self._process.poll() is not None:
                    raise BenchError(f"{self._subject.name}: `vllm serve` ended with {self._process.returncode}:\n{self._tail()}")
                if time.monotonic() > deadline:
                    raise BenchError(f"{self._subject.name}: `vllm serve` was not ready in {self._limit:g} s:\n{self._tail()}")
                time.sleep(0.5)
        except BaseException:
            self._end()
            raise
        return endpoint

    def __exit__(self, *_: object) -> None:
        self._end()

    def _tail(self) -> str:
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - _TAIL))
        return self._log.read().decode("utf-8", "replace")

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            pass
        # Its engine is a child; a session of its own, so that none of them stays.
        try:
            os.killpg(self._process.pid, 9)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._log.close()


def _burst(endpoint: openai_client.Endpoint, prompt: list[int], streams: int, requests: int) -> tuple[list[openai_client.Timing], float]:
    """All streams at once; their requests' timings and the seconds that all took."""

    def stream(_: int) -> list[openai_client.Timing]:
        return [endpoint.complete(prompt, NEW_TOKENS) for _ in range(requests)]

    start = time.perf_counter()
    with ThreadPoolExecutor(streams) as pool:
        timings = [timing for of_stream in pool.map(stream, range(streams)) for timing in of_stream]
    return timings, time.perf_counter() - start


@contextmanager
def server(subject: Subject, python: Path, environment: Mapping[str, str], limit: float, requests: int, streams: tuple[int, ...] = STREAMS) -> Iterator[Runner]:
    """A server of its own for one subject; each call is a run at each number of streams."""
    subject.check()
    with Server(subject, python, environment, limit) as endpoint:
        ids = endpoint.tokenize(PHRASE)
        prompt = (ids * (PROMPT_TOKENS // len(ids) + 1))[:PROMPT_TOKENS]

        def run() -> dict[str, float]:
            found: dict[str, float] = {}
            for count in streams:
                found |= summary(*_burst(endpoint, prompt, count, requests), f"serve/{subject.name}/streams{count}")
            return found

        yield run
