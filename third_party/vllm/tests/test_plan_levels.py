# SPDX-License-Identifier: Apache-2.0
"""The planner: which ops get a stub, what a stub does, what is bound at load."""

from __future__ import annotations

import pytest

from plan_levels import Level, Part, PlanError, Symbols, cxx_name, entries_of, late_bound, ops_of, parse_level, parse_nm, parse_part, stub, table

_BOTH, _VECTOR_ONLY = "_Z8rms_normv", "_Z14cpu_gemm_wna16v"


def _level(name: str, vlenb: int, *ops: str, undefined: tuple[str, ...] = ()) -> Level:
    return Level(name, vlenb, Symbols(frozenset(ops), frozenset(undefined)))


_SCALAR = _level("scalar", 0, _BOTH)
_X100 = _level("x100", 32, _BOTH, _VECTOR_ONLY)
_BINDINGS = Symbols(frozenset({"PyInit__C"}), frozenset({_BOTH, _VECTOR_ONLY, "_ZN3c105ErrorE"}))


def test_op_is_what_the_bindings_want_and_a_level_has() -> None:
    assert ops_of(_BINDINGS, [_SCALAR, _X100]) == sorted([_BOTH, _VECTOR_ONLY])


def test_stub_jumps_to_each_level() -> None:
    text = stub(_BOTH, [_SCALAR, _X100])
    assert f"tail vml_scalar_{_BOTH}" in text and f"tail vml_x100_{_BOTH}" in text


def test_stub_of_an_op_that_every_level_has_reports_nothing() -> None:
    assert "sm10_missing_op" not in stub(_BOTH, [_SCALAR, _X100])


def test_stub_of_an_op_that_a_level_lacks_names_the_op() -> None:
    text = stub(_VECTOR_ONLY, [_SCALAR, _X100])
    assert "tail sm10_missing_op" in text and '.asciz "cpu_gemm_wna16"' in text


def test_table_tells_stub_name_and_levels_of_each_op() -> None:
    rows = [line for line in table([_BOTH, _VECTOR_ONLY], [_SCALAR, _X100]).splitlines() if ".quad" in line or ".asciz" in line]
    expected = ['7:\t.asciz "rms_norm"', f"\t.quad {_BOTH}, 7b, 33", '7:\t.asciz "cpu_gemm_wna16"', f"\t.quad {_VECTOR_ONLY}, 7b, 32", "\t.quad 0, 0, 0"]
    assert rows == expected


def test_stub_reads_vlenb_only_where_a_vector_level_may_run() -> None:
    lines = [line.strip() for line in stub(_BOTH, [_SCALAR, _X100]).splitlines()]
    assert lines.index("beqz t0, 1f") < lines.index("csrr t1, 0xc22")


def test_stub_touches_temporaries_only_before_it_jumps_to_a_level() -> None:
    lines = [line.strip() for line in stub(_BOTH, [_SCALAR, _X100]).splitlines()]
    written = {line.split()[1].rstrip(",") for line in lines if line.startswith(("lbu", "csrr", "and", "li"))}
    assert written == {"t0", "t1"}


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("_Z8rms_normRN2at6TensorE", "rms_norm"), ("_ZN9cpu_utils18expand_kernel_implERN2at6TensorE", "cpu_utils::expand_kernel_impl"), ("plain", "plain")],
)
def test_name_in_messages_is_the_functions(symbol: str, name: str) -> None:
    assert cxx_name(symbol) == name


def test_torchs_symbols_are_bound_at_load() -> None:
    torch = Symbols(frozenset({"_ZN3c105ErrorE", "unused"}), frozenset())
    assert late_bound([_BINDINGS], [_SCALAR, _X100], [torch], [_BOTH, _VECTOR_ONLY]) == ["_ZN3c105ErrorE"]


def test_what_a_level_hides_does_not_serve_another_object() -> None:
    scalar = _level("scalar", 0, _BOTH, "helper")
    x100 = _level("x100", 32, _BOTH, undefined=("helper",))
    torch = Symbols(frozenset({"helper"}), frozenset())
    assert late_bound([_BINDINGS], [scalar, x100], [torch], [_BOTH]) == ["helper"]


def test_interpreters_symbols_are_bound_at_load() -> None:
    module = Symbols(frozenset(), frozenset({"PyModule_Create2"}))
    assert late_bound([module], [], [], []) == ["PyModule_Create2"]


_PART = Part("a100", Symbols(frozenset({"gemm", "helper"}), frozenset()))
_CALLER = Symbols(frozenset(), frozenset({"gemm", "memcpy"}))


def test_entry_of_a_part_is_what_another_object_calls() -> None:
    assert entries_of(_PART, [_CALLER], [_SCALAR, _X100], [_BOTH]) == ["gemm"]


def test_part_takes_no_core_from_the_levels() -> None:
    assert "a100" not in stub(_BOTH, [_SCALAR, _X100]) and ops_of(_BINDINGS, [_SCALAR, _X100]) == sorted([_BOTH, _VECTOR_ONLY])


def test_entry_of_a_part_is_not_bound_at_load() -> None:
    torch = Symbols(frozenset({"gemm"}), frozenset())
    assert late_bound([_CALLER], [_SCALAR, _PART], [torch], ["gemm"]) == []


@pytest.mark.parametrize(
    ("part", "callers", "text"),
    [
        (Part("x100", _PART.symbols), [_CALLER], "--part x100: it is a --level too"),
        (Part("a100", Symbols(frozenset({_BOTH}), frozenset())), [_CALLER], "--part a100: it defines rms_norm, an op that is chosen by level"),
        (_PART, [_BINDINGS], "--part a100: no object calls anything of it"),
    ],
)
def test_part_that_does_not_fit_is_refused_with_the_reason(part: Part, callers: list[Symbols], text: str) -> None:
    with pytest.raises(PlanError, match=text):
        entries_of(part, callers, [_SCALAR, _X100], [_BOTH])


@pytest.mark.parametrize("text", ["a100", "A100=o", "=o", "a100="])
def test_malformed_part_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(PlanError, match="expected NAME=OBJECT"):
        parse_part(text, "nm-is-not-reached")


def test_nm_output_splits_into_defined_and_undefined() -> None:
    symbols = parse_nm("f T 0 4\nu U         \nw w         \nv V 10 8\n")
    assert (symbols.defined, symbols.undefined) == ({"f", "v"}, {"u", "w"})


@pytest.mark.parametrize("text", ["x100=o", "X:32=o", "x100:33=o", "x100:256=o"])
def test_malformed_level_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(PlanError, match="--level"):
        parse_level(text, "nm-is-not-reached")
