# SPDX-License-Identifier: Apache-2.0
"""Errors of the count report."""


class CountError(Exception):
    """The counts cannot be made; the text says why and what to do."""
