# SPDX-License-Identifier: Apache-2.0
"""python3 -m ci.release"""

import sys

from ci.release.cli import main

sys.exit(main())
