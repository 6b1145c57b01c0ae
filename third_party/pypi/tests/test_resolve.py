# SPDX-License-Identifier: Apache-2.0
"""Of a release's files the most specific one that the platform can use is taken."""

import pytest
from lockfile import Request
from resolve import ResolveError, best_wheel, project_files, resolve_sdists, resolve_wheels

PURE = "a-1-py3-none-any.whl"
NATIVE = "a-1-cp314-cp314-manylinux_2_31_riscv64.manylinux_2_39_riscv64.whl"
STABLE = "a-1-cp310-abi3-manylinux_2_31_riscv64.whl"


def best(*names: str) -> str | None:
    return best_wheel(list(names), "3.14", "riscv64", "2.41")


def test_own_version_beats_stable_abi_beats_pure() -> None:
    assert best(PURE, STABLE, NATIVE) == NATIVE
    assert best(PURE, STABLE) == STABLE
    assert best(PURE) == PURE


@pytest.mark.parametrize(
    "name",
    [
        "a-1-cp314-cp314-manylinux_2_42_riscv64.whl",  # a newer glibc
        "a-1-cp314-cp314-musllinux_1_2_riscv64.whl",
        "a-1-cp314-cp314-manylinux_2_31_x86_64.whl",
        "a-1-cp313-cp313-manylinux_2_31_riscv64.whl",
        "a-1-cp314-cp314t-manylinux_2_31_riscv64.whl",  # no GIL
        "a-1-cp315-abi3-manylinux_2_31_riscv64.whl",
    ],
)
def test_what_the_platform_cannot_use_is_not_taken(name: str) -> None:
    assert best(name) is None


def test_missing_resolver_says_how_to_name_it(tmp_path) -> None:
    request = Request("exec", ("alpha",), "3.14", "x86_64-unknown-linux-gnu", "2.41")
    with pytest.raises(ResolveError, match="cannot start the resolver 'no-such-program'.*--uv"):
        resolve_wheels(request, [], "file:///none", "no-such-program", tmp_path)


def test_sdist_must_be_pinned() -> None:
    with pytest.raises(ResolveError, match="'alpha>=1' must pin its version"):
        resolve_sdists(Request("sdist", ("alpha>=1",)), "file:///none")


def test_index_that_does_not_answer_is_named(tmp_path) -> None:
    with pytest.raises(ResolveError, match="alpha: no usable answer from the package index.*check PYPI_INDEX"):
        project_files("alpha", tmp_path.as_uri())
