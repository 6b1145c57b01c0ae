# SPDX-License-Identifier: Apache-2.0
"""Where two builds part: the first actions whose outputs differ although their inputs do not."""

from __future__ import annotations

from dataclasses import dataclass

from ci.reproducibility.actions import Action, Build


@dataclass(frozen=True)
class Difference:
    """An action that made different bytes from the same inputs. command: whether what it executes differs too."""

    action: Action
    outputs: tuple[str, ...]
    command: bool

    @property
    def text(self) -> str:
        why = "its command differs" if self.command else "the same command on the same inputs"
        return "\n".join([f"{self.action.name} ({why})", *(f"    {output}" for output in self.outputs)])


@dataclass(frozen=True)
class Comparison:
    """first: where the builds part. later: how many more outputs differ. absent: outputs that only one build has. compared: outputs that both have."""

    first: tuple[Difference, ...]
    later: int
    absent: tuple[str, ...]
    compared: int

    @property
    def same(self) -> bool:
        return not (self.first or self.later or self.absent)

    @property
    def text(self) -> str:
        lines = [f"first differing action: {difference.text}" for difference in self.first]
        if self.later:
            lines.append(f"and {self.later} outputs that are made from these")
        lines += [f"only one of the builds has {path}" for path in self.absent[:20]]
        return "\n".join(lines)


def compare(one: Build, two: Build) -> Comparison:
    """Compares all outputs."""
    common = one.digests.keys() & two.digests.keys()
    different = {path for path in common if one.digests[path] != two.digests[path]}
    keys = {output: action.key for action in two.actions for output in action.outputs}
    first: list[Difference] = []
    explained: set[str] = set()
    for action in one.actions:
        own = tuple(sorted(different.intersection(action.outputs)))
        if own and not different & action.inputs:
            first.append(Difference(action, own, any(keys.get(output) != action.key for output in own)))
            explained.update(own)
    return Comparison(
        tuple(sorted(first, key=lambda difference: difference.action.name)),
        len(different - explained),
        tuple(sorted(one.digests.keys() ^ two.digests.keys())),
        len(common),
    )
