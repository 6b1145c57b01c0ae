# SPDX-License-Identifier: Apache-2.0
"""tar -x -C FOLDER and tar -c -C FOLDER . for a board whose Debian has none."""

import sys
import tarfile

what, _, folder = sys.argv[1:4]
if what == "-x":
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        archive.extractall(folder, filter="data")
else:
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        archive.add(folder, ".")
