# SPDX-License-Identifier: Apache-2.0
"""Large trees of external repositories as inputs of tests, by one small file."""

TreeInfo = provider(
    doc = "A source directory of an external repository that tests use where it lies.",
    fields = {
        "id": "File: a digest of all that the tree holds. It stands for the tree among a test's inputs.",
        "path": "Path of the tree below Bazel's output base.",
    },
)

def _locked_tree_impl(ctx):
    tree = ctx.file.tree
    if not tree.path.startswith("external/"):
        fail("%s: %s is not in an external repository\n  remedy: depend on it directly" % (ctx.label, ctx.attr.tree.label))
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
        TreeInfo(id = digest, path = tree.path),
    ]

locked_tree = rule(
    implementation = _locked_tree_impl,
    doc = """A tree of locked packages as an input of tests.

With a disk cache Bazel builds a Merkle tree of every input file for each test; for the 50 000 files that a guest consists of this takes longer than many
tests. So a test depends on a file with the tree's digest, and finds the tree itself in the output base: other content gives another digest and the test
runs anew.""",
    attrs = {
        "tree": attr.label(mandatory = True, allow_single_file = True, doc = "The source directory, in an external repository."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "Python of the machine that builds."),
        "_tool": attr.label(default = "//toolchains/qemu/private:tree_id.py", allow_single_file = True, doc = "Takes the digest."),
    },
    provides = [TreeInfo],
)
