# SPDX-License-Identifier: Apache-2.0
"""Module extension: the trees that are made from Debian's packages, as locked in lock.tsv."""

load("//third_party/debian/private:lock.bzl", "packages_of_set", "parse_lock")
load("//third_party/debian/private:repositories.bzl", "debian_tree", "debian_unpacker")

# The set `bazel` is not here: bazelw unpacks it before there is a Bazel.
_TREES = [
    "clang",
    "diffoscope",
    "exec",
    "fleet",
    "guest",
    "lint",
    "python_headers",
    "sanitizers",
    "ssh",
    "sysroot",
    "worker",
]

def _debian_impl(mctx):
    rows = parse_lock(mctx.read(Label("//third_party/debian:lock.tsv")))
    debian_unpacker(
        name = "debian_unpacker",
        packages = packages_of_set(rows, "unpacker"),
    )
    for tree in _TREES:
        debian_tree(
            name = "debian_" + tree,
            build_file = Label("//third_party/debian/trees:{}.BUILD".format(tree)),
            packages = packages_of_set(rows, tree),
            python = tree == "exec",
            specs = [
                Label("//third_party/debian/trees:common.toml"),
                Label("//third_party/debian/trees:{}.toml".format(tree)),
            ],
            unpacker = "@debian_unpacker//:python3.14",
        )

debian = module_extension(
    implementation = _debian_impl,
    doc = "Makes @debian_exec, @debian_guest and so on, each one tree of merged packages, from lock.tsv.",
)
