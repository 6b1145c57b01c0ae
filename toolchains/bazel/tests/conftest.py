# SPDX-License-Identifier: Apache-2.0
"""The launcher's modules are imported as it runs them: from its own folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parent.parent / "launcher"))
