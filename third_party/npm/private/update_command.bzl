# SPDX-License-Identifier: Apache-2.0
"""The update tool as something to `bazel run`."""

_SCRIPT = """\
#!/bin/sh
# Reads and writes the workspace itself, not the read-only copy beside this script.
exec python3 -B "$BUILD_WORKSPACE_DIRECTORY/third_party/npm/lock" "$@"
"""

def _update_command_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, _SCRIPT, is_executable = True)
    return [DefaultInfo(executable = script)]

update_command = rule(
    implementation = _update_command_impl,
    doc = "Runs the update tool on the workspace, with the Python of Bazel's userland.",
    executable = True,
)
