#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Called as ssh is: -o OPTION... HOST COMMAND. The host `board` is the emulated one; its files are in BOARD_FOLDER. Its Debian has no tar.
set -eu
while [ "$1" = -o ]; do shift 2; done
if [ "$1" != board ]; then
    echo "ssh: Could not resolve hostname $1" >&2
    exit 255
fi
exec "$BOARD_GUEST" --level sm10 --folder "$BOARD_FOLDER" --env TMPDIR="$BOARD_FOLDER" sh -c "tar() { python3 $BOARD_FOLDER/tar.py \"\$@\"; }; $2"
