# SPDX-License-Identifier: Apache-2.0
"""Analysis test of host_python_binary: what its entry point is told."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":host_python.bzl", "host_python_binary")

def _settings_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    written = [action.content for action in analysistest.target_actions(env) if action.content and action.content.startswith("{")]
    asserts.equals(env, 1, len(written))
    settings = json.decode(written[0])
    asserts.equals(env, "a.b", settings["module"])
    asserts.equals(env, ["_main/.", "_main/x"], settings["imports"])
    asserts.equals(env, {"FILE": "_main/toolchains/python/private/run_host_python.py"}, settings["env"])
    names = [file.basename for file in target[DefaultInfo].default_runfiles.files.to_list()]
    asserts.true(env, "run_host_python.py" in names and "root" in names, "data and Python are among the runfiles: %s" % names)
    return analysistest.end(env)

_settings_test = analysistest.make(_settings_test_impl)

def host_python_test_suite(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    host_python_binary(
        name = name + "_subject",
        testonly = True,
        data = ["run_host_python.py"],
        env = {"FILE": "$(rlocationpath run_host_python.py)"},
        imports = [".", "x"],
        module = "a.b",
        tags = ["manual"],
    )
    _settings_test(name = name + "_settings", target_under_test = name + "_subject")
    native.test_suite(
        name = name,
        tests = [name + "_settings"],
        visibility = ["//tests:__subpackages__"],
    )
