# SPDX-License-Identifier: Apache-2.0
"""Module extension: this workspace's own files as inputs of checks."""

load("//ci/lint/private:workspace_sources.bzl", "workspace_sources")

def _lint_impl(_mctx):
    workspace_sources(name = "workspace_sources")

lint = module_extension(
    implementation = _lint_impl,
    doc = "Makes @workspace_sources.",
)
