# SPDX-License-Identifier: Apache-2.0
"""Runs one program of the locked Debian tree without the host's loader, libraries or programs."""

_SCRIPT = """\
#!/bin/sh
# The loader, libraries and program are the locked ones; argv[0] is the program's own path because GCC derives its
# prefix from it. Paths are relative to the execution root, where every action runs.
exec {root}/usr/lib64/ld-linux-x86-64.so.2 --library-path {root}/usr/lib/x86_64-linux-gnu \\
    --argv0 {root}/{program} {root}/{program} {arguments}"$@"
"""

def _relocated_program_impl(ctx):
    wrapper = ctx.actions.declare_file(ctx.label.name)
    arguments = list(ctx.attr.arguments)
    if ctx.attr.helpers:
        # GCC looks for cc1, as, ld... in this folder first.
        arguments.append("-B" + wrapper.dirname + "/")
    ctx.actions.write(
        wrapper,
        _SCRIPT.format(
            root = ctx.file.tree.path,
            program = ctx.attr.program,
            arguments = "".join([word + " " for word in arguments]),
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles([ctx.file.tree], transitive_files = depset(transitive = [
        helper[DefaultInfo].files
        for helper in ctx.attr.helpers
    ]))
    return [DefaultInfo(executable = wrapper, files = depset([wrapper]), runfiles = runfiles)]

relocated_program = rule(
    implementation = _relocated_program_impl,
    doc = "A wrapper that starts a program of a Debian tree by that tree's own ld.so, for use as an action's tool.",
    attrs = {
        "arguments": attr.string_list(doc = "Arguments that come before the caller's."),
        "helpers": attr.label_list(doc = "relocated_programs of the same package that this program looks up by name (a compiler driver's cc1plus, as, ld)."),
        "program": attr.string(mandatory = True, doc = "Path of the program in the tree, e.g. usr/bin/riscv64-linux-gnu-ld."),
        "tree": attr.label(mandatory = True, allow_single_file = True, doc = "The tree: a source directory made from locked packages."),
    },
    executable = True,
)
