# SPDX-License-Identifier: Apache-2.0
"""Audit of a shared library as a build step: a library that breaks a rule is never shipped."""

load("//toolchains/isa:levels.bzl", "LEVELS")
load(":paths.bzl", "tool_inputs")

# The one place outside the levels: the runtime asks there whether an extension executes.
_PROBES = "sm10_probe_text"

def _library_audit_impl(ctx):
    report = ctx.actions.declare_file(ctx.label.name + ".json")
    arguments = ctx.actions.args()
    arguments.add(ctx.file._auditor)
    arguments.add("--library", ctx.file.library)
    arguments.add("--readelf", ctx.executable._readelf)
    arguments.add("--objdump", ctx.executable._objdump)
    arguments.add_all(ctx.attr.needed, before_each = "--needed")
    for kind, levels in [
        ("vector", [level for level in ctx.attr.levels if LEVELS[level].vlen]),
        ("matrix", [level for level in ctx.attr.levels if "xsmtvdotii" in LEVELS[level].extensions]),
    ]:
        sections = ["vml_%s_text" % level for level in levels] + ([_PROBES] if levels else [])
        arguments.add_all(sections, before_each = "--%s-section" % kind)
    arguments.add("--report", report)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            [ctx.file.library, ctx.file._auditor],
            transitive = [tool_inputs(ctx.attr._objdump, ctx.attr._python, ctx.attr._readelf)],
        ),
        outputs = [report],
        tools = [ctx.attr._objdump[DefaultInfo].files_to_run, ctx.attr._readelf[DefaultInfo].files_to_run],
        mnemonic = "LibraryAudit",
        progress_message = "Auditing " + ctx.file.library.basename,
    )
    return [DefaultInfo(files = depset([report]))]

library_audit = rule(
    implementation = _library_audit_impl,
    doc = "Report on a riscv64 library; building it fails when vector or matrix code, a path or a dependency stands where it must not.",
    attrs = {
        "levels": attr.string_list(
            doc = "Levels and parts whose kernels the library holds.",
        ),
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
        "_objdump": attr.label(
            doc = "Disassembler.",
            default = "//toolchains/gcc/riscv64:objdump",
            executable = True,
            cfg = "exec",
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
