# SPDX-License-Identifier: Apache-2.0
"""The contract as a table for people."""

load("//toolchains/isa:levels.bzl", "LEVELS")

def _support_table_impl(ctx):
    lines = [
        "| level | VLEN | march | built for | in the wheel |",
        "|---|---|---|---|---|",
    ]
    for level, row in sorted(LEVELS.items()):
        lines.append("| `%s` | %s | `%s` | %s | %s |" % (
            level,
            row.vlen or "any",
            row.march,
            row.cores,
            "yes" if level in ctx.attr.wheel_levels else ctx.attr.wheel_parts.get(level, "not yet"),
        ))
    table = ctx.actions.declare_file(ctx.label.name + ".md")
    ctx.actions.write(table, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([table]))]

support_table = rule(
    implementation = _support_table_impl,
    doc = "A Markdown table of the ISA levels, from toolchains/isa/levels.bzl; README.md holds its output.",
    attrs = {
        "wheel_levels": attr.string_list(mandatory = True, doc = "Levels whose code the wheel's _C holds."),
        "wheel_parts": attr.string_dict(doc = "Levels of which it holds a part, and what that is."),
    },
)
