# SPDX-License-Identifier: Apache-2.0
"""The played language of expressions is GitHub's, where it is played at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from expression import ExpressionError, Scope, condition, substitute

CONTEXTS = {"github": {"ref": "refs/heads/main"}, "inputs": {"cache": True, "name": ""}, "needs": {}}


def scope(**state: bool) -> Scope:
    return Scope(CONTEXTS, Path(), **state)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${{ inputs.cache }}", True),
        ("${{ inputs.cache && github.ref == 'refs/heads/main' }}", True),
        ("${{ inputs.cache && github.ref != 'refs/heads/main' }}", False),
        ("${{ inputs.name || 'other' }}", "other"),
        ("${{ !(inputs.cache || false) }}", False),
        ("${{ 'it''s' }}", "it's"),
        ("${{ needs.build.outputs.sha256 }}", None),
        ("a-${{ github.ref }}-${{ inputs.cache }}", "a-refs/heads/main-true"),
        ("plain", "plain"),
    ],
)
def test_value(text: str, value: Any) -> None:
    assert substitute(text, scope()) == value


@pytest.mark.parametrize(
    ("text", "failed", "value"),
    [
        (None, False, True),
        (None, True, False),
        ("${{ !cancelled() }}", True, True),
        ("${{ inputs.cache }}", True, False),
        ("inputs.cache", False, True),
        ("${{ failure() }}", True, True),
        ("${{ !cancelled() && inputs.name }}", False, False),
    ],
)
def test_condition(text: str | None, failed: bool, value: bool) -> None:
    assert condition(text, scope(failed=failed)) == value


@pytest.mark.parametrize("text", ["${{ secrets.TOKEN }}", "${{ unknown() }}", "${{ 'open }}", "${{ (true }}", "${{ true true }}", "${{ }}", "${{ inputs[0] }}"])
def test_what_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError):
        substitute(text, scope())
