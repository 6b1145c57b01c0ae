# SPDX-License-Identifier: Apache-2.0
"""Greedy decoding of Llama and Qwen2 in plain torch: no cache of keys and values, no vLLM code."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from tiny_models import Architecture

Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Generation:
    """The tokens of one prompt, with the log-probabilities of the whole vocabulary that they were chosen from."""

    tokens: list[int]
    logprobs: torch.Tensor  # [tokens, vocabulary], fp32
    logits: torch.Tensor


def greedy(weights: Weights, arch: Architecture, prompt: list[int], count: int, guess: list[int] | None = None) -> Generation:
    """Takes the best token `count` times; weights give the dtype.

    With a guess of the tokens one pass does for as many as are right: what precedes them is the same as without it.
    """
    tokens: list[int] = []
    rows: list[torch.Tensor] = []
    while len(tokens) < count:
        ahead = (guess or [])[len(tokens) : count - 1]
        logits = forward(weights, arch, torch.tensor(prompt + tokens + ahead))[-1 - len(ahead) :].float()
        for row, token in zip(logits, [*ahead, None], strict=True):
            rows.append(row)
            tokens.append(int(row.argmax()))
            if tokens[-1] != token:
                # Further rows follow a token that was not chosen.
                guess = None
                break
    found = torch.stack(rows)
    return Generation(tokens, found.log_softmax(-1), found)


def forward(weights: Weights, arch: Architecture, tokens: torch.Tensor) -> torch.Tensor:
    """Logits of each position."""
    hidden = weights["model.embed_tokens.weight"][tokens]
    cos, sin = _rotation(arch, len(tokens), hidden.dtype)
    for layer in range(arch.num_hidden_layers):
        own = {k.split(".", 3)[3]: w for k, w in weights.items() if k.startswith(f"model.layers.{layer}.")}
        hidden = hidden + _attention(own, arch, _norm(hidden, own["input_layernorm.weight"], arch), cos, sin)
        hidden = hidden + _mlp(own, _norm(hidden, own["post_attention_layernorm.weight"], arch))
    head = weights["model.embed_tokens.weight" if arch.tie_word_embeddings else "lm_head.weight"]
    return F.linear(_norm(hidden, weights["model.norm.weight"], arch), head)


def _norm(x: torch.Tensor, weight: torch.Tensor, arch: Architecture) -> torch.Tensor:
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + arch.rms_norm_eps)
    return weight * (wide * scale).to(x.dtype)


def _rotation(arch: Architecture, length: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    exponent = torch.arange(0, arch.head_dim, 2).float() / arch.head_dim
    angle = torch.outer(torch.arange(length).float(), arch.rope_theta**-exponent)
    angle = torch.cat((angle, angle), -1)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def _heads(own: Weights, name: str, x: torch.Tensor, arch: Architecture) -> torch.Tensor:
    y = F.linear(x, own[f"self_attn.{name}_proj.weight"], own.get(f"self_attn.{name}_proj.bias"))
    return y.view(len(x), -1, arch.head_dim).transpose(0, 1)


def _attention(own: Weights, arch: Architecture, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    query = _rotate(_heads(own, "q", x, arch), cos, sin)
    groups = arch.num_attention_heads // arch.num_key_value_heads
    key = _rotate(_heads(own, "k", x, arch), cos, sin).repeat_interleave(groups, 0)
    value = _heads(own, "v", x, arch).repeat_interleave(groups, 0)
    scores = (query @ key.transpose(1, 2)).float() * arch.head_dim**-0.5
    future = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1).to(x.dtype)
    return F.linear((weights @ value).transpose(0, 1).reshape(len(x), -1), own["self_attn.o_proj.weight"])


def _mlp(own: Weights, x: torch.Tensor) -> torch.Tensor:
    gate = F.silu(F.linear(x, own["mlp.gate_proj.weight"]))
    return F.linear(gate * F.linear(x, own["mlp.up_proj.weight"]), own["mlp.down_proj.weight"])
