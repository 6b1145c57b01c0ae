# SPDX-License-Identifier: Apache-2.0
"""The build gets along without network, rc files and host headers; one that does not is stopped, and named."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from conftest import SAMPLE

from ci.airgap import checks
from ci.isolated import workspace
from ci.isolated.bazel import Bazel
from ci.isolated.errors import Finding
from ci.isolated.world import World, run_in

SABOTAGE = {
    "host_header": """cc_library(name = "host_header", srcs = ["host_header.cc"])""",
    "download_in_action": """genrule(name = "download_in_action", outs = ["o"], cmd = "exec 3<>/dev/tcp/192.0.2.1/80 && touch $@")""",
    "download_in_repository": """alias(name = "download_in_repository", actual = "@undeclared//:file")""",
}
MODULE = """
undeclared = use_repo_rule("//sabotage:undeclared.bzl", "undeclared")
undeclared(name = "undeclared")
"""
RULE = """
def _undeclared_impl(rctx):
    rctx.download("https://undeclared.invalid/file.tar.gz", "file")
    rctx.file("BUILD.bazel", 'exports_files(["file"])')

undeclared = repository_rule(_undeclared_impl)
"""


@pytest.fixture(scope="module")
def bazel(snapshot: Path, lent: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Bazel:
    copy = tmp_path_factory.mktemp("airgap") / "workspace"
    workspace.copy(snapshot, copy)
    with (copy / "MODULE.bazel").open("a") as module:
        module.write(MODULE)
    for name, rule in SABOTAGE.items():
        (copy / "sabotage" / name).mkdir(parents=True)
        (copy / "sabotage" / name / "BUILD.bazel").write_text(rule + "\n")
    (copy / "sabotage/BUILD.bazel").touch()
    (copy / "sabotage/host_header/host_header.cc").write_text('#include "/usr/include/stdio.h"\n')
    (copy / "sabotage/undeclared.bzl").write_text(RULE)
    return Bazel(copy, copy.parent / "state", lent=lent, flags=["--jobs=2"])


@pytest.fixture(scope="module")
def outcome(bazel: Bazel) -> dict[str, str]:
    """What each build ended with, by target; all in one world, as one Bazel server serves them. Empty: nothing was found."""
    found: dict[str, str] = {}
    folder = bazel.state / "outcome"
    folder.mkdir(parents=True)

    def judged(name: str, work: Callable[[], None]) -> None:
        try:
            work()
            text = ""
        except Finding as finding:
            text = str(finding)
        (folder / name).write_text(text)

    def work() -> None:
        try:
            judged("sample", lambda: checks.build(bazel, [SAMPLE]))
            judged("cache", lambda: checks.still_empty(bazel.repository_cache))
            for name in SABOTAGE:
                judged(name, functools.partial(checks.build, bazel, [f"//sabotage/{name}"]))
        finally:
            bazel.stop()

    run_in(World(network=False, traps=True), work)
    for path in folder.iterdir():
        found[path.name] = path.read_text()
    return found


@pytest.fixture
def server() -> Iterator[str]:
    """A web server on loopback, its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/"
        listening.shutdown()


def test_sample_of_the_build_needs_nothing_undeclared(outcome: dict[str, str]) -> None:
    assert outcome["sample"] == ""


def test_repository_cache_stays_empty(outcome: dict[str, str]) -> None:
    assert outcome["cache"] == ""


def test_sample_is_really_built(bazel: Bazel, outcome: dict[str, str]) -> None:
    built = list(bazel.output_base.glob("execroot/_main/bazel-out/*/bin/third_party/vllm/wheel/*.whl"))
    assert [path.stat().st_size > 1_000_000 for path in built] == [True]


def test_header_of_the_host_is_named(outcome: dict[str, str]) -> None:
    assert "an action read a file of the host that is no declared input (host header include/stdio.h was used)" in outcome["host_header"]
    assert "//sabotage/host_header" in outcome["host_header"]


def test_download_in_an_action_is_named(outcome: dict[str, str]) -> None:
    assert "something is downloaded that no lock declares" in outcome["download_in_action"]
    assert "//sabotage/download_in_action" in outcome["download_in_action"]


def test_download_in_a_repository_rule_is_named(outcome: dict[str, str]) -> None:
    assert "something is downloaded that no lock declares" in outcome["download_in_repository"]
    assert "undeclared.invalid/file.tar.gz" in outcome["download_in_repository"]


def test_canary_reports_a_network_that_is_on(server: str) -> None:
    with pytest.raises(Finding, match=re.escape(f"the canary's fetch of {server} got an answer")):
        checks.canary([server])


def test_world_without_network_has_loopback_only(server: str) -> None:
    run_in(World(network=False), lambda: checks.canary([server]))


def test_file_that_no_lock_declares_is_named(tmp_path: Path) -> None:
    for digest in ("a" * 64, "b" * 64):
        (tmp_path / "content_addressable/sha256" / digest).mkdir(parents=True)
        (tmp_path / "content_addressable/sha256" / digest / "file").touch()
    checks.only_locked(tmp_path, ["a" * 64, "b" * 64])
    with pytest.raises(Finding, match="b{64}/file"):
        checks.only_locked(tmp_path, ["a" * 64])


def test_file_in_the_repository_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "content_addressable/sha256/abc").mkdir(parents=True)
    checks.still_empty(tmp_path)
    (tmp_path / "content_addressable/sha256/abc/file").touch()
    with pytest.raises(Finding, match="content_addressable/sha256/abc/file"):
        checks.still_empty(tmp_path)
