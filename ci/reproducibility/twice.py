# SPDX-License-Identifier: Apache-2.0
"""The same targets built in two worlds that differ in everything that must not matter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci.isolated import workspace
from ci.isolated.bazel import Bazel
from ci.isolated.errors import Finding, JobError
from ci.isolated.world import NOBODY, World, is_real_root, run_in
from ci.reproducibility import actions, compare, contents


@dataclass(frozen=True)
class Side:
    """One of the two builds. place: folder of everything that it makes. backwards: its copy of the workspace is made in the opposite order."""

    place: Path
    world: World
    jobs: int
    environment: Mapping[str, str]
    backwards: bool = False


@dataclass(frozen=True)
class Plan:
    """source: the workspace. targets: what is built. results: where both sides put what they made. flags: of both builds. lent: see Bazel."""

    source: Path
    targets: Sequence[str]
    results: Path
    flags: Sequence[str] = ()
    lent: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """artefacts: name -> both digests. comparison: of all actions' outputs. account: how the artefacts differ."""

    artefacts: Mapping[str, tuple[str, str]]
    comparison: compare.Comparison
    account: str


def sides(scratch: Path) -> tuple[Side, Side]:
    """Two output bases and workspace paths, users (for root), umasks, time zones, locales, host names, numbers of jobs, file systems and orders of files."""
    one = Side(scratch / "a", World(network=False, hostname="first", umask=0o022), 1, {"TZ": "UTC", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"})
    place = scratch / "another-place-with-a-longer-name"
    user = NOBODY if is_real_root() else None
    world = World(network=False, hostname="second.example", umask=0o077, memory=(place,), user=user)
    two = Side(place, world, 2, {"TZ": "CHAT-13:45", "LC_ALL": "POSIX", "LANG": "tr_TR.UTF-8"}, backwards=True)
    return one, two


def _build(plan: Plan, side: Side, results: Path) -> None:
    """In the side's world."""
    copy = side.place / ("checkout" if side.backwards else "workspace")
    workspace.copy(plan.source, copy, side.backwards)
    (results / "listing").write_text("\n".join(workspace.listing(copy)))
    bazel = Bazel(copy, side.place / "state", side.environment, plan.lent, [*plan.flags, f"--jobs={side.jobs}"])
    try:
        if bazel.run("build", plan.targets).returncode:
            raise JobError(f"the build in {side.place.name} failed; see the messages above")
        files = bazel.run("cquery", ["--output=files", f"set({' '.join(plan.targets)})"], quiet=True)
        graph = bazel.run("aquery", ["--output=jsonproto", "--noinclude_commandline", f"deps(set({' '.join(plan.targets)}))"], quiet=True)
        if files.returncode or graph.returncode:
            raise JobError(f"the query of what was built failed:\n{files.stderr}{graph.stderr}")
        root = bazel.output_base / "execroot/_main"
        for line in files.stdout.splitlines():
            shutil.copyfile(root / line, results / "artefacts" / Path(line).name)
        found = actions.parse(graph.stdout)
        (results / "build.json").write_text(actions.to_json(actions.Build(found, actions.digests(found, root))))
    finally:
        bazel.stop()


def build(plan: Plan, side: Side, name: str) -> Path:
    """Builds one side; the folder with its results."""
    results = plan.results / name
    (results / "artefacts").mkdir(parents=True)
    side.place.mkdir(parents=True)
    if side.world.user is not None:
        os.chown(results, side.world.user, side.world.user)
        os.chown(results / "artefacts", side.world.user, side.world.user)
    run_in(side.world, lambda: _build(plan, side, results))
    return results


def _digest(results: Path, name: str) -> str:
    path = results / "artefacts" / name
    return actions.digest(path) if path.exists() else "absent"


def judge(one: Path, two: Path) -> Outcome:
    """Compares what the two sides made."""
    if (one / "listing").read_text() == (two / "listing").read_text():
        raise JobError(
            "both copies of the workspace list their files in the same order, so the order of files was not varied\n  remedy: another file system for --scratch"
        )
    names = sorted({path.name for side in (one, two) for path in (side / "artefacts").iterdir()})
    if not names:
        raise JobError("the targets have no files")
    made = {name: (_digest(one, name), _digest(two, name)) for name in names}
    accounts = [
        contents.report(name, (one / "artefacts" / name).read_bytes(), (two / "artefacts" / name).read_bytes())
        for name, (left, right) in made.items()
        if left != right and "absent" not in (left, right)
    ]
    builds = [actions.from_json((side / "build.json").read_text()) for side in (one, two)]
    return Outcome(made, compare.compare(*builds), "\n".join(accounts))


def check(outcome: Outcome) -> None:
    """Finding if anything differs, an artefact or what it was made from."""
    wrong = [f"{name}: sha256 {left} and {right}" for name, (left, right) in outcome.artefacts.items() if left != right]
    if wrong or not outcome.comparison.same:
        raise Finding("\n".join(["two builds of the same source differ", *wrong, outcome.comparison.text, outcome.account]).rstrip())
