# SPDX-License-Identifier: Apache-2.0
"""What the IME2 ops refuse: each message names op, argument, what was found and the remedy, and is the same without data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch

from ime2_paths import packed
from ime2_reference import gemm_packed, random_weight
from registry import covers, op, refuses
from tolerance import assert_same

M, N, K = 3, 40, 64
F = torch.float32


@dataclass(frozen=True)
class Arguments:
    """Of a right call of each op, before one of them is changed."""

    a: torch.Tensor
    qweight: torch.Tensor
    scales: torch.Tensor
    weight: torch.Tensor
    out: torch.Tensor


WEIGHT = random_weight(N, K)
BLOB = packed(WEIGHT)


def right(device: str) -> Arguments:
    tensors = (torch.ones(M, K), WEIGHT.qweight, WEIGHT.scales, BLOB, torch.empty(M, N))
    return Arguments(*(tensor.to(device) for tensor in tensors))


Change = Callable[[str], torch.Tensor]


def shaped(*sizes: int, dtype: torch.dtype = F) -> Change:
    return lambda device: torch.ones(sizes, device=device).to(dtype)


def strided(sizes: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype = F) -> Change:
    return lambda device: torch.zeros(4 * N * K, device=device).to(dtype).as_strided(sizes, strides)


def cases(rows: list[tuple]) -> list:
    return [pytest.param(*row, id=f"{row[0]}{number}") for number, row in enumerate(rows)]


U8 = torch.uint8
# Argument, what it is replaced with, and the message after "op: argument ".
ACTIVATIONS = [
    ("a", shaped(K), r"has shape \[64\], not \[M, K\]; fold the leading dimensions"),
    ("a", shaped(2, M, K), r"has shape \[2, 3, 64\], not \[M, K\]; fold the leading dimensions"),
    ("a", shaped(M, 0), r"has shape \[3, 0\]: K is 0; pass rows of at least 32 elements"),
    ("a", shaped(M, 65), r"has shape \[3, 65\]: K is no multiple of 32; pad a and the weights"),
]
WEIGHTS = [
    ("qweight", shaped(N, 2, 16, dtype=torch.int8), "has dtype Char, not Byte; "),
    ("qweight", shaped(N, 32, dtype=U8), r"has shape \[40, 32\], not \[N, K/32, 16\]; view the packed nibbles"),
    ("qweight", shaped(N, 2, 8, dtype=U8), r"has shape \[40, 2, 8\]: a group has 16 bytes \(32 nibbles\); repack it"),
    ("qweight", shaped(0, 2, 16, dtype=U8), r"has shape \[0, 2, 16\]: N is 0; "),
    ("qweight", shaped(N, 0, 16, dtype=U8), r"has shape \[40, 0, 16\]: K is 0; "),
    (
        "qweight",
        strided((N, 2, 16), (32, 16, 2), U8),
        r"has strides \[32, 16, 2\] for sizes \[40, 2, 16\], not those of a contiguous tensor; .*qweight\.contiguous\(\)",
    ),
    ("scales", shaped(N, 2, dtype=torch.float16), "has dtype Half, not Float; "),
    ("scales", shaped(N * 2), r"has shape \[80\], not \[N, K/32\]; "),
    ("scales", shaped(N, 3), r"has shape \[40, 3\], but qweight's shape \[40, 2, 16\] asks for \[40, 2\]; "),
    ("scales", shaped(39, 2), r"has shape \[39, 2\], but qweight's shape \[40, 2, 16\] asks for \[40, 2\]; "),
    ("scales", strided((N, 2), (1, N)), r"has strides \[1, 40\] for sizes \[40, 2\], not those of a contiguous tensor; .*scales\.contiguous\(\)"),
]
HP = [
    *ACTIVATIONS,
    ("a", shaped(M, K, dtype=torch.float16), "has dtype Half, not Float; "),
    ("a", shaped(M, 96), None),
    *WEIGHTS,
]


@refuses("ime2_hp_gemm_cpu")
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("name", "change", "text"), cases(HP))
def test_hp_names_the_wrong_argument_and_the_remedy(name: str, change: Change, text: str | None, device: str) -> None:
    wrong = replace(right(device), **{name: change(device)})
    expected = f"^ime2_hp_gemm_cpu: {name} {text}" if text else "^ime2_hp_gemm_cpu: qweight holds K = 64, but a has K = 96; pass the weights of this layer"
    with pytest.raises(RuntimeError, match=expected):
        op("ime2_hp_gemm_cpu")(wrong.a, wrong.qweight, wrong.scales, portable=True)


@refuses("ime2_hp_gemm_cpu")
@pytest.mark.parametrize("name", ["a", "qweight", "scales"])
def test_hp_names_the_argument_without_data(name: str) -> None:
    mixed = replace(right("cpu"), **{name: getattr(right("meta"), name)})
    with pytest.raises(RuntimeError, match=r"^ime2_hp_gemm_cpu: \w+ is on device \w+, not \w+; move it: "):
        op("ime2_hp_gemm_cpu")(mixed.a, mixed.qweight, mixed.scales, portable=True)


@pytest.mark.parametrize("m", [0, 1, 5])
@pytest.mark.parametrize("portable", [False, True])
def test_hp_without_data_has_the_shape_and_type_of_the_real_one(m: int, portable: bool) -> None:
    arguments = replace(right("meta"), a=torch.empty(m, K, device="meta"))
    result = op("ime2_hp_gemm_cpu")(arguments.a, arguments.qweight, arguments.scales, portable=portable)
    assert (result.shape, result.dtype, result.device.type) == ((m, N), torch.float32, "meta")


@refuses("ime2_pack_weight")
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("name", "change", "text"), cases(WEIGHTS))
def test_pack_names_the_wrong_argument_and_the_remedy(name: str, change: Change, text: str, device: str) -> None:
    wrong = replace(right(device), **{name: change(device)})
    with pytest.raises(RuntimeError, match=f"^ime2_pack_weight: {name} {text}"):
        op("ime2_pack_weight")(wrong.qweight, wrong.scales)


@refuses("ime2_pack_weight")
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_pack_refuses_scales_that_are_not_finite(bad: float) -> None:
    scales = torch.ones(N, K // 32)
    scales[N - 1, 1] = bad
    with pytest.raises(RuntimeError, match="^ime2_pack_weight: scales holds a NaN or an infinity; check the checkpoint"):
        op("ime2_pack_weight")(WEIGHT.qweight, scales)


PACKED = [
    *ACTIVATIONS,
    ("a", shaped(M, K, dtype=torch.float64), "has dtype Double, not one of Float, BFloat16, Half; "),
    ("weight", shaped(128, dtype=torch.int8), "has dtype Char, not Byte; "),
    ("weight", shaped(8, 16, dtype=U8), "has 2 dimensions, not 1; pass what ime2_pack_weight returned"),
    ("weight", strided((64,), (2,), U8), r"has strides \[2\] for sizes \[64\], not those of a contiguous tensor; "),
]
OUT = [
    *PACKED,
    ("out", shaped(M, N, dtype=torch.bfloat16), "has dtype BFloat16, not Float; "),
    ("out", shaped(M, N + 1), r"has shape \[3, 41\], not \[3, 40\]; allocate it so: the op does not resize"),
    ("out", shaped(M + 1, N), r"has shape \[4, 40\], not \[3, 40\]; "),
    ("out", shaped(M * N), r"has shape \[120\], not \[3, 40\]; "),
    ("out", strided((M, N), (1, M)), r"has strides \[1, 3\]: elements of a row are apart; "),
    ("out", strided((M, N), (39, 1)), r"has strides \[39, 1\]: its rows overlap; "),
    ("out", strided((M, N), (0, 1)), r"has strides \[0, 1\]: its rows overlap; "),
]


@refuses("ime2_gemm_packed")
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("name", "change", "text"), cases(PACKED))
def test_packed_names_the_wrong_argument_and_the_remedy(name: str, change: Change, text: str, device: str) -> None:
    wrong = replace(right(device), **{name: change(device)})
    with pytest.raises(RuntimeError, match=f"^ime2_gemm_packed: {name} {text}"):
        op("ime2_gemm_packed")(wrong.a, wrong.weight, portable=True)


@refuses("ime2_gemm_packed.out")
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("name", "change", "text"), cases(OUT))
def test_out_variant_names_the_wrong_argument_and_the_remedy(name: str, change: Change, text: str, device: str) -> None:
    wrong = replace(right(device), **{name: change(device)})
    with pytest.raises(RuntimeError, match=f"^ime2_gemm_packed: {name} {text}"):
        op("ime2_gemm_packed.out")(wrong.a, wrong.weight, portable=True, out=wrong.out)


@refuses("ime2_gemm_packed.out")
def test_out_that_shares_memory_with_the_weight_is_refused() -> None:
    weight = BLOB.clone()
    with pytest.raises(RuntimeError, match="^ime2_gemm_packed: out shares memory with weight; pass a tensor of its own"):
        op("ime2_gemm_packed.out")(torch.ones(1, K), weight, portable=True, out=weight[128 : 128 + 4 * N].view(F).view(1, N))


# --- damaged weights ---


def blob_for(k: int) -> torch.Tensor:
    return packed(random_weight(N, k))


def changed(at: int, value: int) -> torch.Tensor:
    blob = BLOB.clone()
    blob[at] = value
    return blob


DAMAGED = {
    "another_k": (blob_for(96), r"was packed for N = 40, K = 96, but a has K = 64; pass the weight of this layer"),
    "empty": (BLOB[:0], r"\(0 bytes\) is refused; .*shorter than its header says"),
    "first_byte": (changed(0, 0), r"\(\d+ bytes\) is refused; this is no packed weight: its first bytes are not IME2PACK"),
    "header_only": (BLOB[:128], r"\(128 bytes\) is refused; .*shorter than its header says"),
    "k": (changed(24, 128), r"\(\d+ bytes\) is refused; .*header contradicts itself"),
    "last_byte_missing": (BLOB[:-1], r"has \d+ bytes, but one for N = 40, K = 64 has \d+; pass all of what ime2_pack_weight returned"),
    "longer": (torch.cat((BLOB, BLOB[:1])), r"has \d+ bytes, but one for N = 40, K = 64 has \d+; "),
    "n": (changed(16, 65), r"\(\d+ bytes\) is refused; .*header contradicts itself"),
    "n_in_the_same_tile": (changed(16, 41), r"has \d+ bytes, but one for N = 41, K = 64 has \d+; "),
    "size": (changed(33, 1), r"\(\d+ bytes\) is refused; .*header contradicts itself"),
    "tile_missing": (BLOB[: BLOB.numel() // 2], r"\(\d+ bytes\) is refused; .*shorter than its header says"),
    "unaligned": (torch.cat((BLOB[:1], BLOB))[1:], r"begins at an address that is no multiple of 64; .*weight\.clone\(\)"),
    "version": (changed(8, 2), r"\(\d+ bytes\) is refused; .*format version that this build does not read"),
}


@refuses("ime2_gemm_packed", "ime2_gemm_packed.out")
@pytest.mark.parametrize("what", sorted(DAMAGED))
def test_weight_that_is_not_whole_and_ours_is_refused_with_the_reason(what: str) -> None:
    weight, text = DAMAGED[what]
    with pytest.raises(RuntimeError, match=f"^ime2_gemm_packed: weight {text}"):
        op("ime2_gemm_packed")(torch.ones(M, K), weight, portable=True)
    with pytest.raises(RuntimeError, match=f"^ime2_gemm_packed: weight {text}"):
        op("ime2_gemm_packed.out")(torch.ones(M, K), weight, portable=True, out=torch.empty(M, N))


@covers("ime2_gemm_packed")
def test_weight_is_its_bytes() -> None:
    copy = torch.tensor(list(BLOB.numpy().tobytes()), dtype=U8)
    a = torch.randn(M, K)
    assert_same(op("ime2_gemm_packed")(a, copy, portable=True), gemm_packed(a, WEIGHT))


# --- without data ---


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 95])
@pytest.mark.parametrize("k", [32, 64, 96, 512])
def test_packed_weight_without_data_has_the_size_of_the_real_one_and_tells_n(n: int, k: int) -> None:
    weight = random_weight(n, k)
    blob = op("ime2_pack_weight")(weight.qweight.to("meta"), weight.scales.to("meta"))
    assert (blob.shape, blob.dtype) == (packed(weight).shape, U8)
    assert op("ime2_gemm_packed")(torch.empty(2, k, device="meta"), blob).shape == (2, n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("m", [0, 1, 5])
def test_packed_without_data_has_the_shape_and_type_of_the_real_one(m: int, dtype: torch.dtype) -> None:
    arguments = right("meta")
    a, out = torch.empty(m, K, dtype=dtype, device="meta"), torch.empty(m, N, dtype=dtype, device="meta")
    result = op("ime2_gemm_packed")(a, arguments.weight)
    assert (result.shape, result.dtype, result.device.type) == ((m, N), dtype, "meta")
    assert op("ime2_gemm_packed.out")(a, arguments.weight, out=out) is out


@refuses("ime2_gemm_packed")
@pytest.mark.parametrize("bytes_", [0, 127, 160, BLOB.numel() - 32])
def test_weight_without_data_of_an_impossible_size_is_refused(bytes_: int) -> None:
    with pytest.raises(RuntimeError, match=f"^ime2_gemm_packed: weight has {bytes_} bytes, which no weight for K = 64 has; "):
        op("ime2_gemm_packed")(torch.empty(M, K, device="meta"), torch.empty(bytes_, dtype=U8, device="meta"))
