# SPDX-License-Identifier: Apache-2.0
"""Audit of a shared library as a build step: a library that breaks a rule is never shipped."""

load(":paths.bzl", "tool_inputs")

def _library_audit_impl(ctx):
    report = ctx.actions.declare_file(ctx.label.name + ".json")
    arguments = ctx.actions.args()
    arguments.add(ctx.file._auditor)
    arguments.add("--library", ctx.file.library)
    arguments.add("--readelf", ctx.executable._readelf)
    arguments.add_all(ctx.attr.needed, before_each = "--needed")
    arguments.add("--report", report)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            [ctx.file.library, ctx.file._auditor],
            transitive = [tool_inputs(ctx.attr._python, ctx.attr._readelf)],
        ),
        outputs = [report],
        tools = [ctx.attr._readelf[DefaultInfo].files_to_run],
        mnemonic = "LibraryAudit",
        progress_message = "Auditing " + ctx.file.library.basename,
    )
    return [DefaultInfo(files = depset([report]))]

library_audit = rule(
    implementation = _library_audit_impl,
    doc = "Report on a riscv64 library; building it fails on a path, a symbol or a dependency that must not be in it. Its instructions: isa_proof.bzl.",
    attrs = {
        "library": attr.label(
            doc = "The shared library.",
            mandatory = True,
            allow_single_file = True,
        ),
        "needed": attr.string_list(
            doc = "Sonames that it may need.",
        ),
        "_auditor": attr.label(
            doc = "The auditor.",
            default = "//third_party/vllm/tools:audit_library.py",
            allow_single_file = True,
        ),
        "_python": attr.label(
            doc = "Python of the machine that builds.",
            default = "//toolchains/python:python3",
            executable = True,
            cfg = "exec",
        ),
        "_readelf": attr.label(
            doc = "ELF reader.",
            default = "//toolchains/gcc/riscv64:readelf",
            executable = True,
            cfg = "exec",
        ),
    },
)
