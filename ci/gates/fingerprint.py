# SPDX-License-Identifier: Apache-2.0
"""What a board must be for its figures to compare, and the state that it was in."""

from __future__ import annotations

import dataclasses

from .checker import Checker

Identity = dict[str, str | int]

# Sorted, as in board.toml. These must be the same in the expectations, before the run and after it.
WORDS = ("board", "core_map", "firmware", "governor", "kernel")
NUMBERS = ("a100_mhz", "memory_mts", "x100_mhz")
IDENTITY = tuple(sorted(WORDS + NUMBERS))
STATE = ("temperature_c", "throttled")
UNMEASURED = "unmeasured"


@dataclasses.dataclass(frozen=True)
class Fingerprint:
    """One reading of the board."""

    identity: Identity
    temperature_c: float
    throttled: bool


def read_fingerprint(checker: Checker, value: object, where: str) -> Fingerprint:
    """From a result file."""
    fields = checker.record(value, where, [*IDENTITY, *STATE])
    identity: Identity = {key: checker.text(fields[key], f"{where}.{key}") for key in WORDS}
    identity |= {key: checker.integer(fields[key], f"{where}.{key}", 1) for key in NUMBERS}
    return Fingerprint(
        dict(sorted(identity.items())),
        checker.number(fields["temperature_c"], f"{where}.temperature_c", -40, 150),
        checker.boolean(fields["throttled"], f"{where}.throttled"),
    )


def read_identity(checker: Checker, value: object, where: str) -> Identity:
    """From an expectation file: what is not known yet is "unmeasured"."""
    fields = checker.record(value, where, IDENTITY)
    known: Identity = {}
    for key in IDENTITY:
        if fields[key] == UNMEASURED:
            known[key] = UNMEASURED
        elif key in WORDS:
            known[key] = checker.text(fields[key], f"{where}.{key}")
        else:
            known[key] = checker.integer(fields[key], f"{where}.{key}", 1)
    return known


def differences(expected: Identity, found: Identity) -> list[str]:
    """Facts that differ; what was never measured differs from nothing."""
    return [f"{key} is {found[key]!r}, not {expected[key]!r}" for key in IDENTITY if expected[key] not in (UNMEASURED, found[key])]


def unmeasured(expected: Identity) -> list[str]:
    """Facts that nobody has measured."""
    return [key for key in IDENTITY if expected[key] == UNMEASURED]
