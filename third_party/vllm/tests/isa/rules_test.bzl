# SPDX-License-Identifier: Apache-2.0
"""Analysis tests of the ISA proof's rules."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

ProofsInfo = provider(
    doc = "The ISA proofs of a target and of all that it is made from.",
    fields = {
        "idle": "Depset of proofs whose output no build of their target asks for, as label strings.",
        "lenient": "Depset of proofs that let a breach pass, as label strings.",
        "targets": "Depset of targets with proofs, as label strings.",
    },
)

def _dependencies(attributes):
    found = []
    for name in dir(attributes):
        value = getattr(attributes, name)
        for one in value.keys() if type(value) == "dict" else value if type(value) == "list" else [value]:
            if type(one) == "Target" and ProofsInfo in one:
                found.append(one[ProofsInfo])
    return found

def _proofs_aspect_impl(target, ctx):
    proofs = [action for action in target.actions if action.mnemonic == "IsaProof"]
    groups = target[OutputGroupInfo] if OutputGroupInfo in target else None
    asked = {file: True for file in groups._validation.to_list()} if proofs and groups and hasattr(groups, "_validation") else {}
    below = _dependencies(ctx.rule.attr)
    label = str(target.label)
    return [ProofsInfo(
        idle = depset(
            [label for proof in proofs for output in proof.outputs.to_list() if output not in asked],
            transitive = [info.idle for info in below],
        ),
        lenient = depset([label for proof in proofs if "--record" in proof.argv], transitive = [info.lenient for info in below]),
        targets = depset([label] if proofs else [], transitive = [info.targets for info in below]),
    )]

_proofs_aspect = aspect(
    implementation = _proofs_aspect_impl,
    doc = "Collects the ISA proofs below a target.",
    attr_aspects = ["*"],
)

def _enforced_test_impl(ctx):
    env = analysistest.begin(ctx)
    found = analysistest.target_under_test(env)[ProofsInfo]
    asserts.equals(env, [], sorted(found.lenient.to_list()), "a breach must fail the build")
    asserts.equals(env, [], sorted(found.idle.to_list()), "every build of a target must ask for its proofs")
    asserts.equals(env, sorted(ctx.attr.proven), sorted([label.split("//")[-1] for label in found.targets.to_list()]), "targets with proofs")
    return analysistest.end(env)

enforced_test = analysistest.make(
    _enforced_test_impl,
    attrs = {"proven": attr.string_list(mandatory = True, doc = "The targets below it that must have proofs, without the slashes in front.")},
    extra_target_under_test_aspects = [_proofs_aspect],
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
