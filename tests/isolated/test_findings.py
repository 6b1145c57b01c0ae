# SPDX-License-Identifier: Apache-2.0
"""What the jobs say of a failed build and of two builds that differ names the culprit."""

from __future__ import annotations

import io
import json
import zipfile

from ci.airgap import checks
from ci.reproducibility import actions, contents
from ci.reproducibility.actions import Action, Build
from ci.reproducibility.compare import compare

COMPILE = Action("//a:lib", "CppCompile", "k1", frozenset({"a.cc"}), ("out/a.o", "out/a.d"))
LINK = Action("//a:bin", "CppLink", "k2", frozenset({"out/a.o"}), ("out/a",))
OTHER = Action("//b:x", "Genrule", "k3", frozenset(), ("out/x",))
DIGESTS = {"out/a.o": "1", "out/a.d": "2", "out/a": "3", "out/x": "4"}


def build(changes: dict[str, str], *found: Action) -> Build:
    return Build(found or (LINK, COMPILE, OTHER), DIGESTS | changes)


def test_same_builds_have_nothing_to_tell() -> None:
    assert compare(build({}), build({})).same


def test_first_action_is_the_one_whose_inputs_are_the_same() -> None:
    found = compare(build({}), build({"out/a.o": "9", "out/a": "8"}))
    assert [difference.action.name for difference in found.first] == ["CppCompile of //a:lib"]
    assert found.later == 1
    assert "the same command on the same inputs" in found.text


def test_action_with_another_command_is_told_so() -> None:
    stamped = Action("//b:x", "Genrule", "other key", frozenset(), ("out/x",))
    found = compare(build({}), build({"out/x": "9"}, LINK, COMPILE, stamped))
    assert "Genrule of //b:x (its command differs)" in found.text


def test_output_that_one_build_lacks_is_named() -> None:
    lacking = Build((LINK, COMPILE, OTHER), {name: digest for name, digest in DIGESTS.items() if name != "out/x"})
    assert compare(build({}), lacking).absent == ("out/x",)


def test_graph_is_read_with_nested_sets_of_files() -> None:
    graph = {
        "artifacts": [{"id": 1, "pathFragmentId": 2}, {"id": 2, "pathFragmentId": 3}],
        "pathFragments": [{"id": 1, "label": "out"}, {"id": 2, "label": "a.o", "parentId": 1}, {"id": 3, "label": "a.cc"}],
        "depSetOfFiles": [{"id": 1, "transitiveDepSetIds": [2]}, {"id": 2, "directArtifactIds": [2]}],
        "targets": [{"id": 1, "label": "//a:lib"}],
        "actions": [{"targetId": 1, "mnemonic": "CppCompile", "actionKey": "k", "inputDepSetIds": [1], "outputIds": [1]}],
    }
    assert actions.parse(json.dumps(graph)) == (Action("//a:lib", "CppCompile", "k", frozenset({"a.cc"}), ("out/a.o",)),)


def test_build_survives_being_written_and_read() -> None:
    assert actions.from_json(actions.to_json(build({}))) == build({})


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def test_differing_member_of_an_archive_is_named_with_the_first_byte() -> None:
    text = contents.report("w.whl", archive(a=b"same", b=b"0123x"), archive(a=b"same", b=b"0123y"))
    assert "b: first at offset 0x4 of 5 and 5 bytes; 1 differ" in text
    assert "same" not in text


def test_member_that_only_one_archive_has_is_named() -> None:
    assert "only in b: b" in contents.report("w.whl", archive(a=b""), archive(a=b"", b=b""))


def test_prefix_is_told_from_another_content() -> None:
    assert contents.report("f", b"abc", b"abcd") == "f: 3 and 4 bytes, equal as far as the shorter goes"


ERROR = """INFO: Analyzed
ERROR: BUILD.bazel:1:1: Compiling a.cc failed: (Exit 1): g++ failed
Use --sandbox_debug to see more
{said}
Target //a failed to build
INFO: Elapsed time: 1 s
"""


def test_trap_is_told_from_a_download_and_from_other_failures() -> None:
    assert checks.failure(ERROR.format(said='#error "host header include/stdio.h was used"')).startswith("an action read a file of the host")
    assert checks.failure(ERROR.format(said="java.net.UnknownHostException: somewhere")).startswith("something is downloaded that no lock declares")
    assert checks.failure(ERROR.format(said="syntax error")).startswith("the build fails without network, rc files and host headers")


def test_account_holds_what_the_failed_program_said() -> None:
    account = checks.failure(ERROR.format(said="a.cc:1: syntax error"))
    assert "Compiling a.cc failed" in account
    assert account.endswith("a.cc:1: syntax error")
