# SPDX-License-Identifier: Apache-2.0
"""Analysis tests: the argv of compile actions equals the ISA contract."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//toolchains/isa:levels.bzl", "EXTENSIONS", "LEVELS", "extension_constraint", "level_constraints", "vlen_constraint")

CompileInfo = provider(
    doc = "What a target is compiled by.",
    fields = {"argv": "Argument vector of its only compile action."},
)

def _compile_aspect_impl(target, ctx):
    argvs = [action.argv for action in target.actions if action.mnemonic == "CppCompile"]
    if argvs:
        return [CompileInfo(argv = argvs[0])] if len(argvs) == 1 else []

    # A level_objects target: its own target is reached through a transition.
    return [CompileInfo(argv = ctx.rule.attr.target[0][CompileInfo].argv)]

_compile_aspect = aspect(
    implementation = _compile_aspect_impl,
    attr_aspects = ["target"],
    doc = "Looks through a level's transition, which differs from level to level, so that one test rule does for all.",
)

def _argv_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = analysistest.target_under_test(env)[CompileInfo].argv
    found = [word for word in argv if word.startswith(("-march", "-mabi", "-mrvv", "-mcpu", "-mtune"))]
    asserts.equals(env, LEVELS[ctx.attr.level].copts, found)
    asserts.true(env, ("/toolchains/%s/" % ctx.attr.compiler) in argv[0], "%s is not the compiler %s" % (argv[0], ctx.attr.compiler))
    sysroots = [word for word in argv if word.startswith("--sysroot=external/")]
    asserts.equals(env, 1, len(sysroots), "one sysroot, from a locked repository")
    for word in argv:
        asserts.false(env, "/usr/include" in word and not word.startswith("-isystemexternal/"), "host folder in argv: " + word)
    return analysistest.end(env)

argv_test = analysistest.make(
    _argv_test_impl,
    attrs = {
        "compiler": attr.string(mandatory = True, doc = "The compiler that the target is built by."),
        "level": attr.string(mandatory = True, doc = "The level that the target is built for."),
    },
    extra_target_under_test_aspects = [_compile_aspect],
)

def _constraints_test_impl(ctx):
    env = analysistest.begin(ctx)
    for level, row in LEVELS.items():
        constraints = level_constraints(level)
        asserts.true(env, "//toolchains/isa:" + vlen_constraint(row.vlen) in constraints)
        for extension in EXTENSIONS:
            present, absent = [
                "//toolchains/isa:" + extension_constraint(extension, value) in constraints
                for value in (True, False)
            ]
            asserts.true(env, present != absent, "%s says of %s exactly one of present and absent" % (level, extension))
    return analysistest.end(env)

constraints_test = analysistest.make(_constraints_test_impl)
