# SPDX-License-Identifier: Apache-2.0
"""Module extension: QEMU's source with our patches, and the static libraries that it needs, as locked in lock.tsv."""

load("//third_party/debian/private:lock.bzl", "packages_of_set", "parse_lock")
load("//third_party/qemu/private:repository.bzl", "qemu_source")

def _patches(mctx):
    names = mctx.read(Label("//third_party/qemu/patches:series")).splitlines()
    return [Label("//third_party/qemu/patches:" + name) for name in names if name and not name.startswith("#")]

def _qemu_impl(mctx):
    rows = parse_lock(mctx.read(Label("//third_party/qemu:lock.tsv")))
    qemu_source(
        name = "qemu_source",
        build_file = Label("//third_party/qemu/private:source.BUILD"),
        libraries = packages_of_set(rows, "glib"),
        patches = _patches(mctx),
        source = packages_of_set(rows, "source"),
    )

qemu = module_extension(
    implementation = _qemu_impl,
    doc = "Makes @qemu_source: `src`, QEMU with the patches of patches/series applied, and `glib`, static libraries with headers.",
)
