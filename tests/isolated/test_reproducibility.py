# SPDX-License-Identifier: Apache-2.0
"""A part of the real build gives the same bytes in two worlds; an action that does not is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SAMPLE

from ci.isolated import workspace
from ci.isolated.errors import Finding
from ci.isolated.world import World, run_in
from ci.reproducibility import twice
from ci.reproducibility.compare import Difference

# The first action writes when it ran; the second's output differs because of it.
STAMPED = """
genrule(name = "stamp", outs = ["stamp.txt"], cmd = "date +%s.%N > $@")
genrule(name = "uses_stamp", srcs = [":stamp"], outs = ["used.txt"], cmd = "cp $< $@")
genrule(name = "innocent", outs = ["innocent.txt"], cmd = "echo always > $@")
"""
TARGETS = [SAMPLE, "//sabotage:uses_stamp", "//sabotage:innocent"]


@pytest.fixture(scope="module")
def outcome(snapshot: Path, lent: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> twice.Outcome:
    scratch = tmp_path_factory.mktemp("reproducibility")
    source = scratch / "source"
    workspace.copy(snapshot, source)
    (source / "sabotage").mkdir()
    (source / "sabotage/BUILD.bazel").write_text(STAMPED)
    plan = twice.Plan(source, TARGETS, scratch / "results", lent=lent)
    one, two = twice.sides(scratch)
    return twice.judge(twice.build(plan, one, "a"), twice.build(plan, two, "b"))


def differing(outcome: twice.Outcome) -> list[Difference]:
    return [difference for difference in outcome.comparison.first if "sabotage" not in difference.action.target]


def test_wheel_and_kernel_objects_are_the_same_bytes(outcome: twice.Outcome) -> None:
    names = [name for name in outcome.artefacts if name.endswith((".whl", ".o"))]
    assert len(names) >= 2
    assert {name: digests for name, digests in outcome.artefacts.items() if name in names and digests[0] != digests[1]} == {}


def test_no_action_of_the_sample_makes_other_bytes(outcome: twice.Outcome) -> None:
    assert [difference.text for difference in differing(outcome)] == []
    assert outcome.comparison.absent == ()
    assert outcome.comparison.compared > 30


def test_time_in_an_action_is_found_where_it_comes_in(outcome: twice.Outcome) -> None:
    assert [difference.action.name for difference in outcome.comparison.first] == ["Genrule of //sabotage:stamp"]
    assert outcome.comparison.later == 1


def test_finding_names_the_action_and_the_bytes(outcome: twice.Outcome) -> None:
    with pytest.raises(Finding) as found:
        twice.check(outcome)
    assert "first differing action: Genrule of //sabotage:stamp (the same command on the same inputs)" in str(found.value)
    assert "used.txt: first at offset 0x" in str(found.value)


def test_the_worlds_differ_in_what_the_job_says(tmp_path: Path) -> None:
    one, two = twice.sides(tmp_path)
    assert one.place != two.place
    assert one.jobs != two.jobs
    assert one.environment.keys() == two.environment.keys()
    assert [name for name in one.environment if one.environment[name] == two.environment[name]] == []
    assert (one.world.umask, one.world.hostname) != (two.world.umask, two.world.hostname)


def test_host_name_and_umask_are_those_of_the_world(tmp_path: Path) -> None:
    def work() -> None:
        import socket

        (tmp_path / "new").touch()
        (tmp_path / "said").write_text(f"{socket.gethostname()} {(tmp_path / 'new').stat().st_mode & 0o777:o}")

    run_in(World(network=False, hostname="elsewhere.example", umask=0o077), work)
    assert (tmp_path / "said").read_text() == "elsewhere.example 600"
