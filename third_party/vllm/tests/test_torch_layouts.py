# SPDX-License-Identifier: Apache-2.0
"""_C with torch as a wheel lays it out: unversioned sonames, an OpenMP runtime of its own. Runs in the emulated guest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import load_module
import pip_layout

# The last part counts the pointers of _C's data (so also of its GOT) into each OpenMP runtime of the process.
_SCRIPT = """
import array, ctypes, json, torch, load_module
load_module.load()
x = torch.randn(3, 64)
y = torch.empty(3, 32)
torch.ops._C.silu_and_mul(y, x)
error = (y - torch.nn.functional.silu(x[:, :32]) * x[:, 32:]).abs().max().item()
areas = [(*(int(end, 16) for end in line.split()[0].split("-")), line.split()[1], line.split()[-1]) for line in open("/proc/self/maps") if ".so" in line]
words = array.array("Q")
for start, end, rights, path in areas:
    if path.endswith("/_C.abi3.so") and rights.startswith("r") and "x" not in rights:
        words.frombytes(ctypes.string_at(start, end - start))
openmp = {}
for start, end, _, path in areas:
    if "libgomp" in path:
        openmp[path] = openmp.get(path, 0) + sum(start <= word < end for word in words)
print(json.dumps({"error": error, "maps": sorted({area[3] for area in areas}), "openmp": openmp, "torch": torch.__file__}))
"""


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    site = tmp_path_factory.mktemp("site")
    lib = pip_layout.make(Path("/usr/lib/python3/dist-packages/torch"), Path("/usr/lib/riscv64-linux-gnu"), site)
    here = os.path.dirname(os.path.abspath(load_module.__file__))
    environment = os.environ | {
        "LD_LIBRARY_PATH": ":".join([str(lib), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]),
        "PYTHONPATH": f"{site}:{here}",
    }
    done = subprocess.run([sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) | {"site": str(site)}


def test_torch_is_the_copy(run: dict[str, object]) -> None:
    assert str(run["torch"]).startswith(str(run["site"]))


def test_op_computes_what_torch_computes(run: dict[str, object]) -> None:
    assert run["error"] < 1e-5


def test_no_second_torch_is_loaded(run: dict[str, object]) -> None:
    assert [path for path in run["maps"] if "libtorch_cpu" in path] == [f"{run['site']}/torch/lib/libtorch_cpu.so"]


def test_openmp_is_torchs_own(run: dict[str, object]) -> None:
    own = f"{run['site']}/torch/lib/libgomp-t.so"
    assert run["openmp"][own] > 0


def test_openmp_is_no_other(run: dict[str, object]) -> None:
    own = f"{run['site']}/torch/lib/libgomp-t.so"
    # OpenBLAS of the guest brings Debian's; a wheel would bring one BLAS with the same OpenMP.
    assert {path: count for path, count in run["openmp"].items() if path != own and count} == {}
