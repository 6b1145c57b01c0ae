#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bubblewrap as buildbox-run-bubblewrap starts it for an action, with another user. It asks for user 0 without capabilities, which the kernel does not
# map in a namespace inside of the action's; but there tests mount the guest's root. (The actions' own property unixUID would do the same.)
user=1000
option=
uid=
gid=
for word; do
    shift
    # Only the first of each: the action's own command comes later.
    if [ "$option" = --uid ] && [ -z "$uid" ]; then
        word=$user uid=$user
    elif [ "$option" = --gid ] && [ -z "$gid" ]; then
        word=$user gid=$user
    fi
    set -- "$@" "$word"
    option=$word
done
exec /usr/bin/bwrap "$@"
