# SPDX-License-Identifier: Apache-2.0
"""Builds the release twice, in two worlds that differ in all that must not matter, and compares every artefact and every action's output.

What differs between the two: output base, workspace path, user (for root), umask, time zone, locale, host name, number of jobs, file system and
order of files. On a difference the first action that made other bytes from the same inputs is named, the artefacts' differing members and bytes are
shown, and the reports of diffoscope are written to bazel-reproducibility/ in the workspace.

Exit code: 0 nothing found, 1 something found, 2 the job could not be done.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.isolated import fetch, job, places, workspace
from ci.isolated.bazel import Bazel
from ci.reproducibility import diffoscope, twice

REPORTS = "bazel-reproducibility"


def reproducibility(targets: list[str], scratch: Path) -> twice.Outcome:
    """What both builds made; JobError."""
    source = scratch / "source"
    workspace.copy(Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]), source)
    print("fetch phase, with the network", flush=True)
    fetch.download(Bazel(source, scratch / "fetch", places.variables()), targets, places.repository_cache())
    fetch.fill(scratch / "locked", fetch.locked(fetch.lock_files(source)), places.repository_cache())
    shutil.rmtree(scratch / "fetch", ignore_errors=True)
    scratch.chmod(0o755)
    plan = twice.Plan(source, targets, scratch / "results", [f"--distdir={scratch / 'locked'}"])
    one, two = twice.sides(scratch)
    print(f"first build, in {one.place}", flush=True)
    first = twice.build(plan, one, "a")
    shutil.rmtree(one.place, ignore_errors=True)
    print(f"second build, in {two.place}", flush=True)
    return twice.judge(first, twice.build(plan, two, "b"))


def explain(outcome: twice.Outcome, results: Path, folder: Path) -> list[Path]:
    """Writes diffoscope's reports on the artefacts that differ; the files."""
    tree = Path(os.environ["RUNFILES_DIR"]) / os.environ["DIFFOSCOPE"]
    written = []
    for name, (left, right) in outcome.artefacts.items():
        if left != right and "absent" not in (left, right):
            folder.mkdir(exist_ok=True)
            file = folder / f"{name}.txt"
            file.write_text(diffoscope.report(tree.resolve(), results / "a/artefacts" / name, results / "b/artefacts" / name), encoding="utf-8")
            written.append(file)
    return written


def main(words: Sequence[str]) -> int:
    options = job.arguments_parser("reproducibility", __doc__, "//ci:release", "5 GB and 4 GB of memory").parse_args(words)

    def work(scratch: Path) -> list[str]:
        outcome = reproducibility(options.targets, scratch)
        for file in explain(outcome, scratch / "results", Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / REPORTS):
            print(f"diffoscope's report: {file}", file=sys.stderr)
        twice.check(outcome)
        artefacts = [f"{digest}  {name}" for name, (digest, _) in outcome.artefacts.items()]
        return [*artefacts, f"nothing found: both builds made the same artefacts, and the same {outcome.comparison.compared} outputs of actions"]

    return job.run("reproducibility", options.scratch, work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
