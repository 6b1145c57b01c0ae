# SPDX-License-Identifier: Apache-2.0
"""What set-up would do is reviewed; what it does is that; doing it again changes nothing."""

from __future__ import annotations

import configparser
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import made
import pytest

from ci.runner import cli, places, plan
from ci.runner.faults import Kind

WORDS = ["setup", "--repository", made.REPOSITORY, "--repository-id", "4711", "--fact", "memory_mts=6400"]
FILES = Path("ci/runner/files")


def golden() -> str:
    """tests/runner/setup.golden without its comment."""
    return "".join(line for line in Path("tests/runner/setup.golden").read_text(encoding="utf-8").splitlines(keepends=True) if not line.startswith("#"))


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """systemd's commands write down how they are called; they need users that a sandbox does not have. The scratch root is not theirs."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name in {command.words[0] for command in plan.COMMANDS}:
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/called\n', encoding="ascii")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder / "called"


def test_a_dry_run_says_what_was_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--root", str(tmp_path), *WORDS, "--dry-run"]) == 0
    said = capsys.readouterr().out.replace(str(tmp_path), "ROOT")
    assert said == golden(), f"if this is right, tests/runner/setup.golden must hold\n{said}"


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    cli.main(["--root", str(tmp_path), *WORDS, "--dry-run"])
    assert list(tmp_path.iterdir()) == []


def test_set_up_does_what_the_dry_run_says(tmp_path: Path, commands: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "root"
    assert cli.main(["--root", str(root), *WORDS]) == 0
    assert capsys.readouterr().out.replace(str(root), "ROOT") == golden()
    written = {f"{stat.S_IMODE(path.stat().st_mode):04o} /{path.relative_to(root)}" for path in root.rglob("*") if path.is_file()}
    assert written == {match[1] for match in re.finditer(r"^write  (\d{4} \S+)", golden(), re.MULTILINE)}
    assert commands.read_text(encoding="utf-8").replace(str(root), "ROOT") == "".join(
        match[1] + "\n" for match in re.finditer(r"^run    (.*?)  #", golden(), re.MULTILINE)
    )


def test_a_second_run_changes_no_file(tmp_path: Path, commands: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "root"
    cli.main(["--root", str(root), *WORDS])
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    capsys.readouterr()
    assert cli.main(["--root", str(root), "setup"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == {"same", "run", "not"}
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_changed_file_is_put_right(tmp_path: Path, commands: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "root"
    cli.main(["--root", str(root), *WORDS])
    hook = root / places.PROGRAM / "job-started.sh"
    hook.unlink()
    hook.symlink_to("/bin/true")
    cli.main(["--root", str(root), "setup"])
    assert (hook.is_symlink(), hook.read_text(encoding="utf-8")) == (False, (FILES / "job-started.sh").read_text(encoding="utf-8"))


def test_a_failing_command_stops_set_up(tmp_path: Path, commands: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (commands.parent / "systemd-tmpfiles").write_text("#!/bin/sh\necho no such user\nexit 65\n", encoding="ascii")
    assert (cli.main(["--root", str(tmp_path / "root"), *WORDS]), "no such user" in capsys.readouterr().err) == (Kind.SETUP.code, True)


def test_without_a_repository_set_up_needs_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (cli.main(["--root", str(tmp_path), "setup"]), "No such file" in capsys.readouterr().err) == (Kind.CONFIG.code, True)


@pytest.mark.parametrize("name", ["no-slash", 'a/b"', "a/b\nbranch = 'evil'", "../x"])
def test_a_repository_must_be_one(tmp_path: Path, name: str) -> None:
    assert cli.main(["--root", str(tmp_path), "setup", "--repository", name, "--repository-id", "1", "--dry-run"]) == Kind.CONFIG.code


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("branch = 1", "branch must be of type str"),
        ("governer = 'x'", "unknown key 'governer'"),
        ("repository_id = true", "must be of type int"),
        ("x", "Expected"),
    ],
)
def test_a_wrong_configuration_is_told(runner: made.Runner, capsys: pytest.CaptureFixture[str], change: str, text: str) -> None:
    key = change.partition(" ")[0]
    path = runner.root / "etc/sm10-runner/config.toml"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(key + " ")]
    path.write_text("\n".join([change, *lines]), encoding="utf-8")
    assert (cli.main(["--root", str(runner.root), "check"]), text in capsys.readouterr().err) == (Kind.CONFIG.code, True)


def test_the_installed_program_runs_by_itself(tmp_path: Path, commands: Path) -> None:
    root = tmp_path / "root"
    cli.main(["--root", str(root), *WORDS])
    words = [sys.executable, "-I", "-B", str(root / places.PROGRAM), "--root", str(root), "facts"]
    assert subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd="/").stdout == "--fact=memory_mts=6400\n"


def unit(name: str) -> configparser.ConfigParser:
    """A unit's settings; repeated ones as one text."""
    found: dict[tuple[str, str], list[str]] = {}
    section = ""
    for line in (FILES / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault((section, key), []).append(value)
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    for (name_of_section, key), values in found.items():
        if not parser.has_section(name_of_section):
            parser.add_section(name_of_section)
        parser[name_of_section][key] = "\n".join(values)
    return parser


def test_the_runner_s_hooks_are_the_installed_ones() -> None:
    environment = unit("sm10-runner.service")["Service"]["Environment"].splitlines()
    hooks = {name: Path(value.lstrip("/")) for name, _, value in (line.partition("=") for line in environment)}
    assert hooks == {
        "ACTIONS_RUNNER_HOOK_JOB_COMPLETED": places.PROGRAM / "job-completed.sh",
        "ACTIONS_RUNNER_HOOK_JOB_STARTED": places.PROGRAM / "job-started.sh",
    }


def test_the_runner_may_write_to_its_folders_and_the_ledger_only() -> None:
    service = unit("sm10-runner.service")["Service"]
    assert (service["ProtectSystem"], service["ReadWritePaths"].split()) == ("strict", ["/opt/actions-runner/_diag", f"/{places.WORK}", f"/{places.LEDGER}"])


def test_the_runner_has_no_rights_to_gain() -> None:
    service = unit("sm10-runner.service")["Service"]
    assert (service["User"], service["NoNewPrivileges"], service["CapabilityBoundingSet"]) == (places.USER, "yes", "")


def test_the_runner_s_control_group_allows_all_harts() -> None:
    assert (unit("sm10-runner.service")["Service"]["Slice"], unit("sm10.slice")["Slice"]["AllowedCPUs"]) == ("sm10.slice", "0-15")


def test_the_mount_s_name_is_its_place() -> None:
    assert "/" + "srv-sm10runner".replace("-", "/") == unit("srv-sm10runner.mount")["Mount"]["Where"] == f"/{places.WORK}"


def test_only_what_is_marked_runs_as_root() -> None:
    service = unit("sm10-runner.service")["Service"]
    assert [service[name] for name in ("ExecStartPre", "ExecStart", "ExecStopPost")] == [
        "+/usr/local/bin/sm10-runner prepare",
        "/opt/actions-runner/run.sh",
        "+/usr/local/bin/sm10-runner prepare",
    ]


def test_the_user_has_no_shell_and_one_group() -> None:
    lines = [line for line in (FILES / "sysusers.conf").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert lines == [
        f"g {places.AI_GROUP} - -",
        f'u {places.USER} - "GitHub Actions runner" /{places.STATE}/home /usr/sbin/nologin',
        f"m {places.USER} {places.AI_GROUP}",
    ]


def test_the_ledger_is_append_only() -> None:
    assert re.search(rf"^h /{places.LEDGER} .* \+a$", (FILES / "tmpfiles.conf").read_text(encoding="utf-8"), re.MULTILINE)
