# SPDX-License-Identifier: Apache-2.0
"""C and C++ are as .clang-format lays them out."""

from conftest import files, leaves_as_is

from ci.lint import tools


def test_is_formatted() -> None:
    leaves_as_is(tools.clang_format(), "cc", "--dry-run", "--Werror", "--style=file", *files("cc", ".c", ".cc", ".h", ".inc"))
