# SPDX-License-Identifier: Apache-2.0
"""BUILD files and Starlark are formatted and free of what buildifier's rules find."""

from conftest import files, leaves_as_is, located, passes

from ci.lint import tools

# native-cc-*, native-py: the rules that Debian ships with its Bazel are the native ones. bzl-visibility: Bazel itself enforces visibility of .bzl files'
# targets; private/ folders of one layer may load each other. unnamed-macro: programs are named as GCC looks them up.
_NATIVE = ("binary", "common", "import", "info", "library", "shared-library", "test")
WARNINGS = ",".join(["-bzl-visibility", "-unnamed-macro", *(f"-native-cc-{name}" for name in _NATIVE)])


def test_is_formatted() -> None:
    leaves_as_is(tools.buildifier(located("BUILDIFIER")), "starlark", "-mode=diff", "-lint=off", "-diff_command=diff -u", *files("starlark"))


def test_follows_the_rules() -> None:
    passes(tools.buildifier(located("BUILDIFIER")), "starlark", "-mode=check", "-lint=warn", f"-warnings={WARNINGS}", *files("starlark"))
