# SPDX-License-Identifier: Apache-2.0
"""An object that a program of binutils has altered."""

load("//third_party/vllm/private:paths.bzl", "tool_inputs")

def _altered_object_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".o")
    arguments = ctx.actions.args()
    arguments.add_all(ctx.attr.arguments)
    sources = [file for file in ctx.files.object if file.extension == "o"]
    arguments.add_all([sources[0], output])
    ctx.actions.run(
        executable = ctx.executable._objcopy,
        arguments = [arguments],
        inputs = depset(sources, transitive = [tool_inputs(ctx.attr._objcopy)]),
        outputs = [output],
        mnemonic = "AlterObject",
    )
    return [DefaultInfo(files = depset([output]))]

altered_object = rule(
    implementation = _altered_object_impl,
    doc = "An object as objcopy makes it of another.",
    attrs = {
        "arguments": attr.string_list(
            doc = "Arguments of objcopy.",
            mandatory = True,
        ),
        "object": attr.label(
            doc = "The object.",
            mandatory = True,
        ),
        "_objcopy": attr.label(
            doc = "The program.",
            default = "//toolchains/gcc/riscv64:objcopy",
            executable = True,
            cfg = "exec",
        ),
    },
)
