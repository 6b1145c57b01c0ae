# SPDX-License-Identifier: Apache-2.0
"""products.py LIBRARY: prints a digest of each product of the library's ops."""

import hashlib
import sys

import torch

SHAPES = ((1, 32, 32), (4, 64, 96), (7, 96, 64), (33, 256, 160))  # M, K, N


def report(name: str, result: torch.Tensor) -> None:
    """One line."""
    print(name, hashlib.sha256(result.numpy().tobytes()).hexdigest(), flush=True)


torch.ops.load_library(sys.argv[1])
ops = torch.ops._C
for m, k, n in SHAPES:
    torch.manual_seed(m)
    a = torch.randn(m, k)
    qweight = torch.randint(256, (n, k // 32, 16), dtype=torch.uint8)
    scales = (torch.rand(n, k // 32) + 0.5) / 64
    packed = ops.ime2_pack_weight(qweight, scales)
    report(f"pack {n}x{k}", packed)
    for portable in (False, True):
        path = "portable" if portable else "instructions"
        report(f"hp {m}x{k}x{n} {path}", ops.ime2_hp_gemm_cpu(a, qweight, scales, portable=portable))
        report(f"packed {m}x{k}x{n} {path}", ops.ime2_gemm_packed(a, packed, portable=portable))
