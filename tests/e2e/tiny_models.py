# SPDX-License-Identifier: Apache-2.0
"""Small checkpoints made from a seed: a Llama and a Qwen2 in the files that vLLM loads, with a tokenizer of their own.

Plain random weights leave the two best tokens almost tied, so that rounding decides which one wins. Weights and seeds
here are chosen so that the best token leads by far more than rounding in bf16 can move it; test_margin.py holds them to it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

CORPUS = (
    "the emulated core has vectors of two hundred and fifty six bits and the board has sixteen cores of two kinds",
    "a wheel is built on one machine and runs on another so every fact about the target stands in one table",
    "numbers that are wrong without an error are worse than a crash and a test must be able to fail",
)
VOCABULARY = 320
# Unequal, so that one head wins where two copy different tokens.
HEAD_GAINS = (5.0, 2.0, 3.0, 1.0)


@dataclass(frozen=True)
class Architecture:
    """Shape of a model, with the names of its config.json."""

    model_type: str
    architecture: str
    hidden_size: int = 256
    intermediate_size: int = 384
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    vocab_size: int = VOCABULARY
    max_position_embeddings: int = 512
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    tie_word_embeddings: bool = False
    qkv_bias: bool = False

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads


@dataclass(frozen=True)
class TinyModel:
    architecture: Architecture
    seed: int


LLAMA = TinyModel(Architecture("llama", "LlamaForCausalLM"), seed=13)
QWEN2 = TinyModel(Architecture("qwen2", "Qwen2ForCausalLM", qkv_bias=True), seed=52)
MODELS = {"llama": LLAMA, "qwen2": QWEN2}


def make_weights(model: TinyModel) -> dict[str, torch.Tensor]:
    """Weights under the names of the checkpoint format, in fp32 but exact in bf16.

    A token's embedding is a point on a circle per pair of dimensions, at random speeds: turning all circles by k steps
    makes it the embedding of the token k further, and different tokens are nearly orthogonal. A head copies what it
    attends to, turned by its own k. So the head's scores have one clear peak, and where it is depends on attention.
    """
    arch = model.architecture
    generator = torch.Generator().manual_seed(model.seed)
    speeds = torch.rand(arch.hidden_size // 2, generator=generator) * 2 * torch.pi
    weights = {
        "model.embed_tokens.weight": _codes(torch.arange(arch.vocab_size), speeds),
        "model.norm.weight": _norm_weight(arch.hidden_size, generator),
    }
    for layer in range(arch.num_hidden_layers):
        own = _attention_weights(arch, speeds, generator) | _mlp_weights(arch, generator)
        weights |= {f"model.layers.{layer}.{name}": weight for name, weight in own.items()}
    if not arch.tie_word_embeddings:
        weights["lm_head.weight"] = _codes(torch.arange(arch.vocab_size) + 5, speeds) / 16
    return {name: weight.bfloat16().float() for name, weight in weights.items()}


def _codes(tokens: torch.Tensor, speeds: torch.Tensor) -> torch.Tensor:
    angles = tokens[:, None].float() * speeds
    return torch.stack((angles.cos(), angles.sin()), -1).flatten(1)


def _turn(steps: int, speeds: torch.Tensor) -> torch.Tensor:
    """The matrix that makes each token's embedding that of the token `steps` further."""
    angles = steps * speeds
    blocks = [torch.stack((torch.stack((c, -s)), torch.stack((s, c)))) for c, s in zip(angles.cos(), angles.sin(), strict=True)]
    return torch.block_diag(*blocks)


def _normal(generator: torch.Generator, *shape: int, gain: float) -> torch.Tensor:
    return torch.randn(*shape, generator=generator) * gain / shape[-1] ** 0.5


def _norm_weight(size: int, generator: torch.Generator) -> torch.Tensor:
    return 1 + 0.1 * torch.randn(size, generator=generator)


def _attention_weights(arch: Architecture, speeds: torch.Tensor, generator: torch.Generator) -> dict[str, torch.Tensor]:
    hidden, size = arch.hidden_size, arch.head_dim
    kv = arch.num_key_value_heads * size
    output = _normal(generator, hidden, hidden, gain=0.05)
    for head, gain in zip(range(arch.num_attention_heads), HEAD_GAINS, strict=True):
        part = head // (arch.num_attention_heads // arch.num_key_value_heads) * size
        turn = _turn(int(torch.randint(1, arch.vocab_size, (1,), generator=generator)), speeds)
        output[part : part + size, head * size : (head + 1) * size] += gain * turn[part : part + size, part : part + size]
    weights = {
        "input_layernorm.weight": _norm_weight(hidden, generator),
        "self_attn.q_proj.weight": _normal(generator, hidden, hidden, gain=0.8),
        "self_attn.k_proj.weight": _normal(generator, kv, hidden, gain=0.8),
        "self_attn.v_proj.weight": torch.eye(kv, hidden) + _normal(generator, kv, hidden, gain=0.05),
        "self_attn.o_proj.weight": output,
    }
    if arch.qkv_bias:
        for name, rows in (("q", hidden), ("k", kv), ("v", kv)):
            weights[f"self_attn.{name}_proj.bias"] = 0.2 * torch.randn(rows, generator=generator)
    return weights


def _mlp_weights(arch: Architecture, generator: torch.Generator) -> dict[str, torch.Tensor]:
    hidden, wide = arch.hidden_size, arch.intermediate_size
    return {
        "post_attention_layernorm.weight": _norm_weight(hidden, generator),
        "mlp.gate_proj.weight": _normal(generator, wide, hidden, gain=1.5),
        "mlp.up_proj.weight": _normal(generator, wide, hidden, gain=1.5),
        "mlp.down_proj.weight": _normal(generator, hidden, wide, gain=1.5),
    }


def make_config(model: TinyModel, dtype: str) -> dict[str, object]:
    arch = asdict(model.architecture)
    architecture, bias = arch.pop("architecture"), arch.pop("qkv_bias")
    rope = {"rope_type": "default", "rope_theta": arch.pop("rope_theta")}
    config = arch | {
        "architectures": [architecture],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "rope_parameters": rope,
        "torch_dtype": dtype,
    }
    return config if bias else config | {"attention_bias": False, "mlp_bias": False}


def make_tokenizer(folder: Path) -> None:
    """A byte-pair tokenizer learnt from CORPUS; the same on every machine."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "model_max_length": 512,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1, sort_keys=True))


def write_checkpoint(model: TinyModel, dtype: str, folder: Path) -> None:
    """Writes config, weights and tokenizer; `dtype` is a name such as "bfloat16"."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: w.to(getattr(torch, dtype)) for name, w in make_weights(model).items()}
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(make_config(model, dtype), indent=1, sort_keys=True))
    make_tokenizer(folder)


def prompts(vocabulary: int = VOCABULARY) -> list[list[int]]:
    """Token ids of unequal length; the longest needs more than one cache block."""
    generator = torch.Generator().manual_seed(7)
    return [[1, *torch.randint(3, vocabulary, (length,), generator=generator).tolist()] for length in (2, 11, 37, 150)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=sorted(MODELS), required=True)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="bfloat16")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the checkpoint to")
    options = parser.parse_args()
    write_checkpoint(MODELS[options.model], options.dtype, options.out)


if __name__ == "__main__":
    main()
