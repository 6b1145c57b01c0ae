# SPDX-License-Identifier: Apache-2.0
"""The rule that makes the wheel."""

load(":build_inputs.bzl", "BuildInputsInfo", "build_inputs_aspect", "files_of", "merge_build_inputs")

WheelInfo = provider(
    doc = "A built wheel.",
    fields = {"wheel": "File: the .whl"},
)

def _inputs(ctx):
    """BuildInputsInfo of the wheel: of all attributes."""
    targets = ctx.attr.libraries.keys() + ctx.attr.modules + ctx.attr._site + [
        ctx.attr.metadata,
        ctx.attr.pkg_info,
        ctx.attr.requirements,
        ctx.attr.series,
        ctx.attr.sources,
        ctx.attr._licence,
        ctx.attr._main,
        ctx.attr._modules,
        ctx.attr._python,
    ]

    # The locks count by those of their files that are built from.
    files = [file for file in files_of(ctx.files) if file not in (ctx.file.debian_lock, ctx.file.pypi_lock)]
    return merge_build_inputs([target[BuildInputsInfo] for target in targets if BuildInputsInfo in target], files)

def _vllm_wheel_impl(ctx):
    built_from = _inputs(ctx)
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
    arguments.add_all(depset(sorted(built_from.repositories.to_list())), before_each = "--repository")
    arguments.add("--debian-lock", ctx.file.debian_lock)
    arguments.add("--pypi-lock", ctx.file.pypi_lock)
    arguments.add("--series", ctx.file.series)
    arguments.add("--compiler", ctx.attr.compiler)
    arguments.add("--local", ctx.attr.local_version)
    arguments.add("--tag", ctx.attr.tag)
    arguments.add("--output", wheel)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            [
                sources,
                ctx.file.debian_lock,
                ctx.file.pkg_info,
                ctx.file.pypi_lock,
                ctx.file.requirements,
                ctx.file.series,
                ctx.file._licence,
                ctx.file._main,
            ] +
            ctx.files.patches + ctx.files.sources + ctx.files.metadata + ctx.files.libraries + ctx.files.modules + ctx.files._site + ctx.files._modules,
            # The tree that Python is started from, at its path below the execution root.
            transitive = [ctx.attr._python[DefaultInfo].default_runfiles.files],
        ),
        outputs = [wheel],
        mnemonic = "VllmWheel",
        progress_message = "Making %{output}",
    )
    return [DefaultInfo(files = depset([wheel])), WheelInfo(wheel = wheel), built_from]

vllm_wheel = rule(
    implementation = _vllm_wheel_impl,
    doc = "vLLM's wheel for riscv64: upstream's package and metadata, our libraries, requirements and local version.",
    attrs = {
        "compiler": attr.string(mandatory = True, doc = "Debian package of the compiler that makes the libraries, for the bill of materials."),
        "debian_lock": attr.label(mandatory = True, allow_single_file = [".tsv"], doc = "Lock of the Debian packages."),
        "entry_points": attr.string_list_dict(doc = "Group -> entries (name=module:object) beside upstream's."),
        "libraries": attr.label_keyed_string_dict(aspects = [build_inputs_aspect], allow_files = True, mandatory = True, doc = "Extension library -> its file name in the package."),
        "local_version": attr.string(mandatory = True, doc = "What stands behind the + of the version."),
        "metadata": attr.label(aspects = [build_inputs_aspect], mandatory = True, doc = "Upstream's files that describe the package."),
        "modules": attr.label_list(aspects = [build_inputs_aspect], allow_files = [".json", ".py"], doc = "Our own Python files, and data of theirs."),
        "patches": attr.label_list(allow_files = [".patch"], mandatory = True, doc = "Patches that sources have already, for the bill of materials."),
        "pkg_info": attr.label(aspects = [build_inputs_aspect], mandatory = True, allow_single_file = True, doc = "Upstream's PKG-INFO, in the root of its sources."),
        "pypi_lock": attr.label(mandatory = True, allow_single_file = [".tsv"], doc = "Lock of the Python packages."),
        "requirements": attr.label(aspects = [build_inputs_aspect], mandatory = True, allow_single_file = [".toml"], doc = "How the requirements differ from upstream's."),
        "series": attr.label(aspects = [build_inputs_aspect], mandatory = True, allow_single_file = True, doc = "Names the patches in order; they stand beside it."),
        "sources": attr.label(aspects = [build_inputs_aspect], mandatory = True, doc = "Upstream's package folder."),
        "strip": attr.string(doc = "Folder of the workspace that holds the packages of modules."),
        "tag": attr.string(mandatory = True, doc = "Python, ABI and platform tag."),
        "upstream_version": attr.string(mandatory = True, doc = "Upstream's version; the action fails when the sources have another."),
        "_licence": attr.label(aspects = [build_inputs_aspect], default = "//:LICENSE", allow_single_file = True, doc = "This project's licence."),
        "_main": attr.label(aspects = [build_inputs_aspect], default = "//third_party/vllm/wheel:__main__.py", allow_single_file = True, doc = "The builder."),
        "_modules": attr.label(aspects = [build_inputs_aspect], default = "//third_party/vllm/wheel:modules", doc = "The builder's modules."),
        "_python": attr.label(aspects = [build_inputs_aspect], default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "The exec Python."),
        "_site": attr.label_list(
            default = ["@pypi_exec//:site_packages", "@pypi_sbom//:site_packages"],
            aspects = [build_inputs_aspect],
            cfg = "exec",
            doc = "Hold packaging, which reads requirements, and what writes the bill of materials.",
        ),
    },
    provides = [BuildInputsInfo, WheelInfo],
)
