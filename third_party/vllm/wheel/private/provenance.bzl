# SPDX-License-Identifier: Apache-2.0
"""The rule that states what a wheel was built from."""

load(":build_inputs.bzl", "BuildInputsInfo")
load(":wheel.bzl", "WheelInfo")

def _wheel_provenance_impl(ctx):
    wheel = ctx.attr.wheel[WheelInfo].wheel
    built_from = ctx.attr.wheel[BuildInputsInfo]
    output = ctx.actions.declare_file(wheel.basename.removesuffix(".whl") + ".provenance.json")
    sources = ctx.actions.declare_file(ctx.label.name + ".sources")
    listed = ctx.actions.args()
    listed.set_param_file_format("multiline")
    listed.add_all(built_from.sources)
    ctx.actions.write(sources, listed)
    arguments = ctx.actions.args()
    arguments.add(ctx.file._main)
    arguments.add_all(ctx.files._site, before_each = "--site", expand_directories = False)
    arguments.add("--wheel", wheel)
    arguments.add("--target", "//" + ctx.attr.wheel.label.package + ":" + ctx.attr.wheel.label.name)
    arguments.add("--bazel-version", ctx.file.bazel_version)
    arguments.add_all(depset(sorted(built_from.repositories.to_list())), before_each = "--repository")
    arguments.add("--debian-lock", ctx.file.debian_lock)
    arguments.add("--pypi-lock", ctx.file.pypi_lock)
    arguments.add("--sources", sources)
    arguments.add("--output", output)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            [wheel, sources, ctx.file.bazel_version, ctx.file.debian_lock, ctx.file.pypi_lock, ctx.file._main] + ctx.files._site + ctx.files._modules,
            transitive = [built_from.sources, ctx.attr._python[DefaultInfo].default_runfiles.files],
        ),
        outputs = [output],
        mnemonic = "WheelProvenance",
        progress_message = "Stating what %{input} was built from",
    )
    return [DefaultInfo(files = depset([output]))]

wheel_provenance = rule(
    implementation = _wheel_provenance_impl,
    doc = "An in-toto statement (SLSA provenance v1, unsigned) of a wheel: its sha256 and that of everything that it is built from.",
    attrs = {
        "bazel_version": attr.label(mandatory = True, allow_single_file = True, doc = "File with Bazel's version."),
        "debian_lock": attr.label(mandatory = True, allow_single_file = [".tsv"], doc = "Lock of the Debian packages."),
        "pypi_lock": attr.label(mandatory = True, allow_single_file = [".tsv"], doc = "Lock of the Python packages."),
        "wheel": attr.label(mandatory = True, providers = [BuildInputsInfo, WheelInfo], doc = "The wheel."),
        "_main": attr.label(default = "//third_party/vllm/wheel:provenance_main.py", allow_single_file = True, doc = "The program."),
        "_modules": attr.label(default = "//third_party/vllm/wheel:modules", doc = "The program's modules."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "The exec Python."),
        "_site": attr.label(default = "@pypi_sbom//:site_packages", cfg = "exec", doc = "Holds packageurl."),
    },
)
