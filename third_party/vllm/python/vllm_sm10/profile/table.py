# SPDX-License-Identifier: Apache-2.0
"""A profile as text."""

from __future__ import annotations

from collections.abc import Iterator

from vllm_sm10.profile.meters import Cost
from vllm_sm10.profile.record import REST, Pass, Profile


def _row(share: str, fields: list[str], calls: str, name: str) -> str:
    return "  ".join([share.rjust(7), *(field.rjust(13) for field in fields), calls.rjust(5), name]).rstrip()


def _lines(one: Pass) -> Iterator[str]:
    fields = list(one.whole)

    def line(cost: Cost, calls: str, name: str) -> str:
        share = f"{100 * cost[fields[0]] / one.whole[fields[0]]:.1f}%"
        return _row(share, [f"{cost[field]:,}" for field in fields], calls, name)

    yield one.title
    yield _row("share", fields, "calls", "op, its commonest shapes")
    for op in one.ops:
        yield line(op.cost, str(op.calls), f"{op.name}  {op.shapes}")
    yield line(one.rest, "", REST)
    yield line(one.whole, "", "the whole step")


def text(profile: Profile) -> str:
    heading = f"{profile.model}, quantization {profile.quantization or 'none'}, {profile.dtype}, in {profile.unit}"
    return "\n\n".join([heading, *("\n".join(_lines(one)) for one in profile.passes)]) + "\n"
