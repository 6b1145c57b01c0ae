# SPDX-License-Identifier: Apache-2.0
"""The error of the tree tool: its text names the culprit and the remedy."""


class TreeError(Exception):
    """A package or a tree's specification cannot be used."""
