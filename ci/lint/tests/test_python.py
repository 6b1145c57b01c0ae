# SPDX-License-Identifier: Apache-2.0
"""Python is formatted and free of what ruff's rules (ruff.toml) find."""

from conftest import leaves_as_is, passes

from ci.lint import tools


def test_is_formatted() -> None:
    leaves_as_is(tools.ruff(), "python", "format", "--no-cache", "--diff", "--quiet", ".")


def test_follows_the_rules() -> None:
    passes(tools.ruff(), "python", "check", "--no-cache", "--quiet", "--output-format=concise", ".")
