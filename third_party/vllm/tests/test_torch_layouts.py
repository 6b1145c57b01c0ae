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

_SCRIPT = """
import json, torch, load_module
load_module.load()
x = torch.randn(3, 64)
y = torch.empty(3, 32)
torch.ops._C.silu_and_mul(y, x)
error = (y - torch.nn.functional.silu(x[:, :32]) * x[:, 32:]).abs().max().item()
maps = sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line})
print(json.dumps({"error": error, "maps": maps, "torch": torch.__file__}))
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
    assert [path for path in run["maps"] if "gomp" in path] == [f"{run['site']}/torch/lib/libgomp-t.so"]
