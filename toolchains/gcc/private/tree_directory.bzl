# SPDX-License-Identifier: Apache-2.0
"""A source directory as DirectoryInfo, which rules_cc's allowlist_include_directories asks for."""

load("@bazel_skylib//rules/directory:providers.bzl", "DirectoryInfo", "create_directory_info")

def _tree_directory_impl(ctx):
    files = depset([ctx.file.tree])
    return [
        DefaultInfo(files = files),
        create_directory_info(
            entries = {},
            transitive_files = files,
            # rules_cc hands this on as a built-in include folder, where a plain relative path would be taken from the
            # toolchain's package; %workspace% stands for the execution root.
            path = "%workspace%/" + ctx.file.tree.path,
            human_readable = str(ctx.label),
        ),
    ]

tree_directory = rule(
    implementation = _tree_directory_impl,
    doc = "One input instead of ten thousand: headers below it count as the toolchain's own.",
    attrs = {
        "tree": attr.label(mandatory = True, allow_single_file = True, doc = "The source directory."),
    },
    provides = [DirectoryInfo],
)
