# SPDX-License-Identifier: Apache-2.0
"""pytest plugin for guest_pytest_test and host_pytest_test: shards, and a journal of what ran.

SM10_SHARD=INDEX/TOTAL  run only every TOTAL-th case, from INDEX on
SM10_JOURNAL=FILE       one JSON line when a case starts and when it ends, so that a killed session still has a report
"""

from __future__ import annotations

import json
import os
import time

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps this shard's cases."""
    shard = os.environ.get("SM10_SHARD")
    if not shard:
        return
    index, total = (int(part) for part in shard.split("/"))
    kept = items[index::total]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _write(event: dict[str, object]) -> None:
    path = os.environ.get("SM10_JOURNAL")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


def pytest_runtest_logstart(nodeid: str, location: tuple[str, int | None, str]) -> None:
    """A case begins."""
    _write({"event": "start", "case": nodeid, "clock": time.time()})


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A phase of a case has ended; the case has when its teardown has."""
    if report.failed or report.when == "call" or report.skipped:
        _write({"event": "result", "case": report.nodeid, "outcome": report.outcome, "text": report.longreprtext[-4000:]})
    if report.when == "teardown":
        _write({"event": "end", "case": report.nodeid, "clock": time.time()})
