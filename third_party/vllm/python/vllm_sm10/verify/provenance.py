# SPDX-License-Identifier: Apache-2.0
"""A wheel file against a provenance statement: its every byte."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from vllm_sm10.verify.errors import VerifyError


def beside(wheel: Path) -> Path | None:
    """The statement that lies beside a wheel."""
    path = wheel.with_name(wheel.name.removesuffix(".whl") + ".provenance.json")
    return path if path.is_file() else None


def problem(wheel: Path, statement: Path) -> str:
    """What is wrong; empty if the statement is about this file."""
    try:
        subjects = json.loads(statement.read_bytes())["subject"]
        digests = {subject["name"]: subject["digest"]["sha256"] for subject in subjects}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VerifyError(f"{statement} is no provenance statement: {error!r}\n  remedy: fetch it anew") from error
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found in digests.values():
        return ""
    return f"has sha256 {found}; {statement.name} is about {', '.join(f'{name} ({digest})' for name, digest in sorted(digests.items()))}"
