# SPDX-License-Identifier: Apache-2.0
"""The update tool as something to `bazel run`."""

_SCRIPT = """\
#!/bin/sh
# Reads and writes the workspace itself, not the read-only copy beside this script.
uv="$(realpath "$0.runfiles/{tree}")/usr/local/bin/uv"
exec python3 -B "$BUILD_WORKSPACE_DIRECTORY/third_party/pypi/lock" --uv "$uv" "$@"
"""

def _update_command_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    tree = ctx.workspace_name + "/" + ctx.file._tools.short_path
    ctx.actions.write(script, _SCRIPT.format(tree = tree), is_executable = True)
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles([ctx.file._tools]))]

update_command = rule(
    implementation = _update_command_impl,
    doc = "Runs the update tool on the workspace, with the Python of Bazel's userland and the locked resolver.",
    attrs = {
        "_tools": attr.label(
            doc = "Tree with the resolver.",
            default = "@pypi_tools//:tree",
            allow_single_file = True,
        ),
    },
    executable = True,
)
