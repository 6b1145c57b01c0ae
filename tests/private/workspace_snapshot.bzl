# SPDX-License-Identifier: Apache-2.0
"""Repository rule: a copy of this workspace's own files, for tests that build it with a Bazel of their own."""

def _copy(rctx, entry):
    """Copies a file or folder of the workspace; a change in it makes the copy anew."""
    source = rctx.workspace_root.get_child(entry)
    target = rctx.path("root/" + entry)
    if source.is_dir:
        rctx.watch_tree(source)
    else:
        rctx.watch(source)
    done = rctx.execute(["/bin/sh", "-c", 'mkdir -p "$(dirname "$2")" && cp -RL "$1" "$2"', "copy", source, target])
    if done.return_code:
        fail("{}: {} cannot be copied: {}".format(rctx.name, entry, done.stderr))

def _workspace_snapshot_impl(rctx):
    for entry in rctx.attr.entries:
        _copy(rctx, entry)
    rctx.file("BUILD.bazel", """exports_files(["root"], visibility = ["//visibility:public"])\n""")

workspace_snapshot = repository_rule(
    implementation = _workspace_snapshot_impl,
    doc = "Makes a source folder `root` with the named files and folders of the workspace, as they stand.",
    attrs = {
        "entries": attr.string_list(mandatory = True, doc = "Files and folders, by their path in the workspace."),
    },
)
