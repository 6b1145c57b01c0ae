# SPDX-License-Identifier: Apache-2.0
"""Every op that `_C` registers is checked, and every check has its op."""

from __future__ import annotations

import ctypes
import importlib
import mmap
import os
from pathlib import Path
from types import FunctionType

import torch

import registry
from registry import MARKS, NAMESPACE, VECTOR_LEVELS, at_levels, op, states

HERE = Path(__file__).parent


def test_functions() -> list[FunctionType]:
    modules = [importlib.import_module(path.stem) for path in sorted(HERE.glob("test_*.py"))]
    return [value for module in modules for name, value in vars(module).items() if name.startswith("test_") and isinstance(value, FunctionType)]


test_functions.__test__ = False


def marked(mark: str) -> set[str]:
    """The ops that tests of this level carry the mark for."""
    names: set[str] = set()
    for function in test_functions():
        marks = getattr(function, "pytestmark", [])
        levels = {n for m in marks if m.name == "at_levels" for n in m.args}
        if levels and registry.level() not in levels:
            continue
        names |= {n for m in marks if m.name == mark for n in m.args}
    return names


def bare(names: frozenset[str]) -> set[str]:
    return {name.removeprefix(f"{NAMESPACE}::") for name in names}


def test_library_registers_in_one_namespace(registered_ops: frozenset[str]) -> None:
    strays = sorted(n for n in registered_ops if not n.startswith(f"{NAMESPACE}::"))
    assert strays == []


def test_every_registered_op_has_a_check(registered_ops: frozenset[str]) -> None:
    unchecked = sorted(bare(registered_ops) - set().union(*map(marked, MARKS)))
    assert unchecked == []


def test_every_check_has_a_registered_op(registered_ops: frozenset[str]) -> None:
    gone = sorted(set().union(*map(marked, MARKS)) - bare(registered_ops))
    assert gone == []


def test_only_declared_ops_do_nothing_but_refuse() -> None:
    expected = set(registry.REFUSED_EVERYWHERE | registry.NEEDS_MATRIX)
    if not registry.is_vector_level():
        expected |= registry.VECTOR_ONLY
    assert marked("refuses") - marked("covers") - marked("states") == expected


def test_every_computing_op_has_a_cpu_kernel(registered_ops: frozenset[str]) -> None:
    def runs_on_cpu(name: str) -> bool:
        return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"))

    assert sorted(n for n in registered_ops if not runs_on_cpu(n)) == []


def vector_register_bytes() -> int:
    """Runs `csrr a0, vlenb; ret`."""
    code = bytes.fromhex("732520c267800000")
    page = mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_ulong)(address)()


@at_levels(*VECTOR_LEVELS)
def test_core_has_the_vlen_that_the_run_claims() -> None:
    assert vector_register_bytes() * 8 == int(os.environ["SM10_VLEN"])


@states("sm10_level")
def test_library_chose_the_level_that_the_run_claims() -> None:
    assert op("sm10_level")() == registry.level()
