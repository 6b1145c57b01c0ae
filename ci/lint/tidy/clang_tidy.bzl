# SPDX-License-Identifier: Apache-2.0
"""clang-tidy on what targets compile: an action for each source, with the flags of its compile action."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("//toolchains/isa:defs.bzl", "platform_of")

ClangTidyInfo = provider(
    doc = "What clang-tidy found in the sources of a target.",
    fields = {"reports": "List of files; SOURCE's is TARGET.tidy/SOURCE, empty if nothing was found."},
)

_COMPILES = ["CppCompile", "SanitizedCompile"]
_EXTENSIONS = ["c", "cc"]
_READ = _EXTENSIONS + ["h", "inc"]

def _source_of(argv):
    """The path of the source of a compile action's command line; None for what is no C or C++ of this repository."""
    source = argv[argv.index("-c") + 1]
    if source.startswith(("bazel-out/", "external/")) or source.split(".")[-1] not in _EXTENSIONS:
        return None
    return source

def _look(target, ctx, action, source):
    report = ctx.actions.declare_file("%s.tidy/%s" % (target.label.name, source))
    riscv64 = ctx.target_platform_has_constraint(ctx.attr._riscv64[platform_common.ConstraintValueInfo])
    python = ctx.attr._python[DefaultInfo]
    headers = [dep[CcInfo].compilation_context.headers for dep in getattr(ctx.rule.attr, "deps", []) if CcInfo in dep]
    arguments = ctx.actions.args()
    arguments.add(ctx.file._look)
    arguments.add("--packages", ctx.file._packages)
    arguments.add("--exec-root", ctx.file._exec_root)
    arguments.add("--config", ctx.file._config)
    arguments.add("--triple", "riscv64-linux-gnu" if riscv64 else "x86_64-linux-gnu")
    arguments.add("--source", source)
    arguments.add("--report", report)
    arguments.add("--")
    arguments.add_all(action.argv)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            [ctx.file._look, ctx.file._tools, ctx.file._packages, ctx.file._exec_root, ctx.file._config] +
            # Sources may be objects of other targets, which nobody needs here.
            [file for name in ["srcs", "hdrs", "textual_hdrs"] for file in getattr(ctx.rule.files, name, []) if file.extension in _READ],
            # Not the action's inputs: once it was run, they are what it read, by paths that its compiler made up.
            transitive = [find_cpp_toolchain(ctx).all_files, python.default_runfiles.files] + headers,
        ),
        outputs = [report],
        mnemonic = "ClangTidy",
        progress_message = "Looking at " + source,
    )
    return report

def _clang_tidy_aspect_impl(target, ctx):
    reports = {}
    for action in target.actions:
        source = _source_of(action.argv) if action.mnemonic in _COMPILES else None
        if source and source not in reports:
            reports[source] = _look(target, ctx, action, source)
    return [ClangTidyInfo(reports = reports.values())]

clang_tidy_aspect = aspect(
    implementation = _clang_tidy_aspect_impl,
    doc = "Looks at each C and C++ source of this repository that a target compiles itself.",
    provides = [ClangTidyInfo],
    toolchains = use_cpp_toolchain(),
    attrs = {
        "_config": attr.label(default = "//:.clang-tidy", allow_single_file = True, doc = "Which checks, and why not the others."),
        "_exec_root": attr.label(default = "@debian_exec//:root", allow_single_file = True, doc = "Debian tree with the loader and the libraries."),
        "_look": attr.label(default = "//ci/lint/tidy:look.py", allow_single_file = True, doc = "The program that runs clang-tidy."),
        "_packages": attr.label(default = "@pypi_lint//:site_packages", allow_single_file = True, doc = "The packages that clang-tidy is one of."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "The exec Python."),
        "_riscv64": attr.label(default = "@platforms//cpu:riscv64", doc = "What tells the two triples apart."),
        "_tools": attr.label(default = "//ci/lint:tools.py", allow_single_file = True, doc = "How to start a locked program."),
    },
)

def _level_transition_impl(_settings, attr):
    # Clang's flags where there is a Clang; the machine that builds has GCC's.
    return {"//command_line_option:platforms": str(platform_of(attr.level, "clang") if attr.level else platform_of(None))}

_level_transition = transition(
    implementation = _level_transition_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _clang_tidy_reports_impl(ctx):
    return [DefaultInfo(files = depset([report for target in ctx.attr.targets for report in target[ClangTidyInfo].reports]))]

clang_tidy_reports = rule(
    implementation = _clang_tidy_reports_impl,
    doc = "What clang-tidy finds in the sources of targets as they are built for a level: a file for each, TARGET.tidy/SOURCE, empty if nothing is found.",
    attrs = {
        "level": attr.string(doc = "A level of toolchains/isa/levels.bzl; empty: the machine that builds."),
        "targets": attr.label_list(mandatory = True, aspects = [clang_tidy_aspect], cfg = _level_transition, doc = "Targets that compile C or C++; their dependencies are not looked at."),
    },
)
