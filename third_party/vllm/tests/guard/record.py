# SPDX-License-Identifier: Apache-2.0
"""record.py OUTPUT -- COMMAND...: runs a command and writes its exit status and its messages, as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

output, _, *command = sys.argv[1:]
done = subprocess.run(command, capture_output=True, text=True, check=False)
Path(output).write_text(json.dumps({"status": done.returncode, "said": done.stderr}), encoding="utf-8")
