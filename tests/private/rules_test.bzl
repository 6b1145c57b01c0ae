# SPDX-License-Identifier: Apache-2.0
"""Analysis tests of the pytest rules."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//toolchains/isa:levels.bzl", "BOARDS", "LEVELS")

def _unknown_level_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "unknown level 'rvv9000'")
    asserts.expect_failure(env, "choose one of " + ", ".join(sorted(LEVELS.keys() + BOARDS.keys())))
    return analysistest.end(env)

unknown_level_test = analysistest.make(_unknown_level_test_impl, expect_failure = True)
