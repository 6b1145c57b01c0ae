# SPDX-License-Identifier: Apache-2.0
"""The ISA contract's rows as the C++ table of runtime/level.cc."""

load("//toolchains/isa:levels.bzl", "LEVELS")

def _row(name):
    level = LEVELS[name]
    bits = ["k" + extension.capitalize() for extension in level.extensions if extension != "v"]
    return '{"%s", %d, %s},\n' % (name, level.vlen // 8, " | ".join(bits) or "0")

def _level_table_impl(ctx):
    table = ctx.actions.declare_file(ctx.label.name + "/sm10_levels.inc")
    ctx.actions.write(table, "".join([_row(name) for name in ctx.attr.levels if LEVELS[name].vlen]))
    return [
        DefaultInfo(files = depset([table])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([table]),
            includes = depset([table.dirname]),
        )),
    ]

level_table = rule(
    implementation = _level_table_impl,
    doc = "sm10_levels.inc: name, vlenb and needed extensions of each vector level.",
    attrs = {
        "levels": attr.string_list(
            doc = "Levels that the library holds.",
            mandatory = True,
        ),
    },
)
