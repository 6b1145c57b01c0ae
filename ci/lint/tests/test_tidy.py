# SPDX-License-Identifier: Apache-2.0
"""clang-tidy (.clang-tidy) finds nothing in any C or C++ source: one case for each source at each level that it is looked at."""

import os
from pathlib import Path

import pytest
from conftest import files

# Where no target compiles a source as it stands; each path or folder with the reason.
NOT_LOOKED_AT = {
    "tests/toolchains/includes_much.cc": "is compiled by an action that is a shell command (poisoned_host.bzl)",
    "third_party/vllm/tests/guard/sources/": "lines that must not compile",
    "third_party/vllm/tests/isa/sources/": "each breaks the ISA contract on purpose",
}
PLANTED = "ci/lint/tests/planted.cc"


def reports() -> dict[str, Path]:
    """TARGET.tidy/SOURCE, relative to the folder of outputs, and the file."""
    found = [Path(name) for name in os.environ["TIDY_REPORTS"].split()]
    return {f"{path}": path for path in sorted(found)}


def source_of(report: str) -> str:
    return report.partition(".tidy/")[2]


@pytest.mark.parametrize("report", [name for name in reports() if source_of(name) != PLANTED])
def test_nothing_is_found(report: str) -> None:
    found = Path(report).read_text()
    if found:
        pytest.fail(found, pytrace=False)


def test_every_source_is_looked_at() -> None:
    sources = {name for name in files("cc", ".c", ".cc") if not name.startswith(tuple(NOT_LOOKED_AT))}
    missing = sources - {source_of(name) for name in reports()}
    assert not missing, f"not looked at: {sorted(missing)}; remedy: name a target that compiles them in ci/lint/tidy/BUILD.bazel"


@pytest.mark.parametrize("path", NOT_LOOKED_AT)
def test_exceptions_are_there(path: str) -> None:
    assert any(name.startswith(path) for name in files("cc", ".c", ".cc"))


@pytest.fixture(scope="module")
def planted() -> str:
    (report,) = [path for name, path in reports().items() if source_of(name) == PLANTED]
    return report.read_text()


@pytest.mark.parametrize(
    ("place", "check"),
    [
        ("planted.cc:13:", "performance-unnecessary-value-param"),
        ("planted.cc:18:", "clang-diagnostic-sizeof-pointer-memaccess"),
        ("planted.h:13:", "bugprone-use-after-move"),
    ],
)
def test_planted_mistake_is_found(planted: str, place: str, check: str) -> None:
    assert [line for line in planted.splitlines() if f"ci/lint/tests/{place}" in line and line.endswith(f"[{check}]")]


def test_paths_of_a_report_are_those_of_the_repository(planted: str) -> None:
    places = [line.partition(":")[0] for line in planted.splitlines() if ": warning: " in line]
    assert {place.removeprefix("./") for place in places} == {PLANTED, "ci/lint/tests/planted.h"}
