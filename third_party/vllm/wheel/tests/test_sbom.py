# SPDX-License-Identifier: Apache-2.0
"""The bill of materials is CycloneDX, whole, and the same bytes for the same inputs."""

import json
from dataclasses import replace

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from wheelbuild import sbom
from wheelbuild.errors import WheelError
from wheelbuild.inputs import HashedFile, LockedFile

SNAPSHOT = "20261030T080801Z"
COMPILER = LockedFile("debian", "g++-15", "15.2.0-9+b1", "amd64", "forky", "a" * 64, "g++-15_15.2.0-9+b1_amd64.deb", SNAPSHOT, ("debian/exec",))
LIBC = LockedFile("debian", "libc6-dev", "2.42-1", "riscv64", "forky", "b" * 64, "libc6-dev_2.42-1_riscv64.deb", SNAPSHOT, ("debian/sysroot",))
VLLM = LockedFile("pypi", "vllm", "0.33.0", "", "", "c" * 64, "vllm-0.33.0.tar.gz", "", ("pypi/sdist",))
FILES = [COMPILER, LIBC, VLLM]
PATCHES = [HashedFile("vllm_patches/1.patch", "d" * 64), HashedFile("vllm_patches/2.patch", "e" * 64)]


def made(files: list[LockedFile] = FILES, patches: list[HashedFile] = PATCHES) -> dict:
    return json.loads(sbom.document("vllm", "0.33.0+sm10", files, patches, "g++-15"))


def component(document: dict, name: str) -> dict:
    (found,) = (entry for entry in document["components"] if entry["name"] == name)
    return found


def test_document_is_valid_by_the_official_schema() -> None:
    text = sbom.document("vllm", "0.33.0+sm10", FILES, PATCHES, "g++-15").decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_same_inputs_in_another_order_give_the_same_bytes() -> None:
    assert sbom.document("vllm", "1", FILES, PATCHES, "g++-15") == sbom.document("vllm", "1", FILES[::-1], PATCHES, "g++-15")


@pytest.mark.parametrize("changed", [replace(LIBC, sha256="f" * 64), replace(LIBC, version="2.42-2")], ids=["digest", "version"])
def test_serial_number_is_the_contents(changed: LockedFile) -> None:
    assert made()["serialNumber"] == made()["serialNumber"]
    assert made()["serialNumber"] != made([COMPILER, changed, VLLM])["serialNumber"]


def test_time_is_that_of_the_newest_snapshot() -> None:
    newer = replace(LIBC, snapshot="20261101T000000Z")
    assert made([COMPILER, newer, VLLM])["metadata"]["timestamp"] == "2026-11-01T00:00:00+00:00"


def test_debian_package_is_named_by_purl_with_architecture_and_suite() -> None:
    entry = component(made(), "g++-15")
    assert entry["purl"] == "pkg:deb/debian/g%2B%2B-15@15.2.0-9%2Bb1?arch=amd64&distro=forky"
    assert entry["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]


def test_what_is_in_the_wheel_is_told_from_what_only_builds_it() -> None:
    document = made()
    assert {name: component(document, name)["scope"] for name in ("g++-15", "libc6-dev", "vllm")} == {
        "g++-15": "excluded",
        "libc6-dev": "required",
        "vllm": "required",
    }


def test_patches_are_listed_with_digest_and_belong_to_upstream() -> None:
    document = made()
    assert component(document, "vllm_patches/2.patch")["hashes"] == [{"alg": "SHA-256", "content": "e" * 64}]
    urls = [patch["diff"]["url"] for patch in component(document, "vllm")["pedigree"]["patches"]]
    assert urls == [patch.path for patch in PATCHES]


def test_compiler_that_is_no_input_is_refused() -> None:
    with pytest.raises(WheelError, match="the compiler gcc-99 is not among the locked inputs"):
        sbom.document("vllm", "1", FILES, PATCHES, "gcc-99")


def test_two_upstreams_are_refused() -> None:
    with pytest.raises(WheelError, match="2 source distributions"):
        made([*FILES, replace(VLLM, name="other")])
