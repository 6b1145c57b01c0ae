# SPDX-License-Identifier: Apache-2.0
"""./bazelw of a played machine: checks what it is asked, gives recorded files, runs the tools that run here."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import sys
from pathlib import Path

RECORDED = Path(os.environ["RECORDED"])
# What Bazel's own query found (tests/workflows/BUILD.bazel), and tests: a query of those asks for Bazel's coverage tools, which no lock has.
KNOWN = {*(RECORDED / "targets").read_text(encoding="utf-8").split(), "//tests/...", "//tests/remote:loopback"}
OPTIONS = ("--build_event_json_file=", "--keep_going", "--output=files")
BUILT = {"//:wheel": ["vllm-*.whl"], "//ci/tool:wheel": ["vllm_sm10_bench-*.whl"], "//ci:release": ["*.provenance.json", "vllm-*.whl"]}
# Build everything, some twice: what they find is their own tests' matter.
LONG = ("//ci:airgap", "//ci:digests", "//ci:reproducibility")
TOOLS = {"//ci/gates:counts": "ci.gates.counts_cli", "//ci:report": "ci.report"}
EVENTS: list[dict] = [
    {"id": {"started": {}}, "started": {}},
    {"id": {"targetConfigured": {"label": "//t:made"}}, "configured": {"targetKind": "made_test rule"}},
    {"id": {"testResult": {"label": "//t:made", "run": 1, "shard": 1}}, "testResult": {"status": "PASSED", "testActionOutput": []}, "lastMessage": True},
]


def known(label: str) -> str:
    """A label that Bazel knows."""
    if label not in KNOWN:
        sys.exit(f"bazelw: no such target {label}; known: {' '.join(sorted(KNOWN))}")
    return label


def _outputs(labels: list[str]) -> list[Path]:
    return [path for label in labels for pattern in BUILT[known(label)] for path in sorted((RECORDED / "built").glob(pattern))]


def build(labels: list[str]) -> None:
    """Leaves the recorded files where cquery says they are."""
    for path in _outputs(labels):
        Path("bazel-out/bin").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, Path("bazel-out/bin") / path.name)


def cquery(words: list[str]) -> None:
    """set(A B C): its files."""
    (expression,) = words
    labels = re.fullmatch(r"set\((.*)\)", expression)
    if not labels:
        sys.exit(f"bazelw: not played: {expression}")
    for path in _outputs(labels[1].split()):
        print(Path("bazel-out/bin") / path.name)


def test(labels: list[str], options: list[str]) -> None:
    """One made result."""
    for label in labels:
        known(label)
    for option in options:
        if option.startswith("--build_event_json_file="):
            folder = Path("bazel-testlogs/made").absolute()
            folder.mkdir(parents=True)
            (folder / "test.xml").write_text("<testsuites><testsuite><testcase classname='t' name='one' time='1'/></testsuite></testsuites>", encoding="utf-8")
            EVENTS[2]["testResult"]["testActionOutput"] = [{"name": "test.xml", "uri": f"file://{folder}/test.xml"}]
            Path(option.partition("=")[2]).write_text("".join(json.dumps(event) + "\n" for event in EVENTS), encoding="utf-8")


def run(label: str, words: list[str]) -> None:
    """Tools of this repository as they are; the emulator's counts are recorded."""
    if known(label) == "//ime2:counts":
        if words[:3] != ["--shape", "2048,5632", "--json"]:
            sys.exit(f"bazelw: not recorded: {words}")
        shutil.copyfile(RECORDED / "counts.json", words[3])
        return
    sys.path[:] = [os.getcwd(), *(path for path in os.environ["SITE"].split(os.pathsep) if not path.endswith("/_main")), *sys.path[1:]]
    sys.argv = [label, *words]
    runpy.run_module(TOOLS[label], run_name="__main__", alter_sys=True)


def main() -> None:
    words = sys.argv[1:]
    with Path(os.environ["ASKED"]).open("a", encoding="utf-8") as file:
        file.write(f"bazelw {' '.join(words)}\n")
    command, *rest = words
    if command == "run":
        label, *arguments = rest
        if arguments and arguments.pop(0) != "--":
            sys.exit("bazelw run: no --")
        if known(label) not in LONG:
            run(label, arguments)
        elif arguments:
            sys.exit(f"bazelw: not played: {label} {' '.join(arguments)}")
        return
    options = [word for word in rest if word.startswith("-")]
    others = [word for word in rest if not word.startswith("-")]
    for option in options:
        if not option.startswith(OPTIONS):
            sys.exit(f"bazelw: unknown option {option}")
    if command == "build":
        build(others)
    elif command == "cquery":
        cquery(others)
    elif command == "test":
        test(others, options)
    else:
        sys.exit(f"bazelw: not played: {command}")


main()
