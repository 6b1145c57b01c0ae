# SPDX-License-Identifier: Apache-2.0
"""The emulated SM10 as a command and as an archive."""

load("//toolchains/qemu:defs.bzl", "runfiles_path")

def _command_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.expand_template(
        template = ctx.file.script,
        output = executable,
        substitutions = {"@EMULATOR@": runfiles_path(ctx, ctx.executable.emulator)},
        is_executable = True,
    )
    return [DefaultInfo(
        executable = executable,
        files = depset([executable]),
        runfiles = ctx.runfiles([ctx.executable.emulator]).merge(ctx.attr.emulator[DefaultInfo].default_runfiles),
    )]

sm10_command = rule(
    implementation = _command_impl,
    doc = "Runs a riscv64 program on the emulated board: a shell script and the emulator beside it.",
    attrs = {
        "emulator": attr.label(mandatory = True, executable = True, cfg = "exec", doc = "The patched qemu-riscv64."),
        "script": attr.label(mandatory = True, allow_single_file = [".sh"], doc = "The command; @EMULATOR@ becomes the emulator's place in the runfiles."),
    },
    executable = True,
)

def _archive_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".tar.xz")
    arguments = ctx.actions.args()
    arguments.add(ctx.file._tool)
    arguments.add("--output", output)
    arguments.add("--folder", ctx.label.name)
    inputs = []
    for target, name in ctx.attr.files.items():
        file = target.files.to_list()[0]
        arguments.add("--file", "%s=%s" % (name, file.path))
        inputs.append(file)
    arguments.add("--licence-of", ctx.file.source.path)
    arguments.add_all(ctx.files.patches, before_each = "--patch")
    ctx.actions.run(
        mnemonic = "Sm10Archive",
        progress_message = "Packing " + output.basename,
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(inputs + ctx.files.patches + [ctx.file.source, ctx.file._tool], transitive = [ctx.attr._python[DefaultInfo].default_runfiles.files]),
        outputs = [output],
    )
    return [DefaultInfo(files = depset([output]))]

sm10_archive = rule(
    implementation = _archive_impl,
    doc = "One deterministic tar.xz with the emulated board for any x86-64 Linux, with the licence and what its source is.",
    attrs = {
        "files": attr.label_keyed_string_dict(mandatory = True, allow_files = True, doc = "File to its name in the archive."),
        "patches": attr.label_list(mandatory = True, allow_files = True, doc = "Our patches and the lock: with the locked source they are the emulator's source."),
        "source": attr.label(mandatory = True, allow_single_file = True, doc = "The emulator's source, for its licence."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "Runs the packer."),
        "_tool": attr.label(default = "//toolchains/qemu/sm10/private:archive.py", allow_single_file = True, doc = "The packer."),
    },
)
