# SPDX-License-Identifier: Apache-2.0
"""Where the userland cannot be mounted, the user reads why and what to do."""

import ctypes
import errno

import namespace
import pytest
from errors import LauncherError


def test_a_refused_system_call_names_the_call_and_the_remedies() -> None:
    ctypes.set_errno(errno.EPERM)
    with pytest.raises(LauncherError, match=r"(?s)unshare: Operation not permitted.*user namespaces.*BAZEL"):
        namespace._check(-1, "unshare")


def test_a_call_that_worked_says_nothing() -> None:
    namespace._check(0, "unshare")
