# SPDX-License-Identifier: Apache-2.0
"""Module extension: a tree of installed Python packages for each set of lock.tsv."""

load("//third_party/pypi/private:lock.bzl", "parse_lock")
load("//third_party/pypi/private:tree.bzl", "pypi_tree")

# Sets that become trees; `sdist` is read by the rules that unpack sources.
_TREES = [
    "exec",
    "fleet",
    "guest",
    "lint",
    "sbom",
    "tools",
    "workflows",
]

def _pypi_impl(mctx):
    entries = parse_lock(mctx.read(mctx.path(Label("//third_party/pypi:lock.tsv"))))
    for name in _TREES:
        pypi_tree(
            name = "pypi_" + name,
            files = ["{} {} {}".format(e.name, e.filename, e.sha256) for e in entries if e.set == name],
            python = Label("@debian_exec//:python3.14"),
        )

pypi = module_extension(
    implementation = _pypi_impl,
    doc = "Makes @pypi_<set>, a tree of installed packages, for the sets of lock.tsv.",
)
