# SPDX-License-Identifier: Apache-2.0
"""The README lists every exit code."""

from __future__ import annotations

import os
from pathlib import Path

from ci.gates.faults import Kind


def test_the_readme_has_the_table_of_faults() -> None:
    table = "\n".join(f"| {kind.code} | {kind.label} | {kind.meaning} |" for kind in Kind)
    assert f"|---|---|---|\n{table}\n\n" in Path(os.environ["README"]).read_text(encoding="utf-8"), f"ci/gates/README.md must hold\n{table}"
