# SPDX-License-Identifier: Apache-2.0
"""pytest plugin for guest_pytest_test and host_pytest_test: shards, a journal of what ran, bounded output, a time limit for each case.

SM10_SHARD=INDEX/TOTAL   run only every TOTAL-th case, from INDEX on
SM10_JOURNAL=FILE        JSON lines: what will run, when a case starts and how it ends, so that a killed session still has a report
SM10_STACKS=FILE         where the stacks of all threads go when a time limit ends the session
SM10_CASE_LIMIT=SECONDS  a phase of a case that takes longer fails it; one that does not even react ends the session after twice that time
"""

from __future__ import annotations

import faulthandler
import importlib.metadata
import json
import os
import platform
import signal
import tempfile
from collections.abc import Generator, Iterator
from typing import TextIO

import pytest
import xml_text


def pytest_configure(config: pytest.Config) -> None:
    """Notes on what this is, and where stacks go."""
    facts = {"python": platform.python_version(), "machine": platform.machine()}
    try:
        facts["torch"] = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        pass
    _write({"event": "facts", "facts": facts})
    if os.environ.get("SM10_STACKS"):
        faulthandler.register(signal.SIGTERM, file=_stacks(), all_threads=True, chain=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps this shard's cases."""
    shard = os.environ.get("SM10_SHARD")
    if not shard:
        return
    index, total = (int(part) for part in shard.split("/"))
    kept = items[index::total]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_collection_finish(session: pytest.Session) -> None:
    """What will run."""
    event: dict[str, object] = {"event": "collected", "cases": [item.nodeid for item in session.items]}
    # With pytest-xdist each process collects the same, and the one that tells of the cases' ends collects nothing.
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        _append(event)
    elif session.items:
        _write(event)


def _write(event: dict[str, object]) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _append(event)


def _append(event: dict[str, object]) -> None:
    path = os.environ.get("SM10_JOURNAL")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


_stack_file: TextIO | None = None


def _stacks() -> TextIO:
    """Open for as long as the process lives: the handlers write to its descriptor."""
    global _stack_file
    if _stack_file is None:
        _stack_file = open(os.environ["SM10_STACKS"], "a", encoding="utf-8")
    return _stack_file


def pytest_runtest_logstart(nodeid: str, location: tuple[str, int | None, str]) -> None:
    """A case begins."""
    _write({"event": "start", "case": nodeid})


def _on_limit(limit: float, item: pytest.Item) -> None:
    """Stacks of all threads go into the case's report."""
    __tracebackhide__ = True
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        faulthandler.dump_traceback(file=file, all_threads=True)
        file.seek(0)
        item.add_report_section("call", "stderr", file.read())
    pytest.fail(f"time limit of {limit:g} s for one case reached")


def _limited(item: pytest.Item) -> Iterator[None]:
    """A phase's time limit: an alarm that Python code answers, and a watchdog for native code that does not return."""
    limit = float(os.environ.get("SM10_CASE_LIMIT") or 0)
    if not limit:
        return (yield)

    def on_alarm(_number: int, _frame: object) -> None:
        __tracebackhide__ = True
        _on_limit(limit, item)

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, limit)
    faulthandler.dump_traceback_later(2 * limit, exit=True, file=_stacks())
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Fixtures."""
    return (yield from _limited(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """The test's body."""
    return (yield from _limited(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fixtures' ends."""
    return (yield from _limited(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Cuts what a case printed before anything formats it."""
    report = yield
    report.sections = [(name, xml_text.shortened(content)) for name, content in report.sections]
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A phase of a case has ended; the case has when its teardown has."""
    _write({
        "event": "result", "case": report.nodeid, "when": report.when, "outcome": report.outcome, "seconds": report.duration,
        "text": xml_text.shortened(report.longreprtext), "output": report.capstdout + report.capstderr,
    })  # fmt: skip
    if report.when == "teardown":
        _write({"event": "end", "case": report.nodeid})
