# SPDX-License-Identifier: Apache-2.0
"""The checks find what they are for and nothing else."""

from pathlib import PurePosixPath

import pytest

from ci.lint import checks
from ci.lint.links import anchors, dead_links

PY = PurePosixPath("a/b.py")
FOREIGN = "packages.vendor" + ".net"  # in two parts: this file is checked too
HEADER = "# SPDX-License-Identifier: Apache-2.0\n"


@pytest.mark.parametrize("text", [HEADER, "#!/bin/sh\n" + HEADER, "", "// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later\n"])
def test_licence_is_found(text: str) -> None:
    assert checks.licence(PY, text) == []


@pytest.mark.parametrize("text", ["x = 1\n" + HEADER, "# SPDX-License-Identifier: MIT\n", "#!/bin/sh\n"])
def test_missing_licence_is_found(text: str) -> None:
    assert checks.licence(PY, text) == ["a/b.py:1: no licence; begin the file with the comment `SPDX-License-Identifier: Apache-2.0`"]


def test_documents_need_no_licence() -> None:
    assert checks.licence(PurePosixPath("README.md"), "# Title\n") == []


def test_long_line_is_found() -> None:
    text = "x" * 160 + "\n" + "x" * 161 + "\n"
    assert checks.line_length(PurePosixPath("a.cc"), text) == ["a.cc:2: 161 characters; break the line at 160"]


@pytest.mark.parametrize("text", [f"https://{FOREIGN}/x", f"see {FOREIGN}", f"URL = 'ftp://{FOREIGN}'"])
def test_host_is_found(text: str) -> None:
    (problem,) = checks.hosts(PY, text)
    assert problem.startswith("a/b.py:1: host ")


@pytest.mark.parametrize("text", ["http://a.example/x", "https://127.0.0.1:9/simple", "rctx.os.environ.get", "a.io(x)", "os.net.x", "https://github.com/a/b"])
def test_what_is_no_foreign_host_passes(text: str) -> None:
    assert checks.hosts(PY, text) == []


# In two parts: this file is checked too.
@pytest.mark.parametrize(
    "text",
    [
        "x = '/{}'".format("home/ann/y"),
        "--cache=/{}".format("builds/x"),
        "see `/{}`".format("Users/ann"),
        '{{"/{}": folder}}'.format("work"),
        '"unix:/{}"'.format("work/socket"),
        "cd /{} && make".format("ci-agent/job"),
        "/{}".format("mnt/disk/x"),
        '"/{}"'.format("tmp/mine/file"),
        "/{}".format("root/x"),
    ],
)
def test_path_of_one_machine_is_found(text: str) -> None:
    (problem,) = checks.private_paths(PY, text)
    assert problem.startswith("a/b.py:1: /") and " is a path of one machine; take it from an argument or the environment" in problem


@pytest.mark.parametrize(
    "text",
    [
        "//home/x:y",
        "usr/home/x",
        "@a//home/x",
        "/home/me/x",
        "'/usr/share/x'",
        "'/tmp/x'",
        "f'{root}/scratch/x'",
        "$HOME/work",
        "a/b/c",
        "'/health'",
        "'/state/socket'",
        "'/a/b'",
        "r'^/scratch'",
    ],
)
def test_what_every_machine_has_passes(text: str) -> None:
    assert checks.private_paths(PY, text) == []


def test_task_needs_an_owner() -> None:
    word = "TO" + "DO"
    assert checks.todo(PY, f"# {word}(ann): measure it\n") == []
    assert checks.todo(PY, f"# {word}: measure it\n") == ["a/b.py:1: a task without an owner; write " + word + "(NAME): WHAT, or do it"]


def test_blanks_and_missing_line_break_are_found() -> None:
    assert checks.whitespace(PY, "x \ny") == ["a/b.py:1: blanks at the end of the line; remove them", "a/b.py: no line break at the end; add it"]


def test_anchor_is_made_as_github_makes_it() -> None:
    assert anchors("# What's `new`?\n## A b\n## A b\n```\n# no\n```\n") == {"whats-new", "a-b", "a-b-1"}


def links(text: str) -> list[str]:
    documents = {PurePosixPath("d/a.md"): text, PurePosixPath("README.md"): "# One\n"}
    return dead_links(documents, [*documents, PurePosixPath("d/x.py")])


def test_links_to_what_is_there_pass() -> None:
    assert links("# Own\n[a](x.py) [b](../README.md#one) [c](#own) [d](..) [e](https://a.example) `[f](none)` `d/a.md`") == []


@pytest.mark.parametrize("target", ["none.md", "../x.py", "../README.md#two", "#other"])
def test_dead_link_is_found(target: str) -> None:
    (problem,) = links(f"# Own\n[a]({target})")
    assert problem.startswith(f"d/a.md: link to {target}")


def test_document_that_is_named_but_not_there_is_found() -> None:
    assert links("see `e/README.md`") == ["d/a.md: names e/README.md, which is not there; correct the path"]
