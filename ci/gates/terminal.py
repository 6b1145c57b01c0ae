# SPDX-License-Identifier: Apache-2.0
"""A verdict as text."""

from __future__ import annotations

from .verdict import Verdict


def as_text(verdict: Verdict) -> str:
    """All faults, the replacement lines, the verdict and how the exit code came about."""
    lines = []
    for group in verdict.groups:
        lines += [*(fault.line for fault in group), f"  remedy: {group[0].remedy}"]
    if verdict.replacements:
        lines += ["", "For a reviewed update (ci/gates/expectations), if the change is meant:", *verdict.replacements, ""]
    lines.append(verdict.summary)
    codes = sorted({fault.kind.code for fault in verdict.faults})
    if len(codes) > 1:
        lines.append(f"exit code {verdict.code}: the lowest of {', '.join(map(str, codes))}")
    return "\n".join(lines)
