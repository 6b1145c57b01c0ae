# SPDX-License-Identifier: Apache-2.0
"""BUILD files and Starlark are formatted and free of what buildifier's rules find."""

from conftest import files, leaves_as_is, passes

from ci.lint import tools

# native-cc-*, native-py: the rules that Debian ships with its Bazel are the native ones. bzl-visibility: Bazel itself enforces visibility of .bzl files'
# targets; private/ folders of one layer may load each other. unnamed-macro: programs are named as GCC looks them up.
WARNINGS = "-bzl-visibility,-native-cc-binary,-native-cc-common,-native-cc-import,-native-cc-info,-native-cc-library,-native-cc-shared-library,-native-cc-test,-unnamed-macro"


def test_is_formatted() -> None:
    leaves_as_is(tools.buildifier(), "starlark", "-mode=diff", "-lint=off", "-diff_command=diff -u", *files("starlark"))


def test_follows_the_rules() -> None:
    passes(tools.buildifier(), "starlark", "-mode=check", "-lint=warn", f"-warnings={WARNINGS}", *files("starlark"))
