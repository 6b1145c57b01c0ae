# SPDX-License-Identifier: Apache-2.0
"""The wheel's bill of materials and its provenance say what is true of this wheel."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

WHEEL = Path(os.environ["WHEEL"])
LOCKS = {name: Path(os.environ[name]).read_text() for name in ("DEBIAN_LOCK", "PYPI_LOCK")}
SERIES = Path(os.environ["SERIES"])
PREFIX = "vllm-sm10:"


@pytest.fixture(scope="module")
def text() -> str:
    with zipfile.ZipFile(WHEEL) as wheel:
        (name,) = (name for name in wheel.namelist() if re.fullmatch(r"vllm-[^/]*\.dist-info/sboms/[^/]*\.cdx\.json", name))
        return wheel.read(name).decode()


@pytest.fixture(scope="module")
def components(text: str) -> list[dict]:
    return json.loads(text)["components"]


@pytest.fixture(scope="module")
def statement() -> dict:
    return json.loads(Path(os.environ["PROVENANCE"]).read_text())


def properties(component: dict, name: str) -> list[str]:
    return [entry["value"] for entry in component.get("properties", []) if entry["name"] == PREFIX + name]


def test_bill_of_materials_is_valid_by_the_official_schema(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_sets_are_those_that_the_library_is_made_from(components: list[dict]) -> None:
    # What this project's build reaches today: a new set here is a new input of the wheel, and has to be meant.
    found = {value for component in components for value in properties(component, "set")}
    assert found == {"debian/bazel", "debian/exec", "debian/sysroot", "debian/unpacker", "pypi/exec", "pypi/sbom", "pypi/sdist"}


@pytest.mark.parametrize("reached", ["debian/exec", "debian/sysroot", "pypi/sdist"])
def test_every_file_of_a_set_is_listed(reached: str, components: list[dict]) -> None:
    ecosystem, _, name = reached.partition("/")
    rows = [line.split("\t") for line in LOCKS[ecosystem.upper() + "_LOCK"].splitlines() if not line.startswith("#")]
    locked = {row[4] for row in rows if name in (row[8].split(",") if ecosystem == "debian" else [row[0]])}
    listed = {component["hashes"][0]["content"] for component in components if reached in properties(component, "set")}
    assert listed == locked


def test_every_patch_of_the_series_is_listed_as_it_is(components: list[dict]) -> None:
    names = [line for line in SERIES.read_text().splitlines() if line and not line.startswith("#")]
    listed = {component["name"]: component["hashes"][0]["content"] for component in components if properties(component, "role") == ["patch"]}
    assert listed == {f"vllm_patches/{name}": hashlib.sha256((SERIES.parent / name).read_bytes()).hexdigest() for name in names}


def test_compiler_is_the_one_that_the_libraries_name(components: list[dict]) -> None:
    (compiler,) = (component for component in components if properties(component, "role") == ["compiler"])
    with zipfile.ZipFile(WHEEL) as wheel:
        comments = [re.findall(rb"GCC: \([^)]*\) (\d+\.\d+\.\d+)", wheel.read(name)) for name in wheel.namelist() if name.endswith(".so")]
    versions = {version.decode() for found in comments for version in found}
    assert versions == {compiler["version"].split("-")[0]}


def test_provenance_names_this_wheel(statement: dict) -> None:
    assert statement["subject"] == [{"name": WHEEL.name, "digest": {"sha256": hashlib.sha256(WHEEL.read_bytes()).hexdigest()}}]


def test_provenance_lists_what_the_bill_of_materials_lists(statement: dict, components: list[dict]) -> None:
    dependencies = {entry["digest"]["sha256"] for entry in statement["predicate"]["buildDefinition"]["resolvedDependencies"]}
    assert {component["hashes"][0]["content"] for component in components} <= dependencies


def test_provenance_lists_own_sources_by_their_path_in_the_workspace(statement: dict) -> None:
    dependencies = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    own = {entry["name"]: entry["digest"]["sha256"] for entry in dependencies if "uri" not in entry}
    assert own["vllm_patches/series"] == hashlib.sha256(SERIES.read_bytes()).hexdigest()
    assert {"third_party/vllm/runtime/level.cc", "ime2/kernel/ime2_hp_gemm.cc"} <= set(own)


@pytest.mark.parametrize("trace", ["bazel-out", "execroot", "external/", "/tmp", "/home", "/root"])
def test_neither_holds_a_path_of_the_build(trace: str, text: str, statement: dict) -> None:
    assert trace not in text
    assert trace not in json.dumps(statement)
