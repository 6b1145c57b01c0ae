# SPDX-License-Identifier: Apache-2.0
"""Large trees of external repositories as inputs of tests, by one small file."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

TreeInfo = provider(
    doc = "A source directory of an external repository as tests find it.",
    fields = {
        "file": "File: what stands for the tree among a test's inputs: the directory itself, or a digest of all that it holds.",
        "path": "Path of the tree below Bazel's output base; None where `file` is the directory itself.",
    },
)

def _locked_tree_impl(ctx):
    tree = ctx.file.tree
    if not tree.path.startswith("external/"):
        fail("%s: %s is not in an external repository\n  remedy: depend on it directly" % (ctx.label, ctx.attr.tree.label))
    if ctx.attr._declared[BuildSettingInfo].value:
        return [
            DefaultInfo(files = depset([tree]), runfiles = ctx.runfiles([tree])),
            TreeInfo(file = tree, path = None),
        ]
    digest = ctx.actions.declare_file(ctx.label.name + ".id")
    python = ctx.attr._python[DefaultInfo]
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [ctx.file._tool.path, tree.path, digest.path],
        inputs = depset([tree, ctx.file._tool], transitive = [python.files, python.default_runfiles.files]),
        outputs = [digest],
        mnemonic = "TreeId",
        progress_message = "Taking the digest of %{label}",
    )
    return [
        DefaultInfo(files = depset([digest]), runfiles = ctx.runfiles([digest])),
        TreeInfo(file = digest, path = tree.path),
    ]

locked_tree = rule(
    implementation = _locked_tree_impl,
    doc = """A tree of locked packages as an input of tests.

With a disk cache Bazel builds a Merkle tree of every input file for each test; for the 50 000 files that a guest consists of this takes longer than many
tests. So a test depends on a file with the tree's digest, and finds the tree itself in the output base: other content gives another digest and the test
runs anew.

On another machine there is no output base: with //toolchains/qemu:declared_trees, which --config=remote sets, the tree itself is the input.""",
    attrs = {
        "tree": attr.label(mandatory = True, allow_single_file = True, doc = "The source directory, in an external repository."),
        "_declared": attr.label(default = "//toolchains/qemu:declared_trees", providers = [BuildSettingInfo], doc = "Whether the tree itself is the input."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "Python of the machine that builds."),
        "_tool": attr.label(default = "//toolchains/qemu/private:tree_id.py", allow_single_file = True, doc = "Takes the digest."),
    },
    provides = [TreeInfo],
)
