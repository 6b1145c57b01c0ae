# SPDX-License-Identifier: Apache-2.0
"""Reads Bazel's build events (--build_event_json_file): which tests there were, what became of each, and where its files are."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import urllib.parse
from collections.abc import Sequence

from ci.report import cells
from ci.report.cells import Collected, Part
from ci.report.errors import UsageError

_REMEDY = "give the file that `./bazelw test ... --build_event_json_file=FILE` wrote"
_TEST_RULE = re.compile(r"_test rule$")


@dataclasses.dataclass
class Target:
    """shards: of the test. parts: the last attempt of each shard and run. incompatible, problem: why there are no parts."""

    shards: int = 1
    parts: dict[tuple[int, int], Part] = dataclasses.field(default_factory=dict)
    incompatible: str = ""
    problem: str = ""


@dataclasses.dataclass
class Events:
    """targets: by label. ended: whether the build came to its end."""

    targets: dict[str, Target] = dataclasses.field(default_factory=dict)
    ended: bool = False


def _local(uri: str) -> pathlib.Path | None:
    """A file on this machine."""
    parts = urllib.parse.urlsplit(uri)
    return pathlib.Path(urllib.parse.unquote(parts.path)) if parts.scheme == "file" else None


def _result(label: str, identity: dict, result: dict) -> Part:
    files = {entry["name"]: _local(entry.get("uri", "")) for entry in result.get("testActionOutput", [])}
    return Part(label, files.get("test.xml"), files.get("test.log"), result.get("status", "NO_STATUS"), (int(identity.get("shard", 1)), 1))


def _aborted(events: Events, label: str, aborted: dict) -> None:
    target = events.targets.setdefault(label, Target())
    reason, description = aborted.get("reason", "UNKNOWN"), aborted.get("description", "")
    if reason == "SKIPPED":
        target.incompatible = f"incompatible with the platform that it was asked for. {description}".strip()
    else:
        target.problem = target.problem or f"not run: {reason}. {description}".strip()


def _take(events: Events, event: dict) -> None:
    """One event's news."""
    identity = event.get("id", {})
    kind = next(iter(identity), "")
    body = identity.get(kind) or {}
    label = body.get("label", "")
    known = events.targets.get(label)
    if event.get("lastMessage"):
        events.ended = True
    if kind == "targetConfigured" and _TEST_RULE.search(event.get("configured", {}).get("targetKind", "")):
        events.targets.setdefault(label, Target())
    elif kind == "testResult" and "testResult" in event:
        target = events.targets.setdefault(label, Target())
        target.parts[int(body.get("shard", 1)), int(body.get("run", 1))] = _result(label, body, event["testResult"])
    elif kind == "testSummary" and "testSummary" in event and known:
        known.shards = max(known.shards, int(event["testSummary"].get("shardCount", 1)))
    elif kind == "targetCompleted" and known and not event.get("completed", {}).get("success", False) and "completed" in event:
        known.problem = known.problem or "not built: see what Bazel printed for this target"
    elif "aborted" in event and kind in ("targetConfigured", "targetCompleted", "testResult", "testSummary") and known:
        _aborted(events, label, event["aborted"])
    elif "aborted" in event and kind in ("targetConfigured", "unconfiguredLabel", "configuredLabel") and label.startswith("//"):
        _aborted(events, label, event["aborted"])
    elif "aborted" in event and kind == "pattern":
        for pattern in body.get("pattern", []):
            _aborted(events, pattern, event["aborted"])


def read(path: pathlib.Path) -> Events:
    """Half a last line is what a killed Bazel leaves; anything else that is no JSON is an error."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(path, f"cannot be read ({error.strerror})", _REMEDY) from error
    events = Events()
    for number, line in enumerate(lines, start=1):
        try:
            event = json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines) > 1:
                break
            raise UsageError(path, f"line {number} is no JSON ({error.msg})", _REMEDY) from error
        if not isinstance(event, dict) or (number == 1 and "started" not in event):
            raise UsageError(path, "JSON, but no build events: the first line does not tell of a build's start", _REMEDY)
        _take(events, event)
    if not lines:
        raise UsageError(path, "empty", _REMEDY)
    return events


def _cell_of(label: str, target: Target, events: Events, known: Sequence[str], collected: Collected) -> None:
    if target.parts:
        total = max(target.shards, *(shard for shard, _run in target.parts))
        parts = [dataclasses.replace(part, shard=(part.shard[0], total)) for part in target.parts.values()]
        collected.cells.append(cells.make(label, parts, known, collected.damaged))
    elif target.incompatible:
        collected.cells.append(cells.without_results(label, known, incompatible=target.incompatible))
    else:
        unknown = "not run: Bazel reported no result" if events.ended else "not run: the build was killed before its turn came"
        collected.cells.append(cells.without_results(label, known, error=target.problem or unknown))


def collect(path: pathlib.Path, known: Sequence[str]) -> Collected:
    """Every test that the build was asked for."""
    events = read(path)
    if not events.targets:
        raise UsageError(path, "tells of no test", "give the events of a `test` command that names tests")
    collected = Collected([], [])
    for label, target in sorted(events.targets.items()):
        _cell_of(label, target, events, known, collected)
    return collected
