# SPDX-License-Identifier: Apache-2.0
"""The machine's configuration, /etc/sm10-runner/config.toml: what is admitted here and what state the board must be in."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from ci.runner.faults import Kind, RunnerError

CONFIG = Path("etc/sm10-runner/config.toml")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


@dataclasses.dataclass(frozen=True)
class Config:
    """Everything that differs between machines. The defaults are for the SM10."""

    repository: str  # OWNER/NAME
    repository_id: int  # survives a rename; a deleted and remade repository has another
    branch: str = "main"
    workflows: tuple[str, ...] = (".github/workflows/main.yml", ".github/workflows/nightly.yml")
    max_age_hours: int = 48  # a job that nobody takes is dropped by GitHub after 24 hours
    rerun_hours: int = 24
    governor: str = "performance"
    start_celsius: int = 60  # warmer than this before a job: the heat sink or the fan is missing, or the last job still warms
    memory_mib: int = 4096  # free, for the largest published model in bf16
    facts: tuple[tuple[str, str], ...] = ()  # of the board, which it does not tell (ci/bench)


def _kinds() -> Mapping[str, type]:
    return {
        "branch": str,
        "facts": dict,
        "governor": str,
        "max_age_hours": int,
        "memory_mib": int,
        "repository": str,
        "repository_id": int,
        "rerun_hours": int,
        "start_celsius": int,
        "workflows": list,
    }


def _wrong(path: Path, what: str) -> RunnerError:
    return RunnerError(Kind.CONFIG, f"{path}: {what}", "python3 -m ci.runner setup writes this file; its comments say what stands in it")


def parse(path: Path, text: str) -> Config:
    """Reads the file's text.

    Raises:
      RunnerError: a key is unknown, missing or of a wrong type.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(path, str(error)) from error
    kinds = _kinds()
    for name, value in found.items():
        if name not in kinds:
            raise _wrong(path, f"unknown key {name!r}")
        if type(value) is not kinds[name]:
            raise _wrong(path, f"{name} must be of type {kinds[name].__name__}")
    for name in ("repository", "repository_id"):
        if name not in found:
            raise _wrong(path, f"{name} is missing")
    if not _REPOSITORY.fullmatch(found["repository"]):
        raise _wrong(path, f"repository {found['repository']!r} is not OWNER/NAME")
    if not all(isinstance(name, str) for name in found.get("workflows", [])):
        raise _wrong(path, "workflows must be a list of paths")
    if "workflows" in found:
        found["workflows"] = tuple(found["workflows"])
    found["facts"] = tuple(sorted((name, str(value)) for name, value in found.get("facts", {}).items()))
    return Config(**found)


def read(root: Path) -> Config:
    """The configuration below a root folder."""
    path = root / CONFIG
    try:
        return parse(path, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(path, str(error)) from error


def render(config: Config) -> str:
    """The file for a configuration."""
    workflows = ", ".join(f'"{name}"' for name in config.workflows)
    facts = "".join(f'{name} = "{value}"\n' for name, value in config.facts)
    return f"""# What this machine runs, and the state that it must be in. Written by `python3 -m ci.runner setup`; edit it there.
repository = "{config.repository}"
repository_id = {config.repository_id}
branch = "{config.branch}"
workflows = [{workflows}]
max_age_hours = {config.max_age_hours}
rerun_hours = {config.rerun_hours}
governor = "{config.governor}"
start_celsius = {config.start_celsius}
memory_mib = {config.memory_mib}

[facts]
{facts}"""
