# SPDX-License-Identifier: Apache-2.0
"""Generation by the published protocol: eager, max_model_len 192, a prompt of 128 token ids as text, 32 new tokens at temperature 0.

prompt tokens/s = prompt length / time to the first token; decode tokens/s = the other 31 / the time after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .errors import BenchError
from .lines import LineChild
from .models import KV_CACHE_BYTES, Subject
from .samples import Runner

PROMPT_TOKENS, NEW_TOKENS, MAX_MODEL_LEN = 128, 32, 192
CHILD = Path(__file__).with_name("generation_child.py")


def rates(answer: Mapping[str, object], name: str) -> dict[str, float]:
    """tokens/s of a run, by metric.

    Raises:
      BenchError: the run did not follow the protocol.
    """
    tokens, first, rest, prompt = (answer.get(key) for key in ("tokens", "first", "rest", "prompt_tokens"))
    if not (isinstance(tokens, list) and isinstance(first, float) and isinstance(rest, float) and isinstance(prompt, int)):
        raise BenchError(f"{name}: malformed answer {str(answer)[:200]}\n  remedy: use the tool with its own generation_child.py")
    if len(tokens) != NEW_TOKENS:
        raise BenchError(f"{name}: {len(tokens)} new tokens and not {NEW_TOKENS}\n  remedy: does the model allow {MAX_MODEL_LEN} tokens?")
    return {f"generate/{name}/decode": (NEW_TOKENS - 1) / rest, f"generate/{name}/prompt": prompt / first}


@contextmanager
def engine(subject: Subject, python: Path, environment: Mapping[str, str], limit: float) -> Iterator[Runner]:
    """An engine of its own for one subject; each call is a run. Two runs that differ in a token are an error: the prompt is the same."""
    subject.check()
    settings = {
        "engine": dict(subject.way.engine),
        "folder": str(subject.folder),
        "kv_cache_memory_bytes": KV_CACHE_BYTES,
        "max_model_len": MAX_MODEL_LEN,
        "new_tokens": NEW_TOKENS,
        "prompt_tokens": PROMPT_TOKENS,
    }
    with LineChild(f"{subject.name} ({python})", [str(python), "-P", str(CHILD)], environment, limit) as child:
        if child.ask(settings) != {"ready": True}:
            raise BenchError(f"{subject.name}: the engine did not say that it is ready\n  remedy: use the tool with its own generation_child.py")
        yield _runs(child, subject.name)


def _runs(child: LineChild, name: str) -> Callable[[], dict[str, float]]:
    first_tokens: list[object] = []

    def run() -> dict[str, float]:
        answer = child.ask({})
        values = rates(answer, name)
        if first_tokens and answer["tokens"] != first_tokens[0]:
            raise BenchError(f"{name}: two runs of the same prompt gave other tokens\n  remedy: none here; numbers of a wrong engine mean nothing")
        first_tokens.append(answer["tokens"])
        return values

    return run
