# SPDX-License-Identifier: Apache-2.0
"""A source file that a Python program of this workspace writes."""

def _generated_source_impl(ctx):
    output = ctx.actions.declare_file(ctx.attr.out)
    python = ctx.attr._python[DefaultInfo]
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [ctx.file.generator.path, "--output", output.path],
        inputs = depset([ctx.file.generator], transitive = [python.files, python.default_runfiles.files]),
        outputs = [output],
        mnemonic = "Ime2Generate",
        progress_message = "Writing %{output}",
    )
    return [DefaultInfo(files = depset([output]))]

generated_source = rule(
    implementation = _generated_source_impl,
    doc = "Runs `GENERATOR --output OUT` with the exec Python.",
    attrs = {
        "generator": attr.label(mandatory = True, allow_single_file = [".py"], doc = "The program; it imports the standard library only."),
        "out": attr.string(mandatory = True, doc = "Name of the file."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "The exec Python."),
    },
)
