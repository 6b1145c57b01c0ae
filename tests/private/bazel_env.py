# SPDX-License-Identifier: Apache-2.0
"""What Bazel tells a test by environment variables."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile
from collections.abc import Mapping

# Seconds left to Bazel for killing and for the logs: tracebacks must be out before, and an emulated Python takes long for them.
GUEST_MARGIN = 40.0
HOST_MARGIN = 8.0


@dataclasses.dataclass(frozen=True)
class BazelTest:
    """report: where the JUnit file goes. outputs: files kept after the test. temporary: scratch. filter: --test_filter. shard: INDEX/TOTAL or None.
    time_limit: seconds until the test ends itself.
    """

    report: pathlib.Path
    outputs: pathlib.Path
    temporary: pathlib.Path
    filter: str | None
    shard: str | None
    time_limit: float | None


def read(environ: Mapping[str, str], margin: float = GUEST_MARGIN) -> BazelTest:
    """The test's settings; outside of Bazel (a plain `bazel run`) files go to a fresh temporary folder."""
    temporary = pathlib.Path(environ.get("TEST_TMPDIR") or tempfile.mkdtemp(prefix="pytest-"))
    outputs = pathlib.Path(environ.get("TEST_UNDECLARED_OUTPUTS_DIR") or temporary / "outputs")
    report = pathlib.Path(environ.get("XML_OUTPUT_FILE") or temporary / "report.xml")
    outputs.mkdir(parents=True, exist_ok=True)
    total = int(environ.get("TEST_TOTAL_SHARDS") or 1)
    if total > 1 and environ.get("TEST_SHARD_STATUS_FILE"):
        pathlib.Path(environ["TEST_SHARD_STATUS_FILE"]).touch()
    timeout = float(environ["TEST_TIMEOUT"]) if environ.get("TEST_TIMEOUT") else None
    return BazelTest(
        report=report.absolute(),
        outputs=outputs.absolute(),
        temporary=temporary.absolute(),
        filter=environ.get("TESTBRIDGE_TEST_ONLY") or None,
        shard=f"{environ.get('TEST_SHARD_INDEX', '0')}/{total}" if total > 1 else None,
        time_limit=max(timeout / 2, timeout - margin) if timeout else None,
    )


def pytest_options(test: BazelTest) -> list[str]:
    """Options of every session: names as they run, no cache files, JUnit's newer family."""
    options = ["-v", "-p", "bazel_pytest", "-p", "no:cacheprovider", "-o", "junit_family=xunit2", "-o", "junit_logging=all"]
    options += ["--durations=10", "--strict-markers", "--color=no"]
    return [*options, "-k", test.filter] if test.filter else options


def plugin_variables(test: BazelTest, folder: pathlib.Path, case_time_limit: int) -> dict[str, str]:
    """What the plugin reads; folder is where the session's files are, as the session sees it."""
    variables = {"SM10_JOURNAL": str(folder / "journal.jsonl"), "SM10_STACKS": str(folder / "stacks.txt")}
    if test.shard:
        variables["SM10_SHARD"] = test.shard
    if case_time_limit:
        variables["SM10_CASE_LIMIT"] = str(case_time_limit)
    return variables
