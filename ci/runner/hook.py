# SPDX-License-Identifier: Apache-2.0
"""The runner's hooks: what happens before a job's first step, and after its last."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping
from pathlib import Path

from ci.runner import admission, board, job, ledger, leftovers, places, wipe
from ci.runner.config import Config
from ci.runner.faults import Kind, RunnerError

# The runner has filled these for the job before it calls the hook, and empties them itself before that.
KEPT = ("_PipelineMapping", "_actions", "_temp")

Say = Callable[[str], None]


def _workspace(work: Path, environment: Mapping[str, str]) -> Path:
    """The folder in which the job's steps start."""
    place = Path(environment.get("GITHUB_WORKSPACE", ""))
    if not place.is_absolute() or ".." in place.parts or not place.is_relative_to(work) or place == work:
        raise RunnerError(Kind.ENVIRONMENT, f"GITHUB_WORKSPACE {str(place)!r} is not in {work}", f"register the runner with --work {work}")
    return place


def _fit(root: Path, config: Config, say: Say) -> None:
    bad = []
    for finding in board.examine(root, config, settings=False):
        say(str(finding))
        if not finding.good:
            bad.append(finding)
    if bad:
        raise RunnerError(Kind.BOARD, "; ".join(f"{finding.name}: {finding.found}" for finding in bad), bad[0].remedy)


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a hook works on. `uid` is the runner's user, whose processes end with the job: never root."""

    root: Path
    config: Config
    uid: int
    say: Say


def started(machine: Machine, environment: Mapping[str, str], now: datetime.datetime) -> None:
    """Admits a job, or not; then makes the machine ready for it.

    Raises:
      RunnerError: the job must not run.
    """
    root, config, say = machine.root, machine.config, machine.say
    found = job.read(environment)
    work = root / places.WORK
    workspace = _workspace(work, environment)
    admission.admit(config, found, now)
    ledger.admit(root / places.LEDGER, config, found, now)
    say(f"admitted: {found.event} of {found.repository} at {found.sha}, run {found.run}, attempt {found.attempt}, job {found.name}")
    leftovers.end_all(root, machine.uid, say)
    wipe.empty(work, KEPT)
    workspace.mkdir(parents=True)
    say(f"wiped: {work}")
    _fit(root, config, say)


def completed(machine: Machine) -> None:
    """Ends what the job left. The governor is put back as root when the unit stops; here it is looked at.

    Raises:
      RunnerError: something stays, or the governor was changed and cannot be put back from here.
    """
    root, config, say = machine.root, machine.config, machine.say
    leftovers.end_all(root, machine.uid, say)
    for name in leftovers.remove_shared(root / "dev/shm", machine.uid):
        say(f"removed /dev/shm/{name}")
    wipe.empty(root / places.WORK, KEPT)
    other = sorted(name for name, governor in board.governors(root).items() if governor != config.governor)
    if not other:
        return
    try:
        board.set_governor(root, config.governor)
    except OSError as error:
        raise RunnerError(Kind.BOARD, f"the job changed /{other[0]}, and it cannot be put back: {error.strerror}", "sudo sm10-runner prepare") from error
    say(f"governor put back to {config.governor} on {len(other)} cores")
