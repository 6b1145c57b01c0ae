# SPDX-License-Identifier: Apache-2.0
"""One engine that generates when it is told to. Run by path with the Python of the wheel that is measured; needs vLLM only.

Reads one JSON object a line, answers one JSON object a line (on the standard output that it was started with; what vLLM prints
goes to standard error): first the settings, answered when the engine has loaded; then {} for each run.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, TextIO

PHRASE = "The capital of France is"


def prompt_text(tokenizer: Any, length: int) -> str:
    """`length` token ids of PHRASE, repeated, as text. Encoded again it may have another number of tokens (a BOS, merged words)."""
    ids = tokenizer.encode(PHRASE, add_special_tokens=False)
    repeated = (ids * (length // len(ids) + 1))[:length]
    return str(tokenizer.decode(repeated))


def generate(engine: Any, number: int, prompt: str, tokens: int) -> dict[str, Any]:
    """One request alone: seconds to the first token and from there to the last."""
    from vllm import SamplingParams

    start = time.perf_counter()
    engine.add_request(str(number), prompt, SamplingParams(temperature=0.0, max_tokens=tokens, ignore_eos=True))
    first = end = None
    output = None
    while engine.has_unfinished_requests():
        for result in engine.step():
            end = time.perf_counter()
            output = result
            if first is None and result.outputs[0].token_ids:
                first = end
    if output is None or first is None or end is None:
        raise RuntimeError("the engine finished without a token")
    found = list(output.outputs[0].token_ids)
    return {"first": first - start, "prompt_tokens": len(output.prompt_token_ids), "rest": end - first, "tokens": found}


def load(settings: dict[str, Any]) -> Any:
    """The engine. Prefix caching would answer the second run from memory."""
    from vllm import LLM

    return LLM(
        settings["folder"],
        enforce_eager=True,
        enable_prefix_caching=False,
        kv_cache_memory_bytes=settings["kv_cache_memory_bytes"],
        max_model_len=settings["max_model_len"],
        max_num_seqs=1,
        **settings["engine"],
    )


def serve(orders: TextIO, answers: TextIO) -> None:
    """Until the orders end."""
    settings = json.loads(orders.readline())
    llm = load(settings)
    prompt = prompt_text(llm.get_tokenizer(), settings["prompt_tokens"])
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for number, line in enumerate(orders):
        json.loads(line)
        print(json.dumps(generate(llm.llm_engine, number, prompt, settings["new_tokens"])), file=answers, flush=True)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
