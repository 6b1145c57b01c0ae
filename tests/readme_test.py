# SPDX-License-Identifier: Apache-2.0
"""The README's support table is the ISA contract's."""

import os
from pathlib import Path


def test_the_support_table_is_the_contracts() -> None:
    table = Path(os.environ["SUPPORT"]).read_text()
    assert table in Path(os.environ["README"]).read_text(), f"README.md must hold this table:\n{table}"
