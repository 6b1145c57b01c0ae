# SPDX-License-Identifier: Apache-2.0
"""A library that breaks the ISA contract does not build: Bazel itself fails, with object, function and instruction in its message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci.isolated import workspace
from ci.isolated.bazel import Bazel
from ci.isolated.world import World, run_in

PACKAGE = "//third_party/vllm/tests/isa"

# What is wrong with each library, which is right but for that.
BREACHES = {
    "enforced_bypassed_stub": [
        "/extra_caller.",
        "(level scalar): function vml_x100__Z5totalPKii is taken from x100.o (level x100)",
    ],
    "enforced_ime2_word": [
        "/ime2_word.",
        "function total(int const*, int): `smt.vmadot.hp v16,v2,v8,v0,0,i4` is an instruction of IME2 (xsmtvdotii), and level x100",
    ],
    "enforced_inline_op": [
        "/inline_op.",
        "(level x100): function total(int const*, int), with `vsetivli ",
        "is an inline or template function (binding WEAK)",
    ],
    "enforced_op_without_guard": [
        "/unguarded_op.",
        "(level scalar): it enters small_matrix of a100.o (level a100) and never asks",
    ],
    "enforced_vector_at_load": [
        "/vector_instruction.",
        "function at_load_time(): `vadd.vv v8,v8,v8` is a vector instruction",
        "level scalar",
    ],
}
RIGHT = "enforced_right"


@pytest.fixture(scope="module")
def builds(snapshot: Path, lent: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """Exit status and messages of `bazel build`, by target; one Bazel server serves all."""
    folder = tmp_path_factory.mktemp("isa_proof")
    workspace.copy(snapshot, folder / "workspace")
    bazel = Bazel(folder / "workspace", folder / "state", lent=lent, flags=["--jobs=2"])

    def work() -> None:
        try:
            done = {name: bazel.run("build", [f"{PACKAGE}:{name}"]) for name in (*BREACHES, RIGHT)}
        finally:
            bazel.stop()
        (folder / "builds.json").write_text(json.dumps({name: {"status": one.returncode, "said": one.stderr} for name, one in done.items()}))

    run_in(World(network=False), work)
    return json.loads((folder / "builds.json").read_text())


@pytest.mark.parametrize("name", BREACHES)
def test_breach_fails_the_build_by_name(builds: dict[str, dict], name: str) -> None:
    status, said = builds[name]["status"], builds[name]["said"]
    assert status == 1
    assert f"Target {PACKAGE}:{name} failed to build" in said
    (proof,) = (line for line in said.splitlines() if line.startswith("ISA proof: "))
    assert [part for part in BREACHES[name] if part not in proof] == [], said


def test_library_that_keeps_the_contract_builds(builds: dict[str, dict]) -> None:
    assert (builds[RIGHT]["status"], "ISA proof:" in builds[RIGHT]["said"]) == (0, False), builds[RIGHT]["said"]
