# SPDX-License-Identifier: Apache-2.0
"""python3 -m ci.runner"""

import sys

from ci.runner.cli import main

sys.exit(main())
