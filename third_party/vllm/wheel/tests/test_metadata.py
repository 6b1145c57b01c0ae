# SPDX-License-Identifier: Apache-2.0
"""Upstream's metadata stays, with our version and requirements."""

import pytest
from wheelbuild import metadata
from wheelbuild.errors import WheelError

PKG_INFO = """\
Metadata-Version: 2.4
Name: vllm
Version: 0.33.0
License-File: LICENSE
Requires-Dist: cuda-thing
Provides-Extra: audio
Requires-Dist: av; extra == "audio"

text
"""
MODULE = "__version__ = version = '0.33.0'\n__version_tuple__ = version_tuple = (0, 33, 0)\n"


def test_requirements_are_ours_and_extras_are_upstreams() -> None:
    text = metadata.with_requirements(PKG_INFO, "0.33.0+sm10", ["a"], ["LICENSE"])
    assert text.splitlines() == [
        "Metadata-Version: 2.4",
        "Name: vllm",
        "Version: 0.33.0+sm10",
        "License-File: LICENSE",
        "Requires-Dist: a",
        "Provides-Extra: audio",
        'Requires-Dist: av; extra == "audio"',
        "",
        "text",
    ]


def test_another_projects_metadata_is_refused() -> None:
    with pytest.raises(WheelError, match="not vLLM's"):
        metadata.with_requirements(PKG_INFO.replace("Name: vllm", "Name: other"), "1", [], [])


def test_the_version_module_gets_the_local_version() -> None:
    text = metadata.version_module(MODULE, "0.33.0", "0.33.0+sm10")
    assert text == "__version__ = version = '0.33.0+sm10'\n__version_tuple__ = version_tuple = (0, 33, 0, 'sm10')\n"


def test_a_version_module_of_another_form_is_an_error() -> None:
    with pytest.raises(WheelError, match="does not hold"):
        metadata.version_module("version = 1\n", "0.33.0", "0.33.0+sm10")


def test_entry_points_are_upstreams_and_ours() -> None:
    text = metadata.with_entry_points("[console_scripts]\na = b:c\n\n[group]\nd = e:f\n", ["group:g=h:i", "other:j=k:l"])
    assert text == "[console_scripts]\na = b:c\n\n[group]\nd = e:f\ng = h:i\n\n[other]\nj = k:l\n"


@pytest.mark.parametrize(("addition", "text"), [("group:d=x:y", "d of group is upstream's"), ("group:d", "is not GROUP:NAME=OBJECT")])
def test_entry_points_that_cannot_be_added_are_refused(addition: str, text: str) -> None:
    with pytest.raises(WheelError, match=text):
        metadata.with_entry_points("[group]\nd = e:f\n", [addition])
