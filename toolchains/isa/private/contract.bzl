# SPDX-License-Identifier: Apache-2.0
"""The contract as JSON, for programs that run in actions."""

load("//toolchains/isa:levels.bzl", "EXTENSIONS", "LEVELS")

def _isa_contract_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent({
        "extensions": EXTENSIONS,
        "levels": {
            name: {"extensions": level.extensions, "march": level.march, "vlen": level.vlen or 0}
            for name, level in LEVELS.items()
        },
    }) + "\n")
    return [DefaultInfo(files = depset([output]))]

isa_contract = rule(
    implementation = _isa_contract_impl,
    doc = "toolchains/isa/levels.bzl as JSON: for each level extensions, march and VLEN (0: any).",
)
