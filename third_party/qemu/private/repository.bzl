# SPDX-License-Identifier: Apache-2.0
"""The repository rule behind @qemu_source."""

load("//third_party/debian/private:download.bzl", "download_packages")
load("//third_party/debian/private:lock.bzl", "parse_package")

def _unpack_source(rctx):
    (file,) = download_packages(rctx, [parse_package(package) for package in rctx.attr.source], "downloads")
    rctx.watch(rctx.attr.unpacker)
    result = rctx.execute([rctx.path(rctx.attr.python), "-I", "-B", rctx.path(rctx.attr.unpacker), file, "src"], timeout = 1200)
    if result.return_code:
        fail("third_party/qemu: the source archive cannot be unpacked:\n{}{}".format(result.stdout, result.stderr))

# The rest of the packages: links to shared libraries that are not here, programs, documentation.
_KEPT_LIBRARIES = ["glib-2.0", "libglib-2.0.a", "libpcre2-8.a", "libsysprof-capture-4.a"]

def _keep_static(rctx, root):
    usr = rctx.path(root).get_child("usr")
    for entry in usr.readdir():
        if entry.basename not in ["include", "lib"]:
            rctx.delete(entry)
    folder = usr.get_child("lib").get_child("x86_64-linux-gnu")
    for entry in folder.readdir():
        if entry.basename not in _KEPT_LIBRARIES:
            rctx.delete(entry)
    for name in _KEPT_LIBRARIES:
        if not folder.get_child(name).exists:
            fail("third_party/qemu: the locked packages hold no {}; lock those that do".format(name))

def _unpack_libraries(rctx):
    packages = [parse_package(package) for package in rctx.attr.libraries]
    for file in download_packages(rctx, packages, "downloads"):
        # Bazel opens the ar archive and the tar archive in it one after the other.
        members = file + ".members"
        rctx.extract(file, members)
        data = [path for path in rctx.path(members).readdir() if path.basename.startswith("data.tar")]
        if len(data) != 1:
            fail("third_party/qemu: {}: no data.tar in the package".format(file))
        rctx.extract(data[0], "glib")
    _keep_static(rctx, "glib")

def _apply(rctx, patch):
    """Applies a patch by the locked `patch`; Debian's Bazel lacks the library that rctx.patch needs."""
    root = rctx.path(rctx.attr.programs)
    rctx.watch(patch)
    result = rctx.execute([
        root.get_child("usr/lib64/ld-linux-x86-64.so.2"),
        "--library-path",
        root.get_child("usr/lib/x86_64-linux-gnu"),
        root.get_child("usr/bin/patch"),
        "--strip=1",
        "--fuzz=0",
        "--no-backup-if-mismatch",
        "--batch",
        "--input",
        rctx.path(patch),
    ])
    if result.return_code:
        fail("third_party/qemu: {} does not apply to the locked source; make it anew for that version:\n{}{}".format(patch, result.stdout, result.stderr))

def _qemu_source_impl(rctx):
    rctx.report_progress("QEMU: downloading and unpacking")
    _unpack_source(rctx)
    _unpack_libraries(rctx)
    rctx.delete("downloads")
    for patch in rctx.attr.patches:
        _apply(rctx, patch)
    rctx.file("BUILD.bazel", rctx.read(rctx.attr.build_file))

qemu_source = repository_rule(
    implementation = _qemu_source_impl,
    doc = "QEMU's source (`src`), patched, and static libraries with headers (`glib`), from locked packages.",
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True, doc = "What becomes the repository's BUILD file."),
        "libraries": attr.string_list(mandatory = True, doc = "Debian packages of the libraries, from packages_of_set."),
        "patches": attr.label_list(mandatory = True, allow_files = [".patch"], doc = "Patches in order, with paths below `a/src` and `b/src`."),
        "programs": attr.label(default = Label("@debian_exec//:root"), allow_single_file = True, doc = "The tree whose `patch` applies the patches."),
        "python": attr.label(default = Label("@debian_exec//:python3.14"), allow_single_file = True, doc = "Python that unpacks the source."),
        "source": attr.string_list(mandatory = True, doc = "QEMU's source archive, from packages_of_set."),
        "unpacker": attr.label(default = Label("//third_party/qemu/private:unpack.py"), allow_single_file = True, doc = "Unpacks the part of the source that is used."),
    },
)
