# SPDX-License-Identifier: Apache-2.0
"""The ISA proof as actions: every object before it is linked, every library after.

What a proof finds is a file that later proofs and the manifest read, so a wheel cannot be made without it; it is in the
_validation output group too, so that building any of these targets runs it.
"""

load(":paths.bzl", "tool_inputs")

IsaFactsInfo = provider(
    doc = "A library whose ISA proof was run.",
    fields = {"facts": "File: what the manifest takes from it."},
)

_BINUTILS = ["ar", "as", "nm", "objdump", "readelf"]

ISA_PROOF_ATTRS = {
    "breaches": attr.string(
        default = "fail",
        values = ["fail", "record"],
        doc = "fail: a breach fails the build. record: it is the proof's output instead; for tests of the proof, which say testonly.",
    ),
    "isa_contract": attr.label(
        default = "//toolchains/isa:contract",
        allow_single_file = True,
        doc = "The levels, as JSON. Another than toolchains/isa's is for tests.",
    ),
    "_isa_proof": attr.label(
        default = "//third_party/vllm/tools:isa_proof",
        doc = "The prover.",
    ),
    "_python": attr.label(
        default = "//toolchains/python:python3",
        executable = True,
        cfg = "exec",
        doc = "Python of the machine that builds.",
    ),
} | {
    "_" + name: attr.label(
        default = "//toolchains/gcc/riscv64:" + name,
        executable = True,
        cfg = "exec",
        doc = "The locked binutils' " + name + ".",
    )
    for name in _BINUTILS
}

def _prove(ctx, command, output, inputs, what, add):
    if ctx.attr.breaches == "record" and not ctx.attr.testonly:
        fail("%s: breaches = \"record\" lets a breach pass; it is for tests: add testonly = True" % ctx.label)
    tools = [getattr(ctx.attr, "_" + name) for name in _BINUTILS]
    arguments = ctx.actions.args()
    arguments.add([file for file in ctx.files._isa_proof if file.basename == "__main__.py"][0].dirname)
    if ctx.attr.breaches == "record":
        arguments.add("--record")
    arguments.add(command)
    for name in _BINUTILS:
        arguments.add("--" + name, getattr(ctx.executable, "_" + name))
    arguments.add("--contract", ctx.file.isa_contract)
    arguments.add("--out", output)
    add(arguments)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            ctx.files._isa_proof + [ctx.file.isa_contract] + inputs,
            transitive = [tool_inputs(ctx.attr._python, *tools)],
        ),
        outputs = [output],
        tools = [tool[DefaultInfo].files_to_run for tool in tools],
        mnemonic = "IsaProof",
        progress_message = "Proving the ISA of " + what,
    )
    return output

def prove_object(ctx, file, level, number, may_probe = False):
    """Proves one object as it was compiled.

    Args:
      ctx: of a rule with ISA_PROOF_ATTRS.
      file: the object.
      level: the level that it is said to be of.
      number: what tells it from the target's other objects.
      may_probe: whether it may try instructions that its level lacks, in a section for that.

    Returns:
      The file of facts.
    """

    def add(arguments):
        arguments.add("--file", file)
        arguments.add("--name", file.short_path)
        arguments.add("--level", level)
        if may_probe:
            arguments.add("--may-probe")

    output = ctx.actions.declare_file("{}.isa/{}.json".format(ctx.label.name, number))
    return _prove(ctx, "object", output, [file], file.short_path, add)

def prove_library(ctx, description, inputs):
    """Proves a library whose objects are proven.

    Args:
      ctx: of a rule with ISA_PROOF_ATTRS.
      description: struct for tools/isa_proof/library.py, which documents it.
      inputs: the files that it names.

    Returns:
      The file of facts.
    """
    file = ctx.actions.declare_file(ctx.label.name + ".isa/description.json")
    ctx.actions.write(file, json.encode_indent(description) + "\n")
    output = ctx.actions.declare_file(ctx.label.name + ".isa/library.json")
    return _prove(ctx, "library", output, [file] + inputs, description.library, lambda arguments: arguments.add("--description", file))

def _isa_proven_impl(ctx):
    library = ctx.file.library
    facts = prove_library(ctx, struct(library = library.path, module = library.basename, level = ctx.attr.level), [library])
    return [
        DefaultInfo(files = depset([facts])),
        IsaFactsInfo(facts = facts),
        OutputGroupInfo(_validation = depset([facts])),
    ]

isa_proven = rule(
    implementation = _isa_proven_impl,
    doc = "Facts about a library that is of one level throughout; building them fails when it is not.",
    attrs = ISA_PROOF_ATTRS | {
        "level": attr.string(
            doc = "The level.",
            mandatory = True,
        ),
        "library": attr.label(
            doc = "The library.",
            mandatory = True,
            allow_single_file = True,
        ),
    },
)

def _isa_manifest_impl(ctx):
    output = ctx.outputs.out
    facts = [library[IsaFactsInfo].facts for library in ctx.attr.libraries]
    arguments = ctx.actions.args()
    arguments.add([file for file in ctx.files._isa_proof if file.basename == "__main__.py"][0].dirname)
    arguments.add("manifest")
    arguments.add("--contract", ctx.file.isa_contract)
    arguments.add("--out", output)
    arguments.add_all(facts, before_each = "--library")
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(ctx.files._isa_proof + facts + [ctx.file.isa_contract], transitive = [tool_inputs(ctx.attr._python)]),
        outputs = [output],
        mnemonic = "IsaManifest",
        progress_message = "Writing %{output}",
    )
    return [DefaultInfo(files = depset([output]))]

isa_manifest = rule(
    implementation = _isa_manifest_impl,
    doc = "What runs where in a set of libraries, as one JSON file; README.md has its schema.",
    attrs = {
        "libraries": attr.label_list(
            doc = "level_library and isa_proven targets.",
            mandatory = True,
            providers = [IsaFactsInfo],
        ),
        "out": attr.output(
            doc = "The file.",
            mandatory = True,
        ),
    } | {name: ISA_PROOF_ATTRS[name] for name in ["isa_contract", "_isa_proof", "_python"]},
)
