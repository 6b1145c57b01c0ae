# SPDX-License-Identifier: Apache-2.0
"""Errors of the lock tool. Each text names the culprit and what to do about it."""


class LockError(Exception):
    """Base class: the command line prints the text and exits with 1."""


class FormatError(LockError):
    """A file (request, lock, archive index) is not what its format demands."""


class MirrorError(LockError):
    """The archive mirror is unknown, unreachable or serves something else than it announces."""


class SignatureError(LockError):
    """An InRelease file's signature is bad, or nothing is there to check it with."""


class ResolveError(LockError):
    """A package or one of its dependencies cannot be had."""


class DriftError(LockError):
    """The lock no longer says what the request file asks for."""
