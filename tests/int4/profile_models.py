# SPDX-License-Identifier: Apache-2.0
"""Profiles the small models on the emulated SM10: `python -m vllm_sm10.profile --count` for each, in the guest with the wheel."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Model and type of tests/int4's cases.
CASES = (("llama", "float32"), ("qwen2", "bfloat16"))
TOKENS = (32, 64)
_HERE = "tests/int4/profile"


def commands(model: str, dtype: str, work: Path, out: Path) -> Iterator[list[str]]:
    """What runs in the guest, one after the other."""
    name = f"{model}-{dtype}"
    checkpoint = work / name
    yield ["python3", str(work / "tiny_models.py"), "--model", model, "--dtype", dtype, "--out", str(checkpoint)]
    lengths = [word for tokens in TOKENS for word in ("--tokens", str(tokens))]
    files = ["--json", str(out / f"{name}.json"), "--svg", str(out / f"{name}.svg")]
    yield ["-m", "vllm_sm10.profile", str(checkpoint), "--dtype", dtype, "--quantization", "ime2", "--count", *lengths, *files]


def main() -> int:
    parser = argparse.ArgumentParser(prog="bazelw run //tests/int4:profile --", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], _HERE), help=f"folder to write to (default: {_HERE})")
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    runfiles = Path(os.environ["RUNFILES_DIR"])
    # Threads of an emulated core that wait in OpenMP spin.
    guest = [str(runfiles / os.environ["GUEST"]), "--level", "sm10", "--folder", str(out), "--env", "HF_HUB_OFFLINE=1", "--env", "OMP_NUM_THREADS=1"]
    with tempfile.TemporaryDirectory(prefix="profile-", dir=out) as folder:
        work = Path(folder)
        shutil.copy(runfiles / os.environ["TINY_MODELS"], work / "tiny_models.py")
        for model, dtype in CASES:
            for command in commands(model, dtype, work, out):
                status = subprocess.run([*guest, *command], env=os.environ | {"BAZELW_WORKING_DIRECTORY": str(work)}).returncode
                if status:
                    print(f"profile: {command[0]} {command[1]} ended with {status}", file=sys.stderr)
                    return 1
    print(f"written to {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
