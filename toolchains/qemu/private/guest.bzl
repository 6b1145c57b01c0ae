# SPDX-License-Identifier: Apache-2.0
"""The emulated riscv64 guest as a target."""

load("//toolchains/isa:levels.bzl", "BOARDS", "LEVELS", "qemu_cpu")
load(":installed.bzl", "WheelFactsInfo")
load(":locked_tree.bzl", "TreeInfo")
load(":program.bzl", "python_program", "runfiles_path", "tree_entry")

GuestInfo = provider(
    doc = "An emulated riscv64 root: what a rule needs to run programs in it.",
    fields = {
        "config": "File: the runner's configuration, with paths below the runfiles folder.",
        "exec_tree": "TreeInfo of the Debian tree with the exec Python.",
        "main": "File: the runner's entry point.",
        "runfiles": "Runfiles of the runner and the guest's parts.",
        "wheel_facts": "List of Files: JSON lists of the facts of the wheels that installed_wheels targets put in, for test reports.",
    },
)

def _levels_file(ctx):
    """The contract as the runner reads it."""
    levels = ctx.actions.declare_file(ctx.label.name + ".levels.json")
    rows = [
        {"level": level, "vlen": row.vlen, "cpu": qemu_cpu(row.vlen, ime2), "ime2": ime2}
        for level, row in sorted(LEVELS.items())
        for ime2 in [bool(ctx.file.ime2_qemu) and "xsmtvdotii" in row.extensions]
    ]
    rows += [
        {"level": board, "vlen": LEVELS[types[0]].vlen, "cpu": board, "ime2": True, "board": True}
        for board, types in sorted(BOARDS.items())
        if ctx.file.ime2_qemu
    ]
    ctx.actions.write(levels, json.encode_indent(rows) + "\n")
    return levels

def _overlay_entry(ctx, overlay):
    """A tree in the output base, or a directory that the build made."""
    if TreeInfo in overlay:
        return tree_entry(ctx, overlay[TreeInfo])
    files = overlay[DefaultInfo].files.to_list()
    if len(files) != 1 or not files[0].is_directory:
        fail("%s: overlay %s is no directory\n  remedy: name a locked_tree or installed_wheels target" % (ctx.label, overlay.label))
    return runfiles_path(ctx, files[0])

def _guest_impl(ctx):
    if ctx.attr.default_level not in LEVELS:
        fail("%s: unknown level '%s'; toolchains/isa/levels.bzl has %s" % (ctx.label, ctx.attr.default_level, ", ".join(sorted(LEVELS))))
    levels = _levels_file(ctx)
    config = ctx.actions.declare_file(ctx.label.name + ".json")
    emulators = {"qemu": ctx.file.qemu} | ({"ime2_qemu": ctx.file.ime2_qemu} if ctx.file.ime2_qemu else {})
    ctx.actions.write(config, json.encode_indent({name: runfiles_path(ctx, file) for name, file in emulators.items()} | {
        "default_level": ctx.attr.default_level,
        "launcher": runfiles_path(ctx, ctx.file.launcher),
        "levels": runfiles_path(ctx, levels),
        "overlays": [_overlay_entry(ctx, overlay) for overlay in ctx.attr.overlays],
        "root": tree_entry(ctx, ctx.attr.root[TreeInfo]),
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    runfiles = python_program(
        ctx,
        output = executable,
        main = ctx.file._main,
        config = config,
        tree = ctx.attr.exec_tree[TreeInfo],
        files = [levels, ctx.file.launcher, ctx.file.root] + emulators.values() + ctx.files.overlays + ctx.files._runner,
        runfiles = [],
    )
    return [
        DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles),
        GuestInfo(
            config = config,
            exec_tree = ctx.attr.exec_tree[TreeInfo],
            main = ctx.file._main,
            runfiles = runfiles,
            wheel_facts = [overlay[WheelFactsInfo].facts for overlay in ctx.attr.overlays if WheelFactsInfo in overlay],
        ),
    ]

guest = rule(
    implementation = _guest_impl,
    doc = "An emulated riscv64 Debian. `bazel run` of it starts a command in it; test rules take it as their `guest`.",
    attrs = {
        "default_level": attr.string(mandatory = True, doc = "ISA level whose core is emulated when none is asked for."),
        "exec_tree": attr.label(default = "//toolchains/qemu:debian_exec", providers = [TreeInfo], doc = "Debian tree with the Python that runs the runner."),
        "ime2_qemu": attr.label(
            allow_single_file = True,
            cfg = "exec",
            doc = "Static emulator for the cores of levels with xsmtvdotii and for boards. Without it these cores are emulated without IME2, and there are no boards.",
        ),
        "launcher": attr.label(
            default = "//toolchains/qemu:launcher",
            allow_single_file = True,
            cfg = "exec",
            doc = "Static x86-64 program that stands in place of the guest's programs.",
        ),
        "overlays": attr.label_list(
            allow_files = True,
            doc = "Trees with a usr/local of their own (Python packages, scripts): locked_tree or installed_wheels targets. They are shown as one; two that hold the same file are an error.",
        ),
        "qemu": attr.label(default = "@debian_exec//:qemu_riscv64", allow_single_file = True, doc = "Static qemu-riscv64 for x86-64."),
        "root": attr.label(default = "//toolchains/qemu:debian_guest", providers = [TreeInfo], allow_single_file = True, doc = "The extracted riscv64 Debian tree."),
        "_main": attr.label(default = "//toolchains/qemu:run_guest.py", allow_single_file = True, doc = "The runner's entry point."),
        "_runner": attr.label(default = "//toolchains/qemu:runner", doc = "The runner's modules."),
    },
    executable = True,
)
