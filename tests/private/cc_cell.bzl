# SPDX-License-Identifier: Apache-2.0
"""One cell of a C++ test: a program built for an environment, run there."""

load("//tests/private:environments.bzl", "ENVIRONMENTS")
load("//toolchains/isa:defs.bzl", "platform_of")
load("//toolchains/qemu:defs.bzl", "GuestInfo", "TreeInfo", "python_program", "runfiles_path")

def _cell_transition_impl(_settings, attr):
    return {"//command_line_option:platforms": str(platform_of(attr.code or None, attr.compiler))}

_cell_transition = transition(
    implementation = _cell_transition_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _program(ctx):
    # A label with a transition is a list, even of one. A cc_test's files are the program, also where a runner stands in for its executable.
    files = ctx.attr.target[0][DefaultInfo].files.to_list()
    if len(files) != 1:
        fail("%s: target %s is not one program\n  remedy: name a cc_test or cc_binary" % (ctx.label, ctx.attr.target[0].label))

    # A name of its own: the runfiles of two cells may come together.
    program = ctx.actions.declare_file(ctx.label.name + ".program")
    ctx.actions.symlink(output = program, target_file = files[0], is_executable = True)
    return program

def _start(environment, code):
    """On a board, the cores that the program starts on; empty: the first ones."""
    return code if environment.code and code != environment.code[0] else ""

def _cc_cell_test_impl(ctx):
    environment = ENVIRONMENTS[ctx.attr.environment]
    program = _program(ctx)
    target = ctx.attr.target[0]
    guest = ctx.attr.guest[GuestInfo] if ctx.attr.guest else None
    config = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(config, json.encode_indent({
        "case": "%s/cc_test::%s" % (ctx.label.package, target.label.name),
        "env": target[RunEnvironmentInfo].environment if RunEnvironmentInfo in target else {},
        "environment": ctx.attr.environment,
        "guest": runfiles_path(ctx, guest.config) if guest else None,
        "level": environment.level,
        "program": runfiles_path(ctx, program),
        "ssh": runfiles_path(ctx, ctx.file._ssh) if environment.kind == "board" else None,
        "start": _start(environment, ctx.attr.code),
        "vlen": environment.vlen,
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    runfiles = python_program(
        ctx,
        output = executable,
        main = ctx.file._main_on_board if environment.kind == "board" else ctx.file._main,
        config = config,
        tree = ctx.attr.exec_tree[TreeInfo],
        files = [program] + ctx.files._session + ([ctx.file._ssh] if environment.kind == "board" else []),
        runfiles = [target[DefaultInfo].default_runfiles] + ([guest.runfiles] if guest else []),
    )
    return [DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles)]

cc_cell_test = rule(
    implementation = _cc_cell_test_impl,
    doc = "Builds a cc_test or cc_binary for an environment of the matrix and runs it there. One JUnit case, or the program's own JUnit file, with properties.",
    attrs = {
        "code": attr.string(doc = "Level that the program is built for; empty: the machine that builds."),
        "compiler": attr.string(default = "gcc", doc = "Compiler that the program and all that it depends on is built by."),
        "environment": attr.string(mandatory = True, doc = "An entry of ENVIRONMENTS."),
        "exec_tree": attr.label(default = "//toolchains/qemu:debian_exec", providers = [TreeInfo], doc = "Debian tree with the exec Python."),
        "guest": attr.label(providers = [GuestInfo], doc = "Where an emulated cell runs; it supplies the shared libraries."),
        "target": attr.label(mandatory = True, cfg = _cell_transition, doc = "The program."),
        "_main": attr.label(default = "//toolchains/qemu:run_cc_test.py", allow_single_file = True, doc = "The entry point."),
        "_main_on_board": attr.label(default = "//tests/private:run_board_cc.py", allow_single_file = True, doc = "The entry point for a real board."),
        "_session": attr.label(default = "//tests/private:session", doc = "The session's modules."),
        "_ssh": attr.label(default = "@debian_ssh//:root", allow_single_file = True, doc = "Debian tree with the ssh that leads to a real board."),
    },
    test = True,
)

def _unsupported_cell_test_impl(ctx):
    fail("%s cannot run: %s\n  remedy: it should be incompatible with every platform; see tests/private/matrix.bzl" % (ctx.label, ctx.attr.why_not))

unsupported_cell_test = rule(
    implementation = _unsupported_cell_test_impl,
    doc = "A cell of a test in an environment that cannot run it: never built, never passed, and not absent. Incompatible with every platform.",
    attrs = {
        "why_not": attr.string(mandatory = True, doc = "For the listing."),
    },
    test = True,
)
