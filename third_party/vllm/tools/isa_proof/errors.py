# SPDX-License-Identifier: Apache-2.0
"""What the proof raises."""


class ProofError(Exception):
    """An input that cannot be read, or a breach of the contract; the text names object, function, instruction and remedy."""


def refuse(problems: list[str], limit: int = 20) -> None:
    """Raises if there are problems; names the first `limit`."""
    if problems:
        more = [f"... and {len(problems) - limit} more of the kind"] if len(problems) > limit else []
        raise ProofError("\n".join(problems[:limit] + more))
