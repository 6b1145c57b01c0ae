# SPDX-License-Identifier: Apache-2.0
"""Makes one shared library of the same kernels compiled for several ISA levels.

    level_kernels, one per level    objects of a level -> one object, its code in a section named after the level
    level_plan                      stubs and symbol lists, derived from the objects
    level_library                   renames, links

A level_kernels target can also be a part: its entry points are called by name, from code that has asked for the core, and
it takes no core away from the levels.

Only the bindings and the stubs see the ops' own names; every level's copy is local to its object but for its
vml_<level>_<op> names. How the level is chosen: runtime/level.cc and tools/plan_levels.py.
"""

load("//toolchains/isa:defs.bzl", "level_transition")
load("//toolchains/isa:levels.bzl", "LEVELS")
load(":isa_proof.bzl", "ISA_PROOF_ATTRS", "IsaFactsInfo", "prove_library", "prove_object")
load(":paths.bzl", "tool_inputs")

LevelKernelsInfo = provider(
    doc = "One level's kernels.",
    fields = {
        "facts": "List of what the ISA proof found in each object.",
        "level": "Name in //toolchains/isa:levels.bzl.",
        "link_map": "The linker's map of `object`.",
        "object": "The partially linked object.",
        "section": "Where its code stands.",
    },
)

LevelPlanInfo = provider(
    doc = "How the levels become one library.",
    fields = {
        "keep": "Dict: level or part name to the list of symbols that stay global.",
        "late": "List of the symbols that are bound when the library is loaded.",
        "redefine": "Dict: level name to objcopy's list of renames.",
    },
)

_BINUTILS = "//toolchains/gcc/riscv64:"

def _tool(name, doc):
    return attr.label(doc = doc, default = _BINUTILS + name, executable = True, cfg = "exec")

def _objects(targets):
    files = []
    for target in targets:
        files += [file for file in target[DefaultInfo].files.to_list() if file.extension == "o"]
    return files

# Only upstream's bindings and our module may run code when the library is loaded, and that without vectors: a static
# initialiser in a kernel would run on every core. Hence the assertion.
_SECTIONS = """\
SECTIONS {{
  {section} : {{ *(.text .text.*) }}
  .init_array : {{ *(.init_array .init_array.* .ctors .ctors.*) }}
  ASSERT(SIZEOF(.init_array) == 0, "level {level}: a kernel has a static initialiser; it would run on every core")
}}
"""

def _level_kernels_impl(ctx):
    level = ctx.attr.level
    if level not in LEVELS:
        fail("{}: unknown level {}; toolchains/isa/levels.bzl has {}".format(ctx.label, level, ", ".join(sorted(LEVELS))))
    script = ctx.actions.declare_file("{}/{}.ld".format(ctx.label.name, level))
    section = "vml_%s_text" % level
    ctx.actions.write(script, _SECTIONS.format(level = level, section = section))
    objects = _objects(ctx.attr.objects)
    if not objects:
        fail("{}: objects has no .o file; pass level_objects targets".format(ctx.label))
    output = ctx.actions.declare_file("{}/{}.part.o".format(ctx.label.name, level))
    arguments = ctx.actions.args()
    link_map = ctx.actions.declare_file("{}/{}.part.map".format(ctx.label.name, level))
    arguments.add_all(["-r", "--force-group-allocation", "-T", script, "-o", output])
    arguments.add(link_map, format = "-Map=%s")
    arguments.add_all(objects)
    ctx.actions.run(
        executable = ctx.executable._ld,
        arguments = [arguments],
        inputs = depset(objects + [script], transitive = [tool_inputs(ctx.attr._ld)]),
        outputs = [output, link_map],
        mnemonic = "LevelPartialLink",
        progress_message = "Linking kernels of level " + level,
    )
    facts = [prove_object(ctx, object, level, number) for number, object in enumerate(objects)]
    return [
        DefaultInfo(files = depset([output])),
        LevelKernelsInfo(facts = facts, level = level, link_map = link_map, object = output, section = section),
        OutputGroupInfo(_validation = depset(facts)),
    ]

level_kernels = rule(
    implementation = _level_kernels_impl,
    doc = "All kernels of one ISA level as one object.",
    attrs = ISA_PROOF_ATTRS | {
        "level": attr.string(
            doc = "Level that the objects were built for.",
            mandatory = True,
        ),
        "objects": attr.label_list(
            doc = "level_objects targets of that level.",
            mandatory = True,
        ),
        "_ld": _tool("ld", "The linker."),
    },
)

def _level_plan_impl(ctx):
    folder = ctx.label.name
    levels = [target[LevelKernelsInfo] for target in ctx.attr.levels]
    parts = [target[LevelKernelsInfo] for target in ctx.attr.parts]
    bindings = _objects([ctx.attr.bindings])
    if len(bindings) != 1:
        fail("{}: bindings must be one object, got {}".format(ctx.label, len(bindings)))
    support = _objects(ctx.attr.support)
    stubs = ctx.actions.declare_file(folder + "/stubs.S")
    late = ctx.actions.declare_file(folder + "/late")
    ops = ctx.actions.declare_file(folder + "/ops")
    keep = {level.level: ctx.actions.declare_file("{}/{}.keep".format(folder, level.level)) for level in levels + parts}
    redefine = {level.level: ctx.actions.declare_file("{}/{}.redefine".format(folder, level.level)) for level in levels}
    arguments = ctx.actions.args()
    arguments.add(ctx.file._planner)
    arguments.add("--nm", ctx.executable._nm)
    arguments.add("--bindings", bindings[0])
    for level in levels:
        arguments.add("--level", "{}:{}={}".format(level.level, (LEVELS[level.level].vlen or 0) // 8, level.object.path))
    for part in parts:
        arguments.add("--part", "{}={}".format(part.level, part.object.path))
    arguments.add_all(support, before_each = "--support")
    for library in ctx.attr.late_libraries:
        arguments.add("--late", "{}/{}".format(ctx.file.sysroot.path, library))
    arguments.add("--out", stubs.dirname)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            bindings + support + [level.object for level in levels + parts] + [ctx.file._planner, ctx.file.sysroot],
            transitive = [tool_inputs(ctx.attr._nm, ctx.attr._python)],
        ),
        outputs = [stubs, late, ops] + keep.values() + redefine.values(),
        tools = [ctx.attr._nm[DefaultInfo].files_to_run],
        mnemonic = "LevelPlan",
        progress_message = "Planning stubs of %{label}",
    )
    return [
        DefaultInfo(files = depset([stubs])),
        OutputGroupInfo(ops = depset([ops]), late = depset([late])),
        LevelPlanInfo(keep = keep, late = late, redefine = redefine),
    ]

level_plan = rule(
    implementation = _level_plan_impl,
    doc = "Derives stubs.S (its only default output, srcs of a cc_library) and the symbol lists from the objects.",
    attrs = {
        "bindings": attr.label(
            doc = "The object that registers the ops.",
            mandatory = True,
        ),
        "late_libraries": attr.string_list(
            doc = "Shared libraries of the sysroot whose symbols are bound at load, as paths below its root.",
        ),
        "levels": attr.label_list(
            doc = "level_kernels targets.",
            mandatory = True,
            providers = [LevelKernelsInfo],
        ),
        "parts": attr.label_list(
            doc = "level_kernels targets that are no level of the library.",
            providers = [LevelKernelsInfo],
        ),
        "support": attr.label_list(
            doc = "Other objects of the library.",
        ),
        "sysroot": attr.label(
            doc = "Tree that late_libraries stand in.",
            mandatory = True,
            allow_single_file = True,
        ),
        "_nm": _tool("nm", "Lists symbols."),
        "_planner": attr.label(
            doc = "The planner.",
            default = "//third_party/vllm/tools:plan_levels.py",
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

def _objcopy(ctx, source, name, options, inputs, what):
    output = ctx.actions.declare_file("{}.objects/{}".format(ctx.label.name, name))
    arguments = ctx.actions.args()
    arguments.add_all(options)
    arguments.add_all([source, output])
    ctx.actions.run(
        executable = ctx.executable._objcopy,
        arguments = [arguments],
        inputs = depset([source] + inputs, transitive = [tool_inputs(ctx.attr._objcopy)]),
        outputs = [output],
        mnemonic = "LevelObjcopy",
        progress_message = "%s of %s" % (what, source.basename),
    )
    return output

def _prove_library(ctx, library, link_map, linked, plain, stubs):
    """Proves the objects beside the levels', and the library. Linked: the levels' and parts' objects in their order, then `plain`'s."""
    probes = [file.path for file in _objects(ctx.attr.probes)]
    facts = {
        object.path: prove_object(ctx, object, ctx.attr.level, number, may_probe = object.path in probes)
        for number, (object, _) in enumerate(plain)
    }
    kernels = [target[LevelKernelsInfo] for target in ctx.attr.levels + ctx.attr.parts]
    keep = ctx.attr.plan[LevelPlanInfo].keep
    description = struct(
        guards = ctx.attr.guards,
        kernels = [
            struct(
                facts = [file.path for file in info.facts],
                keep = keep[info.level].path,
                level = info.level,
                linked = object.path,
                map = info.link_map.path,
                part = number >= len(ctx.attr.levels),
                section = info.section,
            )
            for number, (info, object) in enumerate(zip(kernels, linked[:len(kernels)]))
        ],
        level = ctx.attr.level,
        library = library.path,
        map = link_map.path,
        module = library.basename,
        plain = [struct(facts = facts[object.path].path, linked = copy.path, stubs = object in stubs) for object, copy in plain],
    )
    inputs = [library, link_map, ctx.file.sysroot] + linked + facts.values()
    for info in kernels:
        inputs += info.facts + [info.link_map, keep[info.level]]
    return prove_library(ctx, description, inputs), facts.values()

def _level_library_impl(ctx):
    plan = ctx.attr.plan[LevelPlanInfo]
    weaken = ["--weaken-symbols", plan.late.path]
    linked = []
    kept = []
    plain = []
    for kernels in [target[LevelKernelsInfo] for target in ctx.attr.levels]:
        renamed = _objcopy(
            ctx,
            kernels.object,
            kernels.level + ".renamed.o",
            ["--redefine-syms", plan.redefine[kernels.level].path],
            [plan.redefine[kernels.level]],
            "Renaming ops",
        )
        kept.append((kernels.level, renamed))
    kept += [(target[LevelKernelsInfo].level, target[LevelKernelsInfo].object) for target in ctx.attr.parts]
    for level, object in kept:
        linked.append(_objcopy(
            ctx,
            object,
            level + ".o",
            ["--keep-global-symbols", plan.keep[level].path] + weaken,
            [plan.keep[level], plan.late],
            "Hiding symbols",
        ))
    deferred = ["--rename-section", ".init_array=sm10_deferred_init,alloc,load,data,contents"]
    rename = ["--redefine-sym", "PyInit_{0}=sm10_upstream_PyInit_{0}".format(ctx.attr.module)]
    for number, object in enumerate(_objects(ctx.attr.registering)):
        copy = _objcopy(ctx, object, "registering%d.o" % number, deferred + rename + weaken, [plan.late], "Deferring initialisers")
        plain.append((object, copy))
    for number, object in enumerate(_objects(ctx.attr.support)):
        plain.append((object, _objcopy(ctx, object, "support%d.o" % number, weaken, [plan.late], "Weakening symbols")))
    stubs = _objects([ctx.attr.stubs])
    plain += [(object, object) for object in stubs]
    linked += [copy for _, copy in plain]

    output = ctx.actions.declare_file(ctx.attr.module + ".abi3.so")
    link_map = ctx.actions.declare_file(ctx.label.name + ".objects/link.map")
    arguments = ctx.actions.args()
    arguments.add("--sysroot=" + ctx.file.sysroot.path)
    arguments.add_all(LEVELS[ctx.attr.level].copts)
    arguments.add_all(["-no-canonical-prefixes", "-shared", "-s", "-o", output])
    arguments.add_all([
        "-Wl,-O1",
        "-Wl,--build-id=none",
        "-Wl,-z,defs",
        "-Wl,-z,noexecstack",
        "-Wl,-z,now",
        "-Wl,-z,relro",
        "-Wl,-z,start-stop-visibility=hidden",
        "-Wl,-z,text",
    ])
    arguments.add(link_map, format = "-Wl,-Map=%s")
    arguments.add_all(["-Wl,--cref", "-Wl,--no-demangle"])
    arguments.add_all(linked)
    arguments.add_all(ctx.attr.linkopts)
    ctx.actions.run(
        executable = ctx.executable._cxx,
        arguments = [arguments],
        inputs = depset(linked + [ctx.file.sysroot], transitive = [tool_inputs(ctx.attr._cxx)]),
        outputs = [output, link_map],
        mnemonic = "LevelLink",
        progress_message = "Linking %{output}",
    )
    facts, facts_of_objects = _prove_library(ctx, output, link_map, linked, plain, stubs)
    return [
        DefaultInfo(files = depset([output])),
        IsaFactsInfo(facts = facts),
        OutputGroupInfo(_validation = depset([facts] + facts_of_objects)),
    ]

level_library = rule(
    implementation = _level_library_impl,
    doc = "Links the levels, the bindings and the run-time choice between them into <module>.abi3.so.",
    # One configuration for all that is not a level's, whatever platform the command line names.
    cfg = level_transition,
    attrs = ISA_PROOF_ATTRS | {
        "guards": attr.string_list(
            doc = "C++ names of the functions that ask for the core: an object that enters a part without calling one fails the build.",
        ),
        "level": attr.string(
            doc = "Level of what runs on every core.",
            default = "scalar",
        ),
        "levels": attr.label_list(
            doc = "level_kernels targets.",
            mandatory = True,
            providers = [LevelKernelsInfo],
        ),
        "linkopts": attr.string_list(
            doc = "Libraries that are linked as usual.",
        ),
        "module": attr.string(
            doc = "Name of the Python module.",
            mandatory = True,
        ),
        "parts": attr.label_list(
            doc = "The plan's parts.",
            providers = [LevelKernelsInfo],
        ),
        "plan": attr.label(
            doc = "The level_plan of the same objects.",
            mandatory = True,
            providers = [LevelPlanInfo],
        ),
        "probes": attr.label_list(
            doc = "Those of `support` that ask the core by trying instructions.",
        ),
        "registering": attr.label_list(
            doc = "Objects whose static initialisers call torch; they run once torch is bound.",
        ),
        "stubs": attr.label(
            doc = "level_objects of the plan's stubs.S, built at scalar.",
            mandatory = True,
        ),
        "support": attr.label_list(
            doc = "Other objects of the library.",
        ),
        "sysroot": attr.label(
            doc = "Tree with the target's libraries.",
            mandatory = True,
            allow_single_file = True,
        ),
        "_cxx": _tool("g++", "Links."),
        "_objcopy": _tool("objcopy", "Changes symbols and section names."),
    },
)
