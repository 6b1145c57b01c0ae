# SPDX-License-Identifier: Apache-2.0
"""Repository rules that make trees from locked packages."""

load(":download.bzl", "download_packages")
load(":lock.bzl", "parse_package")

_PACKAGES = attr.string_list(
    mandatory = True,
    doc = "The packages, from packages_of_set.",
)

# The link `lib` beside the wrapper is what Python finds its standard library by, so nothing need be told where it is.
_PYTHON = """\
#!/bin/sh
# CPython of this repository's packages, by their own loader and libraries. For repository rules; build actions have a toolchain.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
exec "$here/root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$here/root/usr/lib/x86_64-linux-gnu" \\
    --argv0 "$here/python3.14" "$here/root/usr/bin/python3.14" "$@"
"""

def _add_python(rctx):
    rctx.file("python3.14", _PYTHON)
    rctx.symlink("root/usr/lib", "lib")

def _check_host(rctx):
    if rctx.os.arch not in ["amd64", "x86_64"] or not rctx.os.name.startswith("linux"):
        fail("third_party/debian: the locked programs are for Linux on x86-64; this machine is {} on {}".format(rctx.os.name, rctx.os.arch))

def _debian_unpacker_impl(rctx):
    _check_host(rctx)
    files = download_packages(rctx, [parse_package(package) for package in rctx.attr.packages], "debs")
    for file in files:
        # Bazel opens the ar archive and the tar archive in it one after the other.
        members = file + ".members"
        rctx.extract(file, members)
        data = [path for path in rctx.path(members).readdir() if path.basename.startswith("data.tar")]
        if len(data) != 1:
            fail("third_party/debian: {}: no data.tar in the package".format(file))
        rctx.extract(data[0], "root")
    rctx.delete("debs")
    _add_python(rctx)
    rctx.file("BUILD.bazel", """exports_files(["python3.14"])\n""")

debian_unpacker = repository_rule(
    implementation = _debian_unpacker_impl,
    doc = "CPython 3.14 for x86-64, unpacked by Bazel itself; the other trees are unpacked with it.",
    attrs = {"packages": _PACKAGES},
)

def _debian_tree_impl(rctx):
    _check_host(rctx)
    python = rctx.path(rctx.attr.unpacker)
    tool = rctx.path(rctx.attr.tool).dirname
    specs = [rctx.path(spec) for spec in rctx.attr.specs]
    build_file = rctx.read(rctx.attr.build_file)
    rctx.watch_tree(tool)
    rctx.watch(rctx.path(rctx.attr._bytecode))
    for spec in specs:
        rctx.watch(spec)

    packages = [parse_package(package) for package in rctx.attr.packages]
    rctx.report_progress("downloading {} packages".format(len(packages)))
    download_packages(rctx, packages, "debs")
    rctx.report_progress("unpacking {} packages".format(len(packages)))
    arguments = [python, "-I", "-B", tool, "--debs", rctx.path("debs"), "--root", rctx.path("root")]
    for spec in specs:
        arguments += ["--spec", spec]
    result = rctx.execute(arguments, timeout = 3600)
    if result.return_code:
        fail("third_party/debian: the tree {} cannot be made:\n{}{}".format(rctx.name, result.stdout, result.stderr))
    rctx.delete("debs")
    if rctx.attr.python:
        _add_python(rctx)
    rctx.file("BUILD.bazel", build_file)

debian_tree = repository_rule(
    implementation = _debian_tree_impl,
    doc = "One tree, the folder `root`, made from the locked packages of a set.",
    attrs = {
        "packages": _PACKAGES,
        "build_file": attr.label(mandatory = True, allow_single_file = True, doc = "What becomes the repository's BUILD file."),
        "python": attr.bool(doc = "Whether the tree holds an x86-64 CPython to be exposed as `python3.14`."),
        "specs": attr.label_list(mandatory = True, allow_files = [".toml"], doc = "What the tree keeps and adds: trees/*.toml."),
        "tool": attr.label(default = Label("//third_party/debian/tree:__main__.py"), allow_single_file = True, doc = "The program that unpacks."),
        "_bytecode": attr.label(default = Label("//third_party/bytecode:bytecode.py"), allow_single_file = True, doc = "What the program imports besides its own folder."),
        "unpacker": attr.label(mandatory = True, allow_single_file = True, doc = "The Python that runs the tool."),
    },
)
