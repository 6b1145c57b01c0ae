# SPDX-License-Identifier: Apache-2.0
"""Unit tests of the matrix's plan, its parameters and its tags."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//tests/private:environments.bzl", "ENVIRONMENTS", "environment_tags")
load("//tests/private:plan.bzl", "merge_parameters", "plan_cells")
load("//toolchains/isa:levels.bzl", "BOARDS", "COMPILERS", "LEVELS")

_ALL = ["host", "emulated", "board"]

def _plan(**arguments):
    given = {"kinds": _ALL, "requires": [], "environments": None, "elsewhere": "", "excluded": {}} | arguments
    return plan_cells(**given)

def _why_not(**arguments):
    plan, problem = _plan(**arguments)
    return problem or {environment: cell.why_not for environment, cell in plan.items() if cell.why_not}

def _each_level_and_board_has_environments_impl(ctx):
    env = unittest.begin(ctx)
    for level in LEVELS:
        asserts.true(env, "qemu_" + level in ENVIRONMENTS)
    for board in BOARDS:
        asserts.true(env, "qemu_" + board in ENVIRONMENTS and board in ENVIRONMENTS)
    return unittest.end(env)

each_level_and_board_has_environments_test = unittest.make(_each_level_and_board_has_environments_impl)

def _every_environment_is_planned_impl(ctx):
    env = unittest.begin(ctx)
    plan, _ = _plan(requires = ["xsmtvdotii"])
    asserts.equals(env, ENVIRONMENTS.keys(), plan.keys())
    return unittest.end(env)

every_environment_is_planned_test = unittest.make(_every_environment_is_planned_impl)

def _what_is_required_decides_impl(ctx):
    env = unittest.begin(ctx)
    plan, _ = _plan(requires = ["xsmtvdotii"])
    asserts.equals(env, None, plan["qemu_a100"].why_not)
    asserts.equals(env, "qemu_x100 has no xsmtvdotii", plan["qemu_x100"].why_not)
    asserts.equals(env, "a100", plan["sm10"].code)
    asserts.equals(env, "scalar", _plan()[0]["sm10"].code)
    return unittest.end(env)

what_is_required_decides_test = unittest.make(_what_is_required_decides_impl)

def _reasons_are_those_given_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, {"sm10": "too slow"}, _why_not(excluded = {"sm10": "too slow"}))
    found = _why_not(environments = ["qemu_x100"], elsewhere = "once is enough")
    asserts.equals(env, {name: "once is enough" for name in ENVIRONMENTS if name != "qemu_x100"}, found)
    return unittest.end(env)

reasons_are_those_given_test = unittest.make(_reasons_are_those_given_impl)

def _refusals_impl(ctx):
    env = unittest.begin(ctx)
    for wanted, arguments in {
        "choose among host_model": {"excluded": {"qemu_nothing": "x"}},
        "elsewhere without environments is not used": {"elsewhere": "x"},
        "environments without elsewhere": {"environments": ["sm10"]},
        "excluded['host_model'] is not used": {"excluded": {"host_model": "x"}, "requires": ["v"]},
        "it runs nowhere": {"requires": ["x86_64", "v"]},
        "qemu_x100 has no xsmtvdotii, which it requires": {"elsewhere": "x", "environments": ["qemu_x100"], "requires": ["xsmtvdotii"]},
    }.items():
        found = _why_not(**arguments)
        asserts.true(env, type(found) == "string" and wanted in found, "%s: %s" % (wanted, found))
        asserts.true(env, "\n  remedy: " in str(found), "no remedy in " + str(found))
    return unittest.end(env)

refusals_test = unittest.make(_refusals_impl)

def _merged(given, compilers = COMPILERS[:1], **arguments):
    plan, _ = _plan(**arguments)
    found, problem = merge_parameters(given, plan, compilers, ["env", "size", "srcs"])
    return problem or found

def _parameters_are_merged_impl(ctx):
    env = unittest.begin(ctx)
    found = _merged({
        "clang": {"env": {"B": "2"}},
        "emulated": {"env": {"A": "1"}, "size": "small"},
        "qemu_x100": {"size": "large", "srcs": ["a"]},
    }, COMPILERS)
    asserts.equals(env, {"env": {"A": "1", "B": "2"}, "size": "large", "srcs": ["a"]}, found["qemu_x100", "clang"])
    asserts.equals(env, {"env": {"A": "1"}, "size": "small"}, found["qemu_a100", "gcc"])
    return unittest.end(env)

parameters_are_merged_test = unittest.make(_parameters_are_merged_impl)

def _unused_parameters_are_refused_impl(ctx):
    env = unittest.begin(ctx)
    for wanted, found in {
        "parameters names 'clang'": _merged({"clang": {"size": "small"}}),
        "parameters['emulated']['size'] is not used": _merged(
            {"emulated": {"size": "small"}, "qemu_x100": {"size": "large"}},
            elsewhere = "x",
            environments = ["qemu_x100"],
        ),
        "parameters['qemu_scalar'] is not used": _merged({"qemu_scalar": {"size": "small"}}, requires = ["v"]),
        "parameters['sm10'] names 'colour'": _merged({"sm10": {"colour": "red"}}),
    }.items():
        asserts.true(env, type(found) == "string" and wanted in found, "%s: %s" % (wanted, found))
    return unittest.end(env)

unused_parameters_are_refused_test = unittest.make(_unused_parameters_are_refused_impl)

def _tags_tell_boards_apart_impl(ctx):
    env = unittest.begin(ctx)
    asserts.false(env, "sm10" in environment_tags("qemu_sm10"))
    asserts.equals(env, ["qemu_x100", "emulated", "x100", "vlen256"], environment_tags("qemu_x100"))
    asserts.true(env, "clang" in environment_tags("qemu_x100", "clang"))
    asserts.true(env, "exclusive" in environment_tags("sm10"))
    return unittest.end(env)

tags_tell_boards_apart_test = unittest.make(_tags_tell_boards_apart_impl)

MATRIX_TESTS = {
    "each_level_and_board_has_environments_test": each_level_and_board_has_environments_test,
    "every_environment_is_planned_test": every_environment_is_planned_test,
    "parameters_are_merged_test": parameters_are_merged_test,
    "reasons_are_those_given_test": reasons_are_those_given_test,
    "refusals_test": refusals_test,
    "tags_tell_boards_apart_test": tags_tell_boards_apart_test,
    "unused_parameters_are_refused_test": unused_parameters_are_refused_test,
    "what_is_required_decides_test": what_is_required_decides_test,
}
