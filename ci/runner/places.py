# SPDX-License-Identifier: Apache-2.0
"""Where things lie on the machine, below its root folder."""

from __future__ import annotations

from pathlib import Path

USER = "sm10-runner"
UNIT = "sm10-runner.service"
# May write /proc/set_ai_thread.
AI_GROUP = "sm10-ai"

PROGRAM = Path("usr/local/lib/sm10-runner")
LAUNCHER = Path("usr/local/bin/sm10-runner")
APPLICATION = Path("opt/actions-runner")
STATE = Path("var/lib/sm10-runner")
LEDGER = STATE / "ledger.jsonl"
WORK = Path("srv/sm10runner")
AI_THREAD = Path("proc/set_ai_thread")
