# SPDX-License-Identifier: Apache-2.0
"""Entry point of `python3 -m third_party.debian.lock`."""

import sys

from third_party.debian.lock.cli import main

if __name__ == "__main__":
    sys.exit(main())
