# SPDX-License-Identifier: Apache-2.0
"""Rules that build a target for the platform of one ISA level."""

load("//toolchains/isa:levels.bzl", "COMPILERS", "LEVELS")

def platform_of(level, compiler = COMPILERS[0]):
    """The platform of a level and a compiler.

    Args:
      level: of LEVELS; None: the machine that builds.
      compiler: of COMPILERS.

    Returns:
      Its Label.
    """
    return Label("//toolchains/isa:" + "_".join([level or "x86_64"] + ([compiler] if compiler != COMPILERS[0] else [])))

def _compiler_of(platforms):
    """The compiler stays what it is when a part of a program is built for another level."""
    for compiler in COMPILERS[1:]:
        if platforms and str(platforms[0]).endswith("_" + compiler):
            return compiler
    return COMPILERS[0]

def _level_transition_impl(settings, attr):
    if attr.level not in LEVELS:
        fail("unknown level '%s'; toolchains/isa/levels.bzl has %s" % (attr.level, ", ".join(sorted(LEVELS))))
    compiler = getattr(attr, "compiler", "") or _compiler_of(settings["//command_line_option:platforms"])
    if compiler not in COMPILERS:
        fail("unknown compiler '%s'; toolchains/isa/levels.bzl has %s" % (compiler, ", ".join(COMPILERS)))
    return {"//command_line_option:platforms": str(platform_of(attr.level, compiler))}

level_transition = transition(
    implementation = _level_transition_impl,
    inputs = ["//command_line_option:platforms"],
    outputs = ["//command_line_option:platforms"],
)

def _target(ctx):
    # A label with a transition is a list, even of one.
    return ctx.attr.target[0]

def _at_level_impl(ctx):
    info = _target(ctx)[DefaultInfo]
    return [DefaultInfo(files = info.files, runfiles = info.default_runfiles)]

_ATTRS = {
    "compiler": attr.string(doc = "A compiler of toolchains/isa/levels.bzl; empty: that of the program which this becomes a part of."),
    "level": attr.string(mandatory = True, doc = "A level of toolchains/isa/levels.bzl."),
    "target": attr.label(mandatory = True, cfg = level_transition, doc = "What to build at that level."),
}

at_level = rule(
    implementation = _at_level_impl,
    doc = "The files of a target, built for one ISA level. C++ providers are not forwarded: link the files as srcs.",
    attrs = _ATTRS,
)

def _level_objects_impl(ctx):
    outputs = _target(ctx)[OutputGroupInfo]
    if not hasattr(outputs, "compilation_outputs"):
        fail("%s: target %s compiles nothing; name a cc_library with srcs" % (ctx.label, _target(ctx).label))
    return [DefaultInfo(files = outputs.compilation_outputs)]

level_objects = rule(
    implementation = _level_objects_impl,
    doc = "The object files of a cc_library, built for one ISA level: srcs of another level's cc_binary or cc_library.",
    attrs = _ATTRS,
)

def _level_test_impl(ctx):
    info = _target(ctx)[DefaultInfo]
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = executable, target_file = info.files_to_run.executable, is_executable = True)
    providers = [DefaultInfo(executable = executable, runfiles = info.default_runfiles)]
    if RunEnvironmentInfo in _target(ctx):
        providers.append(_target(ctx)[RunEnvironmentInfo])
    return providers

level_test = rule(
    implementation = _level_test_impl,
    doc = "Runs a cc_test built for one ISA level, on that level's emulated core, whatever platform the command line names.",
    attrs = _ATTRS,
    test = True,
)
