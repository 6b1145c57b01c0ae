# SPDX-License-Identifier: Apache-2.0
"""Every registered op with random values, shapes and options: a right number or a clear error, never a wrong number.

A target is a test of tests/ops (marked for the ops that it calls); a case is that test with options drawn anew, with random
data from the case's own seed, and with sizes that the test itself does not try. So an op that gets a check there is fuzzed
here, and one without a target is an error. Runs alone too:

    ./bazelw run //tests:guest -- --folder $PWD/tests --level x100 --vlen 512 python3 tests/anycore/fuzz.py --cases 2000 --seed 7
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType, ModuleType

OPS = Path(__file__).parents[1] / "ops"
sys.path[:0] = [str(OPS)] * (str(OPS) not in sys.path)

import pytest  # noqa: E402
import registry  # noqa: E402
import tolerance  # noqa: E402
import torch  # noqa: E402
import vllm_sm10.blas  # noqa: E402
import vllm_sm10.process  # noqa: E402
from paged_cache import Case as AttentionCase  # noqa: E402

# Facts of a whole process, not of a call: threads of another core type, compiled graphs, the list of ops itself.
NOT_FUZZED = frozenset({"test_ime2_board", "test_ime2_compiled", "test_ime2_core", "test_registered"})
# Their outcome is a statistic that holds for its own seed.
FIXED_DATA = frozenset(
    {"test_gumbel_sampling_follows_the_softmax", "test_memory_binding_holds_or_is_unavailable", "test_memory_binding_of_no_node_does_nothing"}
)
# Ops whose only checks are of these kinds.
ELSEWHERE = frozenset({"ime2_start_workers", "ime2_stop_workers", "init_cpu_memory_env", "sm10_level"})
# What an op says that has no code for the calling thread's level: op, needed, hart, found, remedy.
REFUSAL = re.compile(
    r"^(\w+): vLLM has this kernel for the levels .*VLEN \d+.* only; the calling thread is on hart \d+, which runs level scalar: it has .*\. Run on cores"
)


class FuzzError(Exception):
    """An op without a target, or a target that cannot be drawn; the text says which."""


def bounds_follow_the_thread() -> None:
    """tests/ops knows one level per process; here threads of one process run at two."""
    registry.is_vector_level = tolerance.is_vector_level = lambda: torch.ops._C.sm10_level() in registry.VECTOR_LEVELS  # type: ignore[assignment]
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) and Path(str(module.__file__)).parent == OPS and hasattr(module, "is_vector_level"):
            module.is_vector_level = registry.is_vector_level  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Target:
    """One test of tests/ops."""

    module: ModuleType
    function: FunctionType
    ops: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.module.__name__}.{self.function.__name__}"


@dataclass
class Tally:
    """Outcomes."""

    right: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return sum(self.right.values()) + sum(self.refused.values()) + len(self.wrong)

    def __str__(self) -> str:
        return f"{self.cases} cases, {sum(self.right.values())} right, {sum(self.refused.values())} refused, {len(self.wrong)} wrong"


def _marked(function: FunctionType) -> frozenset[str]:
    return frozenset(name for mark in getattr(function, "pytestmark", []) if mark.name in registry.MARKS for name in mark.args)


def targets() -> list[Target]:
    """All tests of tests/ops that can be a case."""
    result = []
    for path in sorted(OPS.glob("test_*.py")):
        if path.stem in NOT_FUZZED:
            continue
        module = importlib.import_module(path.stem)
        for name, function in sorted(vars(module).items()):
            if name.startswith("test_") and isinstance(function, FunctionType) and name not in FIXED_DATA:
                ops = _marked(function)
                for mark in getattr(function, "pytestmark", []):
                    if mark.name == "parametrize":
                        ops |= {op for value in mark.args[1] for inner in getattr(value, "marks", ()) if inner.name in registry.MARKS for op in inner.args}
                if ops and function.__module__ == path.stem:
                    result.append(Target(module, function, ops))
    return result


def by_op(registered: frozenset[str]) -> dict[str, list[Target]]:
    """Targets of each registered op; raises for an op that has none."""
    found = targets()
    names = sorted(name.removeprefix(f"{registry.NAMESPACE}::") for name in registered)
    table = {name: [target for target in found if name in target.ops] for name in names}
    if missing := [name for name, choices in table.items() if not choices and name not in ELSEWHERE]:
        raise FuzzError(f"no test of tests/ops covers {', '.join(missing)}: add one, it becomes the fuzz target")
    return {name: choices for name, choices in table.items() if choices}


# --- drawing ---------------------------------------------------------------


def _rows(rng: random.Random) -> int:
    return rng.choice([1, 2, 3, 4, 5, 7, 8, 9, rng.randint(10, 40)])


def _multiple(of: int, most: int) -> Callable[[random.Random], int]:
    return lambda rng: of * rng.randint(1, most)


def _widths(rng: random.Random) -> tuple[int, ...]:
    return (*(rng.randint(1, 3) for _ in range(rng.randint(0, 1))), rng.randint(1, 6), 8 * rng.randint(1, 24))


# Options whose values are free within what the op documents: module, name of the option -> draw.
SIZES: dict[tuple[str, str], Callable[[random.Random], object]] = {
    ("test_activation", "shape"): _widths,
    ("test_attention", "window"): lambda rng: rng.randint(1, 50),
    ("test_gdn", "heads"): lambda rng: rng.randint(1, 40),
    ("test_int4", "m"): _rows,
    ("test_int8_quant", "width"): lambda rng: rng.randint(1, 200),
    ("test_int8_quant", "zero"): lambda rng: rng.choice([None, rng.randint(-128, 127)]),
    ("test_layernorm", "shape"): _widths,
    ("test_mamba", "size"): lambda rng: rng.randint(1, 40),
    ("test_mla", "heads"): lambda rng: rng.randint(1, 5),
    ("test_moe", "tokens,topk"): lambda rng: (_rows(rng), rng.randint(1, 3)),
    ("test_sampling", "rows"): _rows,
    ("test_sampling", "vocabulary"): lambda rng: rng.randint(1, 300),
    ("test_utils", "block_size"): lambda rng: rng.choice([7, 16, 32, 48, 64]),
    ("test_wna16", "m"): _rows,
}
# Constants of a module that its references follow.
CONSTANTS: dict[str, dict[str, Callable[[random.Random], int]]] = {
    "test_fp8_quant": {"ROWS": _multiple(3, 4), "WIDTH": _multiple(5, 20)},
    "test_moe": {"HIDDEN": _multiple(32, 4)},
}
# Its options hold the constants' own values.
FIXED_SIZES = frozenset({"test_static_fp8_quant_divides_by_group_scales"})


def _attention_options(rng: random.Random) -> AttentionCase:
    """A batch with features in any combination."""
    requests = rng.randint(1, 4)
    lengths = tuple(rng.choice([1, 31, 32, 33, rng.randint(1, 90)]) for _ in range(requests))
    queries = tuple(rng.choice([1, length, rng.randint(1, length)]) for length in lengths)
    kv_heads = rng.randint(1, 3)
    case = AttentionCase(lengths, queries, heads=(kv_heads * rng.randint(1, 6), kv_heads), size=rng.choice([32, 64, 96, 128]), isa=rng.choice(["rvv", "vec"]))
    return replace(
        case,
        window=rng.choice([-1, -1, rng.randint(1, 60)]),
        softcap=rng.choice([0.0, 0.0, 3.0, 30.0]),
        alibi=rng.random() < 0.3,
        sinks=rng.choice([None, None, torch.bfloat16, torch.float32]),
        amplitude=rng.choice([1.0, 1.0, 4.0]),
    )


def test_any_batch(case: AttentionCase, dtype: torch.dtype) -> None:
    """Attention's own target: its options are many and independent."""
    from test_attention import check

    check(case, dtype)


test_any_batch.__test__ = False  # type: ignore[attr-defined]
_ATTENTION = Target(sys.modules[__name__], test_any_batch, frozenset())


def options(target: Target, rng: random.Random) -> dict[str, object]:
    """Values of a test's parameters."""
    if target is _ATTENTION:
        return {"case": _attention_options(rng), "dtype": rng.choice(registry.FLOATS)}
    result: dict[str, object] = {}
    for mark in getattr(target.function, "pytestmark", []):
        if mark.name != "parametrize":
            continue
        names, values = mark.args[0], list(mark.args[1])
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        chosen = rng.choice(values)
        chosen = chosen.values if hasattr(chosen, "values") and hasattr(chosen, "marks") else (chosen if len(names) > 1 else (chosen,))
        draw = SIZES.get((target.module.__name__, ",".join(names)))
        if draw and rng.random() < 0.8:
            drawn = draw(rng)
            chosen = drawn if len(names) > 1 else (drawn,)  # type: ignore[assignment]
        result.update(zip(names, chosen, strict=True))
    return result


def _edgy(randn: Callable[..., torch.Tensor], rng: random.Random) -> Callable[..., torch.Tensor]:
    """torch.randn with zeros, repeated values and small magnitudes among the rest, in some tensors."""

    def draw(*shape: object, **kwargs: object) -> torch.Tensor:
        result = randn(*shape, **kwargs)
        kind = rng.choice(["plain", "plain", "zeros", "small", "steps"])
        if kind == "zeros":
            result[torch.rand(result.shape) < 0.2] = 0.0
        elif kind == "small":
            result *= 2.0 ** -rng.randint(1, 12)
        elif kind == "steps":
            result = (result * 2).round() / 2
        return result

    return draw


@contextlib.contextmanager
def _drawn(target: Target, rng: random.Random) -> Iterator[None]:
    """The module's constants and torch.randn for one case. Cases do not run at the same time."""
    constants = {} if target.function.__name__ in FIXED_SIZES else CONSTANTS.get(target.module.__name__, {})
    before = {name: getattr(target.module, name) for name in constants}
    randn = torch.randn
    try:
        for name in before:
            setattr(target.module, name, constants[name](rng))
        torch.randn = _edgy(randn, rng)  # type: ignore[assignment]
        yield
    finally:
        torch.randn = randn
        for name, value in before.items():
            setattr(target.module, name, value)


# --- running ---------------------------------------------------------------


def _short(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def run_case(op: str, target: Target, seed: int, tally: Tally) -> None:
    """One case; a failed check or any error but the clear refusal is a wrong outcome."""
    rng = random.Random(seed)
    values = options(target, rng)
    torch.manual_seed(rng.randrange(1 << 31))
    try:
        with _drawn(target, rng):
            target.function(**values)
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  any of them is an outcome
        refusal = REFUSAL.match(str(error))
        lacking = op in registry.VECTOR_ONLY and torch.ops._C.sm10_level() == "scalar"
        if isinstance(error, RuntimeError) and refusal and lacking:
            tally.refused[op] += 1
        else:
            tally.wrong.append(f"{op} by {target.name}({values}), seed {seed}: {type(error).__name__}: {_short(error)}")
    else:
        tally.right[op] += 1


def applies(target: Target) -> bool:
    """Whether the test states a fact of the thread's level. What computes at vector levels alone is tried at scalar too: it must be refused."""
    levels = {name for mark in getattr(target.function, "pytestmark", []) if mark.name == "at_levels" for name in mark.args}
    here = torch.ops._C.sm10_level()
    return not levels or here in levels or (here == "scalar" and bool(target.ops & registry.VECTOR_ONLY) and "refuse" not in target.function.__name__)


def run(registered: frozenset[str], cases: int, seed: int, seconds: float | None = None) -> Tally:
    """Cases in turn for each op, until there are enough or the time is over."""
    table = {op: [target for target in choices if applies(target)] for op, choices in by_op(registered).items()}
    table = {op: choices for op, choices in table.items() if choices}
    attention = {name for name in table if name in {"cpu_attention_with_kv_cache", "cpu_attn_reshape_and_cache", "get_scheduler_metadata"}}
    rng, tally, end = random.Random(seed), Tally(), time.monotonic() + (seconds or 1e9)
    while True:
        for op, choices in table.items():
            if tally.cases >= cases or time.monotonic() > end:
                return tally
            target = _ATTENTION if op in attention and rng.random() < 0.7 else rng.choice(choices)
            run_case(op, target, rng.randrange(1 << 31), tally)


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(description="Fuzzes every op of the installed vllm._C on the calling thread's core.")
    parser.add_argument("--cases", type=int, default=1_000_000, help="stop after so many")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases")
    parser.add_argument("--a100", action="store_true", help="move to the board's A100 cores first (--level sm10)")
    arguments = parser.parse_args()
    if arguments.a100:
        import board

        board.move()
    torch.set_grad_enabled(False)
    registered = registry.load_library(registry.library_path())
    try:
        vllm_sm10.process.check()
    except vllm_sm10.blas.BlasError as error:
        # The references are torch's.
        parser.exit(2, f"fuzz: {error}\n")
    bounds_follow_the_thread()
    tally = run(registered, arguments.cases, arguments.seed, arguments.seconds)
    print(f"VLEN {vllm_sm10.capabilities().core.vlen or 0}, level {torch.ops._C.sm10_level()}: {tally}")
    for text in tally.wrong:
        print(text)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
