# SPDX-License-Identifier: Apache-2.0
"""Analysis test of clang_tidy_reports."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _report_of_each_source_test_impl(ctx):
    env = analysistest.begin(ctx)
    files = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.equals(env, ["ci/lint/tests/planted.tidy/ci/lint/tests/planted.cc"], [file.short_path for file in files])
    return analysistest.end(env)

report_of_each_source_test = analysistest.make(_report_of_each_source_test_impl)
