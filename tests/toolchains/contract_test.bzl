# SPDX-License-Identifier: Apache-2.0
"""Analysis tests: the argv of compile actions equals the ISA contract."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//toolchains/isa:levels.bzl", "EXTENSIONS", "LEVELS", "extension_constraint", "level_constraints", "vlen_constraint")

def _compile_argv(env):
    actions = [action for action in analysistest.target_actions(env) if action.mnemonic == "CppCompile"]
    asserts.equals(env, 1, len(actions), "one compile action")
    return actions[0].argv

def _argv_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = _compile_argv(env)
    found = [word for word in argv if word.startswith(("-march", "-mabi", "-mrvv", "-mcpu", "-mtune"))]
    asserts.equals(env, LEVELS[ctx.attr.level].copts, found)
    sysroots = [word for word in argv if word.startswith("--sysroot=external/")]
    asserts.equals(env, 1, len(sysroots), "one sysroot, from a locked repository")
    for word in argv:
        asserts.false(env, "/usr/include" in word and not word.startswith("-isystemexternal/"), "host folder in argv: " + word)
    return analysistest.end(env)

def _argv_test_of(level):
    return analysistest.make(
        _argv_test_impl,
        attrs = {"level": attr.string(mandatory = True, doc = "The level that the target is built for.")},
        config_settings = {"//command_line_option:platforms": str(Label("//toolchains/isa:" + level))},
    )

# A rule has one configuration, so there is one for each level; rules must be top-level names.
argv_a100_test = _argv_test_of("a100")
argv_rvv128_test = _argv_test_of("rvv128")
argv_scalar_test = _argv_test_of("scalar")
argv_x100_test = _argv_test_of("x100")

ARGV_TESTS = {
    "a100": argv_a100_test,
    "rvv128": argv_rvv128_test,
    "scalar": argv_scalar_test,
    "x100": argv_x100_test,
}

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
