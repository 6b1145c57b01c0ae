# SPDX-License-Identifier: Apache-2.0
"""The IME2 ops as GCC and as Clang compile them give the same bits, by the instructions and without them."""

import functools
import os
import pathlib
import subprocess
import sys


@functools.cache
def products(compiler: str) -> dict[str, str]:
    """Name and digest of each product."""
    library = pathlib.Path(os.environ[f"OPS_{compiler}"]).absolute()
    program = pathlib.Path(__file__).with_name("products.py")
    done = subprocess.run([sys.executable, str(program), str(library)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


def test_libraries_are_by_different_compilers() -> None:
    texts = {name: pathlib.Path(os.environ[f"OPS_{name}"]).read_bytes() for name in ("CLANG", "GCC")}
    assert {name: b"clang version" in text for name, text in texts.items()} == {"CLANG": True, "GCC": False}


def test_every_product_has_the_same_bits() -> None:
    assert products("CLANG") == products("GCC") and len(products("GCC")) == 20


def test_instructions_and_the_portable_path_agree() -> None:
    found = products("CLANG")
    assert [name for name in found if name.endswith("instructions") and found[name] != found[name.replace("instructions", "portable")]] == []
