# SPDX-License-Identifier: Apache-2.0
"""A program of this workspace run by the locked exec Python, for `bazel run`."""

load("//toolchains/qemu/private:program.bzl", "python_program", "runfiles_path")

def _host_python_binary_impl(ctx):
    config = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(config, json.encode_indent({
        "env": {name: ctx.expand_location(value, ctx.attr.data) for name, value in ctx.attr.env.items()},
        "imports": [ctx.workspace_name + "/" + folder for folder in ctx.attr.imports],
        "module": ctx.attr.module,
        "sites": [runfiles_path(ctx, site) for site in ctx.files.sites],
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    runfiles = python_program(
        ctx,
        output = executable,
        main = ctx.file._main,
        config = config,
        tree = ctx.file.exec_tree,
        files = ctx.files.data + ctx.files.sites,
        runfiles = [target[DefaultInfo].default_runfiles for target in ctx.attr.data if target[DefaultInfo].default_runfiles],
    )
    return [DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles)]

host_python_binary = rule(
    implementation = _host_python_binary_impl,
    doc = "Runs a Python module of this workspace on the build machine, as `python -m` would, in the folder where the user stands.",
    attrs = {
        "data": attr.label_list(allow_files = True, mandatory = True, doc = "The module, what it imports from this workspace, other files and programs that it needs."),
        "env": attr.string_dict(doc = "Environment variables; $(rlocationpath LABEL) of data is expanded, to a path below $RUNFILES_DIR."),
        "exec_tree": attr.label(default = "@debian_exec//:root", allow_single_file = True, doc = "Debian tree with the exec Python."),
        "imports": attr.string_list(default = ["."], doc = "Workspace folders to import from."),
        "module": attr.string(mandatory = True, doc = "Dotted name of the module."),
        "sites": attr.label_list(default = ["@pypi_exec//:site_packages"], allow_files = True, doc = "Folders of Python packages."),
        "_main": attr.label(default = "//toolchains/python/private:run_host_python.py", allow_single_file = True, doc = "The entry point."),
    },
    executable = True,
)
