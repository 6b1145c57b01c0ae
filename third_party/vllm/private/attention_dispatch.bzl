# SPDX-License-Identifier: Apache-2.0
"""The header that upstream's own script generates for its attention kernels."""

load(":paths.bzl", "tool_inputs")

def _attention_dispatch_impl(ctx):
    # The script writes beside itself, so it runs by a link in the output folder.
    script = ctx.actions.declare_file(ctx.label.name + "/generate.py")
    header = ctx.actions.declare_file(ctx.label.name + "/cpu_attn_dispatch_generated.h")
    ctx.actions.symlink(output = script, target_file = ctx.file.script)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [script.path],
        inputs = depset([script], transitive = [tool_inputs(ctx.attr._python)]),
        outputs = [header],
        mnemonic = "VllmAttentionDispatch",
        progress_message = "Generating %{output}",
    )
    compilation = cc_common.create_compilation_context(
        headers = depset([header]),
        includes = depset([header.dirname]),
    )
    return [
        DefaultInfo(files = depset([header])),
        CcInfo(compilation_context = compilation),
    ]

attention_dispatch = rule(
    implementation = _attention_dispatch_impl,
    doc = "Runs csrc/cpu/generate_cpu_attn_dispatch.py of the sources; usable in deps of a cc_library.",
    attrs = {
        "script": attr.label(
            doc = "Upstream's script.",
            mandatory = True,
            allow_single_file = True,
        ),
        "_python": attr.label(
            doc = "Python of the machine that builds.",
            default = "//toolchains/python:python3",
            executable = True,
            cfg = "exec",
        ),
    },
)
