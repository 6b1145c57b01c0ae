# SPDX-License-Identifier: Apache-2.0
"""Runs plain cc_test targets that were built for an ISA level, on an emulated core of exactly that VLEN."""

load(":guest.bzl", "GuestInfo")
load(":program.bzl", "python_program", "runfiles_path")

def _run_in_guest(ctx, binary_info, processed_environment, guest, vlen, exec_tree, run_test, session):
    """Called by cc_test in place of making the program itself the test.

    Args:
      ctx: of the cc_test.
      binary_info: struct with the program's `executable`, `files` and `runfiles`.
      processed_environment: the expanded `env` of the cc_test.
      guest: GuestInfo.
      vlen: VLEN of the core, 0 for one without vectors.
      exec_tree: Debian tree with the exec Python.
      run_test: Python file that runs the program in the guest.
      session: Files of the modules that make its report.

    Returns:
      Providers of the test.
    """
    config = ctx.actions.declare_file(ctx.label.name + ".guest.json")
    ctx.actions.write(config, json.encode_indent({
        "case": "%s/cc_test::%s" % (ctx.label.package, ctx.label.name),
        "env": processed_environment,
        "guest": runfiles_path(ctx, guest.config),
        "program": runfiles_path(ctx, binary_info.executable),
        "vlen": vlen,
    }) + "\n")
    wrapper = ctx.actions.declare_file(ctx.label.name + ".guest")
    runfiles = python_program(
        ctx,
        output = wrapper,
        main = run_test,
        config = config,
        tree = exec_tree,
        files = [binary_info.executable] + session,
        runfiles = [binary_info.runfiles, guest.runfiles],
    )
    return [
        DefaultInfo(executable = wrapper, files = binary_info.files, runfiles = runfiles),
        testing.TestEnvironment(environment = processed_environment, inherited_environment = ctx.attr.env_inherit),
    ]

def _guest_test_runner_impl(ctx):
    guest = ctx.attr.guest[GuestInfo]
    return [platform_common.ToolchainInfo(
        cc_test_info = struct(
            get_runner = struct(
                func = _run_in_guest,
                args = {
                    "exec_tree": guest.exec_tree,
                    "guest": guest,
                    "run_test": ctx.file._run_test,
                    "session": ctx.files._session,
                    "vlen": ctx.attr.vlen,
                },
            ),
            linkopts = [],
        ),
    )]

guest_test_runner = rule(
    implementation = _guest_test_runner_impl,
    doc = "Toolchain of type @bazel_tools//tools/cpp:test_runner_toolchain_type: a cc_test for a level runs in the guest, on a core of that level's VLEN.",
    attrs = {
        "guest": attr.label(mandatory = True, providers = [GuestInfo], cfg = "exec", doc = "Where the tests run; it supplies their shared libraries."),
        "vlen": attr.int(mandatory = True, doc = "VLEN of the core in bits; 0 for a core without vectors."),
        "_run_test": attr.label(default = "//toolchains/qemu:run_cc_test.py", allow_single_file = True, doc = "Runs the program."),
        "_session": attr.label(default = "//tests/private:session", doc = "Modules that make the report."),
    },
)
