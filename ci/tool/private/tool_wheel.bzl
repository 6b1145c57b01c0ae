# SPDX-License-Identifier: Apache-2.0
"""The rule that makes a wheel of a command-line tool of this workspace."""

ToolWheelInfo = provider(
    doc = "A tool's wheel.",
    fields = {"wheel": "File: the .whl"},
)

def _member(ctx, file):
    folder = ctx.attr.strip + "/"
    if not file.short_path.startswith(folder):
        fail("%s: %s is not below %s\n  remedy: take it out of srcs, or name its folder in strip" % (ctx.label, file.short_path, folder))
    return ctx.attr.top + "/" + file.short_path.removeprefix(folder)

def _tool_wheel_impl(ctx):
    wheel = ctx.actions.declare_file("%s-%s-%s.whl" % (ctx.attr.distribution.replace("-", "_"), ctx.attr.version, ctx.attr.tag))
    arguments = ctx.actions.args()
    arguments.add(ctx.file._main)
    arguments.add("--wheelbuild", ctx.files._modules[0].dirname)
    for file in ctx.files.srcs:
        arguments.add("--member", file, format = _member(ctx, file) + "=%s")
    for target, name in ctx.attr.programs.items():
        files = target[DefaultInfo].files.to_list()
        if len(files) != 1:
            fail("%s: program %s is %d files, not one" % (ctx.label, target.label, len(files)))
        arguments.add("--member", files[0], format = ctx.attr.top + "/" + name + "=%s")
    arguments.add_all(["%s = %s" % (name, function) for name, function in ctx.attr.commands.items()], before_each = "--command")
    arguments.add_all(ctx.attr.requires, before_each = "--requires")
    arguments.add("--distribution", ctx.attr.distribution)
    arguments.add("--version", ctx.attr.version)
    arguments.add("--summary", ctx.attr.summary)
    arguments.add("--tag", ctx.attr.tag)
    arguments.add("--licence", ctx.file._licence)
    arguments.add("--output", wheel)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(
            ctx.files.srcs + ctx.files.programs + ctx.files._modules + [ctx.file._main, ctx.file._licence],
            transitive = [ctx.attr._python[DefaultInfo].files, ctx.attr._python[DefaultInfo].default_runfiles.files],
        ),
        outputs = [wheel],
        mnemonic = "ToolWheel",
        progress_message = "Making %{output}",
    )
    return [DefaultInfo(files = depset([wheel])), ToolWheelInfo(wheel = wheel)]

tool_wheel = rule(
    implementation = _tool_wheel_impl,
    doc = "A wheel of Python files of this workspace, moved into a package of their own, with programs and commands. Same inputs, same bytes.",
    attrs = {
        "commands": attr.string_dict(mandatory = True, doc = "Command -> module:function."),
        "distribution": attr.string(mandatory = True, doc = "Name of the distribution."),
        "programs": attr.label_keyed_string_dict(allow_files = True, doc = "Program -> its path in the package."),
        "requires": attr.string_list(doc = "Requires-Dist values."),
        "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "Files of the package; they import each other relatively."),
        "strip": attr.string(mandatory = True, doc = "Folder of the workspace whose place the package takes."),
        "summary": attr.string(mandatory = True, doc = "One line."),
        "tag": attr.string(mandatory = True, doc = "Python, ABI and platform tag."),
        "top": attr.string(mandatory = True, doc = "Name of the package."),
        "version": attr.string(mandatory = True, doc = "Version of the distribution."),
        "_licence": attr.label(default = "//:LICENSE", allow_single_file = True, doc = "This project's licence."),
        "_main": attr.label(default = "//ci/tool/private:tool_wheel.py", allow_single_file = True, doc = "The builder."),
        "_modules": attr.label(default = "//third_party/vllm/wheel:modules", doc = "Modules that write wheels."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "The exec Python."),
    },
    provides = [ToolWheelInfo],
)
