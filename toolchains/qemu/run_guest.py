# SPDX-License-Identifier: Apache-2.0
"""Entry point: python3 -I run_guest.py --config FILE [option ...] [command ...]."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from guest import cli  # noqa: E402  (isolated mode leaves this folder out of the path)

cli.main()
