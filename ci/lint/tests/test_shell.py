# SPDX-License-Identifier: Apache-2.0
"""Shell scripts are free of what shellcheck finds."""

from conftest import files, located, passes

from ci.lint import tools


def test_follows_the_rules() -> None:
    passes(tools.shellcheck(located("SHELLCHECK_ROOT")), "shell", "--norc", *files("shell"))
