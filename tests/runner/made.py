# SPDX-License-Identifier: Apache-2.0
"""A made board: its files, its configuration, and jobs that its runner is given."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ci.runner import config as configs
from ci.runner import hook, places
from ci.runner.config import Config

NOW = datetime.datetime(2026, 11, 29, 12, 0, tzinfo=datetime.UTC)
SHA = "a" * 40
REPOSITORY = "made/vllm-sm10"
CONFIG = Config(repository=REPOSITORY, repository_id=4711)
# A user that nobody is: its processes are ended.
NOBODY = 64999

_CORE = "processor\t: {}\nmarchid\t\t: {}\n\n"
_FILES = {
    "etc/group": "root:x:0:\nsm10-ai:x:999:sm10-runner\nsm10-runner:x:998:\n",
    "proc/cpuinfo": "".join(_CORE.format(core, "0x58" if core < 8 else "0x41") for core in range(16)),
    "proc/meminfo": "MemTotal:       16000000 kB\nMemAvailable:   12000000 kB\n",
    "proc/set_ai_thread": "",
    "proc/sys/kernel/osrelease": "6.18.0-made\n",
    "sys/class/thermal/cooling_device0/cur_state": "0\n",
    "sys/class/thermal/cooling_device0/type": "cpufreq-cpu0\n",
    "sys/class/thermal/thermal_zone0/temp": "41500\n",
    **{f"sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor": "performance\n" for core in range(16)},
}


def board(root: Path, **changes: str | None) -> Path:
    """A made machine below a folder, set up; None leaves a file out."""
    for name, text in {**_FILES, str(places.LEDGER): "", str(configs.CONFIG): configs.render(CONFIG), **changes}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    for folder in (places.WORK, Path("dev/shm")):
        (root / folder).mkdir(parents=True)
    return root


def _repository(**changes: object) -> dict[str, object]:
    pushed = int((NOW - datetime.timedelta(hours=1)).timestamp())
    return {"fork": False, "full_name": REPOSITORY, "id": 4711, "pushed_at": pushed} | changes


def payload(event: str, **changes: object) -> dict[str, Any]:
    """An event's payload, of the fields that matter."""
    base: dict[str, dict[str, object]] = {
        "push": {"after": SHA, "before": "b" * 40, "deleted": False, "ref": "refs/heads/main", "repository": _repository()},
        "merge_group": {
            "action": "checks_requested",
            "merge_group": {
                "base_ref": "refs/heads/main",
                "head_commit": {"timestamp": "2026-11-29T11:50:00Z"},
                "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-cafe",
                "head_sha": SHA,
            },
            "repository": _repository(),
        },
        "pull_request": {
            "action": "synchronize",
            "pull_request": {"head": {"ref": "evil", "repo": {"fork": True, "full_name": "stranger/vllm-sm10", "id": 666}}},
            "repository": _repository(),
        },
        "schedule": {"repository": _repository(), "schedule": "17 2 * * *", "workflow": ".github/workflows/nightly.yml"},
        "workflow_dispatch": {
            "inputs": None,
            "ref": "refs/heads/main",
            "repository": _repository(),
            "sender": {"login": "made"},
            "workflow": ".github/workflows/main.yml",
        },
    }
    return dict(base[event]) | changes


@dataclasses.dataclass
class Runner:
    """Calls the hooks as the runner does, on a made board."""

    root: Path
    said: list[str] = dataclasses.field(default_factory=list)

    @property
    def work(self) -> Path:
        return self.root / places.WORK

    @property
    def workspace(self) -> Path:
        return self.work / "vllm-sm10/vllm-sm10"

    @property
    def machine(self) -> hook.Machine:
        return hook.Machine(self.root, CONFIG, NOBODY, self.said.append)

    def environment(self, event: str = "push", content: Mapping[str, Any] | str | None = None, **changes: str) -> dict[str, str]:
        """The runner's variables, with the payload written where it writes it."""
        place = self.work / "_temp/_github_workflow/event.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content if isinstance(content, str) else json.dumps(content or payload(event)), encoding="utf-8")
        ref = "refs/heads/gh-readonly-queue/main/pr-7-cafe" if event == "merge_group" else "refs/heads/main"
        workflow = "nightly" if event == "schedule" else "main"
        return {
            "GITHUB_ACTOR": "made",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(place),
            "GITHUB_JOB": "gate",
            "GITHUB_REF": ref,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REPOSITORY_ID": "4711",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "1000",
            "GITHUB_SHA": SHA,
            "GITHUB_WORKFLOW_REF": f"{REPOSITORY}/.github/workflows/{workflow}.yml@{ref}",
            "GITHUB_WORKSPACE": str(self.workspace),
        } | changes

    def start(self, event: str = "push", content: Mapping[str, Any] | str | None = None, at: datetime.datetime = NOW, **changes: str) -> None:
        """The hook before a job."""
        hook.started(self.machine, self.environment(event, content, **changes), at)

    @property
    def ledger(self) -> list[str]:
        return (self.root / places.LEDGER).read_text(encoding="utf-8").splitlines()
