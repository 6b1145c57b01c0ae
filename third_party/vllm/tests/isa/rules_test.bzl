# SPDX-License-Identifier: Apache-2.0
"""Analysis tests of the ISA proof's rules."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _proofs(env):
    return [action for action in analysistest.target_actions(env) if action.mnemonic == "IsaProof"]

def _enforced_test_impl(ctx):
    env = analysistest.begin(ctx)
    proofs = _proofs(env)
    asserts.true(env, len(proofs) >= ctx.attr.proofs, "one proof for each object, and one for a library; got %d" % len(proofs))
    for proof in proofs:
        asserts.false(env, "--record" in proof.argv, "a breach must fail the build: " + proof.argv[-1])
    validated = [file.path for file in analysistest.target_under_test(env)[OutputGroupInfo]._validation.to_list()]
    for proof in proofs:
        for output in proof.outputs.to_list():
            asserts.true(env, output.path in validated, output.path + " is not among the outputs that every build asks for")
    return analysistest.end(env)

enforced_test = analysistest.make(
    _enforced_test_impl,
    attrs = {"proofs": attr.int(mandatory = True, doc = "How many proofs the target runs at least.")},
)

def _recording_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "lets a breach pass; it is for tests: add testonly = True")
    return analysistest.end(env)

recording_test = analysistest.make(_recording_test_impl, expect_failure = True)

def _unknown_level_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "unknown level rvv512")
    return analysistest.end(env)

unknown_level_test = analysistest.make(_unknown_level_test_impl, expect_failure = True)
