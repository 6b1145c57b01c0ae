# SPDX-License-Identifier: Apache-2.0
"""Headers out of a source directory, for cc rules, which accept headers as files or as generated directories only."""

def _tree_headers_impl(ctx):
    headers = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        inputs = [ctx.file.tree],
        outputs = [headers],
        command = 'cp -RL "$1/." "$2"',
        arguments = [ctx.file.tree.path + "/" + ctx.attr.folder, headers.path],
        mnemonic = "TreeHeaders",
    )
    return [
        DefaultInfo(files = depset([headers])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([headers]),
            system_includes = depset([headers.path]),
        )),
    ]

tree_headers = rule(
    implementation = _tree_headers_impl,
    doc = "A dependency of cc rules that adds a folder of a tree to the include path.",
    attrs = {
        "folder": attr.string(mandatory = True, doc = "The include folder, below the tree."),
        "tree": attr.label(mandatory = True, allow_single_file = True, doc = "The source directory."),
    },
    provides = [CcInfo],
)
