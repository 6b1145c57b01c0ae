# SPDX-License-Identifier: Apache-2.0
"""Module extension: @vllm_sdist."""

load("//third_party/vllm/private:sdist.bzl", "vllm_sdist")

def _vllm_impl(_mctx):
    vllm_sdist(
        name = "vllm_sdist",
        python = Label("@debian_exec//:python3.14"),
        series = Label("//vllm_patches:series"),
    )

vllm = module_extension(
    implementation = _vllm_impl,
    doc = "Makes @vllm_sdist, vLLM's locked sources with vllm_patches/ applied.",
)
