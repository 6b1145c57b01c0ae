# SPDX-License-Identifier: Apache-2.0
"""The rule that makes the wheel."""

WheelInfo = provider(
    doc = "A built wheel.",
    fields = {"wheel": "File: the .whl"},
)

def _vllm_wheel_impl(ctx):
    version = "%s+%s" % (ctx.attr.upstream_version, ctx.attr.local_version)
    wheel = ctx.actions.declare_file("vllm-%s-%s.whl" % (version, ctx.attr.tag))
    sources = ctx.actions.declare_file(ctx.label.name + ".sources")
    ctx.actions.write(sources, "\n".join([file.path for file in ctx.files.sources]) + "\n")
    arguments = ctx.actions.args()
    arguments.add(ctx.file._main)
    arguments.add_all(ctx.files._site, before_each = "--site", expand_directories = False)
    arguments.add("--sdist", ctx.file.pkg_info.dirname)
    arguments.add("--sources", sources)
    for library, name in ctx.attr.libraries.items():
        files = library[DefaultInfo].files.to_list()
        if len(files) != 1:
            fail("%s: library %s is %d files, not one" % (ctx.label, library.label, len(files)))
        arguments.add("--library", files[0], format = name + "=%s")
    for file in ctx.files.modules:
        name = file.short_path.removeprefix(ctx.attr.strip + "/")
        if name == file.short_path:
            fail("%s: %s is not below %s" % (ctx.label, file.short_path, ctx.attr.strip))
        arguments.add("--module", file, format = name + "=%s")
    for group, entries in ctx.attr.entry_points.items():
        arguments.add_all(entries, before_each = "--entry-point", format_each = group + ":%s")
    arguments.add("--differences", ctx.file.requirements)
    arguments.add("--licence", ctx.file._licence)
    arguments.add("--local", ctx.attr.local_version)
    arguments.add("--tag", ctx.attr.tag)
    arguments.add("--output", wheel)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            [sources, ctx.file.pkg_info, ctx.file.requirements, ctx.file._licence, ctx.file._main] +
            ctx.files.sources + ctx.files.metadata + ctx.files.libraries + ctx.files.modules + ctx.files._site + ctx.files._modules,
            # The tree that Python is started from, at its path below the execution root.
            transitive = [ctx.attr._python[DefaultInfo].default_runfiles.files],
        ),
        outputs = [wheel],
        mnemonic = "VllmWheel",
        progress_message = "Making %{output}",
    )
    return [DefaultInfo(files = depset([wheel])), WheelInfo(wheel = wheel)]

vllm_wheel = rule(
    implementation = _vllm_wheel_impl,
    doc = "vLLM's wheel for riscv64: upstream's package and metadata, our libraries, requirements and local version.",
    attrs = {
        "entry_points": attr.string_list_dict(doc = "Group -> entries (name=module:object) beside upstream's."),
        "libraries": attr.label_keyed_string_dict(allow_files = True, mandatory = True, doc = "Extension library -> its file name in the package."),
        "local_version": attr.string(mandatory = True, doc = "What stands behind the + of the version."),
        "metadata": attr.label(mandatory = True, doc = "Upstream's files that describe the package."),
        "modules": attr.label_list(allow_files = [".py"], doc = "Our own Python files."),
        "pkg_info": attr.label(mandatory = True, allow_single_file = True, doc = "Upstream's PKG-INFO, in the root of its sources."),
        "requirements": attr.label(mandatory = True, allow_single_file = [".toml"], doc = "How the requirements differ from upstream's."),
        "sources": attr.label(mandatory = True, doc = "Upstream's package folder."),
        "strip": attr.string(doc = "Folder of the workspace that holds the packages of modules."),
        "tag": attr.string(mandatory = True, doc = "Python, ABI and platform tag."),
        "upstream_version": attr.string(mandatory = True, doc = "Upstream's version; the action fails when the sources have another."),
        "_licence": attr.label(default = "//:LICENSE", allow_single_file = True, doc = "This project's licence."),
        "_main": attr.label(default = "//third_party/vllm/wheel:__main__.py", allow_single_file = True, doc = "The builder."),
        "_modules": attr.label(default = "//third_party/vllm/wheel:modules", doc = "The builder's modules."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "The exec Python."),
        "_site": attr.label(default = "@pypi_exec//:site_packages", cfg = "exec", doc = "Holds packaging, which reads requirements."),
    },
    provides = [WheelInfo],
)
