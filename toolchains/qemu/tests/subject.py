# SPDX-License-Identifier: Apache-2.0
"""What test_launcher.py starts."""

import json
import os
import sys

json.dump({"python": sys.executable, "temporary": os.environ.get("TEST_TMPDIR")}, sys.stdout)
