# SPDX-License-Identifier: Apache-2.0
"""The extension that bazel_tools asks the buildozer module for; `bazel mod tidy` alone would use its repository."""

def _absent_impl(rctx):
    rctx.file("BUILD.bazel", "")

_absent = repository_rule(
    doc = "An empty repository: buildozer cannot be had without a registry.",
    implementation = _absent_impl,
)

def _buildozer_binary_impl(_mctx):
    _absent(name = "buildozer_binary")

buildozer_binary = module_extension(
    doc = "Declares @buildozer_binary, empty.",
    implementation = _buildozer_binary_impl,
)
