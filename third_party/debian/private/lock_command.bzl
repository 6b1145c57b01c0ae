# SPDX-License-Identifier: Apache-2.0
"""The lock tool as something to `bazel run`."""

_SCRIPT = """\
#!/bin/sh
# Reads and writes the workspace itself, not the read-only copy beside this script.
cd "$BUILD_WORKSPACE_DIRECTORY" && exec python3 -B -m third_party.debian.lock "$@"
"""

def _lock_command_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, _SCRIPT, is_executable = True)
    return [DefaultInfo(executable = script)]

lock_command = rule(
    implementation = _lock_command_impl,
    doc = "Runs the lock tool on the workspace, with the Python and the gpgv of Bazel's userland.",
    executable = True,
)
