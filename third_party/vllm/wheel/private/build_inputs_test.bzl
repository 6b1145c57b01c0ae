# SPDX-License-Identifier: Apache-2.0
"""What a wheel is built from is read off the build graph, and the provenance rule hands it on."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":build_inputs.bzl", "BuildInputsInfo")

def _locked(info):
    names = {repository.rstrip("~").split("~")[-1]: None for repository in info.repositories.to_list()}
    return sorted([name for name in names if name.startswith("debian_") or name.startswith("pypi_") or name.startswith("vllm_")])

def _wheel_inputs_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[BuildInputsInfo]
    asserts.equals(env, ["debian_exec", "debian_sysroot", "pypi_exec", "pypi_sbom", "vllm_sdist"], _locked(info))
    sources = [file.path for file in info.sources.to_list()]
    for path in ["LICENSE", "third_party/vllm/python/vllm_sm10/__init__.py", "third_party/vllm/wheel/__main__.py", "vllm_patches/series"]:
        asserts.true(env, path in sources, path + " is built from and not among the sources")
    asserts.equals(env, [], [path for path in sources if path.endswith("lock.tsv") or path.startswith("external/")])
    return analysistest.end(env)

wheel_inputs_test = analysistest.make(_wheel_inputs_impl, doc = "The inputs of the wheel without kernels are found through all attributes.")

def _provenance_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [action for action in analysistest.target_actions(env) if action.mnemonic == "WheelProvenance"]
    inputs = [file.path for file in action.inputs.to_list()]
    asserts.equals(env, 1, len([path for path in inputs if path.endswith(".whl")]))
    asserts.true(env, "vllm_patches/series" in inputs, "a source of the wheel is no input of its provenance")
    asserts.true(env, "_main~debian~debian_exec" in action.argv, "a repository of the wheel is not named to its provenance")
    return analysistest.end(env)

provenance_test = analysistest.make(_provenance_impl, doc = "The provenance action gets the wheel, its sources and its repositories.")
