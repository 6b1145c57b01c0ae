# SPDX-License-Identifier: Apache-2.0
"""pytest as Bazel tests: in the emulated guest, and on the exec machine."""

load("//toolchains/isa:levels.bzl", "BOARDS", "LEVELS")
load("//toolchains/qemu:defs.bzl", "GuestInfo", "TreeInfo", "python_program", "runfiles_path", "tree_entry")

_COMMON_ATTRS = {
    "args_for_pytest": attr.string_list(doc = "Further arguments of pytest, e.g. ['-k', 'not slow']."),
    "case_time_limit": attr.int(
        default = 0,
        doc = "Seconds that a phase of a case (setup, call, teardown) may take before it fails with the stacks of all threads; native code that does not return ends the session after twice that. 0: the session's limit alone.",
    ),
    "data": attr.label_list(
        allow_files = True,
        doc = "Other files that the tests use: conftest.py, modules, models. They lie at their workspace paths below the tests' current folder, so that $(rootpath LABEL) names them.",
    ),
    "env": attr.string_dict(doc = "Environment variables; $(rootpath LABEL) of data is expanded. Nothing of the caller's environment is seen in the guest."),
    "environment": attr.string(doc = "What the matrix calls the environment (tests/private/environments.bzl), for the report; empty: as the session says itself."),
    "heartbeat": attr.int(default = 60, doc = "Seconds between progress lines, which say what is running."),
    "max_skipped": attr.int(default = 0, doc = "How many tests may be skipped; more fail the target. A skip is no pass: say in a comment why it must be."),
    "srcs": attr.label_list(allow_files = [".py"], mandatory = True, doc = "Test files, each given to pytest. Every test in them must run."),
    "_session": attr.label(default = "//tests/private:session", doc = "The session's modules."),
}

def _data_files(ctx):
    """All files that the tests see: sources, data and what data needs."""
    runfiles = [target[DefaultInfo].default_runfiles.files for target in ctx.attr.data if target[DefaultInfo].default_runfiles]
    return depset(ctx.files.srcs + ctx.files.data, transitive = runfiles)

def _environment(ctx):
    return {
        name: ctx.expand_location(value, ctx.attr.data)
        for name, value in ctx.attr.env.items()
    }

def _check_level(ctx):
    known = LEVELS.keys() + BOARDS.keys()
    if ctx.attr.level not in known:
        fail("%s: unknown level '%s'\n  remedy: choose one of %s" % (ctx.label, ctx.attr.level, ", ".join(sorted(known))))

def _guest_pytest_test_impl(ctx):
    _check_level(ctx)
    guest = ctx.attr.guest[GuestInfo]
    files = _data_files(ctx).to_list()
    config = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(config, json.encode_indent({
        "args": ctx.attr.args_for_pytest,
        "case_time_limit": ctx.attr.case_time_limit,
        "env": _environment(ctx),
        "environment": ctx.attr.environment,
        "files": {file.short_path: runfiles_path(ctx, file) for file in files},
        "guest": runfiles_path(ctx, guest.config),
        "heartbeat": ctx.attr.heartbeat,
        "level": ctx.attr.level,
        "max_skipped": ctx.attr.max_skipped,
        "srcs": [file.short_path for file in ctx.files.srcs],
        "vlen": ctx.attr.vlen,
        "wheel_facts": [runfiles_path(ctx, file) for file in guest.wheel_facts],
        "workspace": ctx.workspace_name,
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    runfiles = python_program(
        ctx,
        output = executable,
        main = ctx.file._main,
        config = config,
        tree = guest.exec_tree,
        files = files + ctx.files._session + guest.wheel_facts,
        runfiles = [guest.runfiles],
    )
    return [DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles)]

guest_pytest_test = rule(
    implementation = _guest_pytest_test_impl,
    doc = """Runs pytest in the emulated riscv64 guest, with the guest's packages installed, on a core of an ISA level.

The JUnit report has one test case for each pytest case, and what they ran on as properties of the suite; cases can be sharded (shard_count) and filtered
(--test_filter). Before Bazel's time limit every Python process of the guest prints the tracebacks of its threads. A session that was killed, crashed or
ran out of time is reported with an error at the case that was running and at those that did not run. There is no network but loopback. A session in
which no test ran, in which none passed or in which more than max_skipped were skipped, fails. In the guest, SM10_LEVEL and SM10_VLEN (0: no vectors) name the core, and files
written to $TEST_UNDECLARED_OUTPUTS_DIR are kept.""",
    attrs = _COMMON_ATTRS | {
        "guest": attr.label(default = "//tests/guest:guest", providers = [GuestInfo], doc = "The guest; the default has the vLLM wheel installed."),
        "level": attr.string(mandatory = True, doc = "ISA level whose core is emulated, or board (toolchains/isa/levels.bzl)."),
        "vlen": attr.int(default = 0, doc = "VLEN of the core in bits, if it is to differ from the level's; 0: the level's own."),
        "_main": attr.label(default = "//tests/private:run_guest_pytest.py", allow_single_file = True, doc = "The entry point."),
    },
    test = True,
)

def _host_pytest_test_impl(ctx):
    config = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(config, json.encode_indent({
        "args": ctx.attr.args_for_pytest,
        "case_time_limit": ctx.attr.case_time_limit,
        "env": _environment(ctx),
        "environment": ctx.attr.environment,
        "heartbeat": ctx.attr.heartbeat,
        "imports": [ctx.workspace_name + "/" + folder for folder in ctx.attr.imports],
        "max_skipped": ctx.attr.max_skipped,
        "overlays": [tree_entry(ctx, overlay[TreeInfo]) for overlay in ctx.attr.overlays],
        "srcs": [file.short_path for file in ctx.files.srcs],
        "workers": ctx.attr.workers,
        "workspace": ctx.workspace_name,
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    runfiles = python_program(
        ctx,
        output = executable,
        main = ctx.file._main,
        config = config,
        tree = ctx.attr.exec_tree[TreeInfo],
        files = _data_files(ctx).to_list() + ctx.files._session + ctx.files.overlays,
        runfiles = [],
    )
    return [DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles)]

host_pytest_test = rule(
    implementation = _host_pytest_test_impl,
    doc = """Runs pytest with the locked exec Python (x86-64) and its locked packages.

The current folder is the workspace's runfiles folder. Reports, shards, filters and the rules against empty sessions are those of guest_pytest_test.""",
    attrs = _COMMON_ATTRS | {
        "exec_tree": attr.label(default = "//toolchains/qemu:debian_exec", providers = [TreeInfo], doc = "Debian tree with the exec Python."),
        "imports": attr.string_list(doc = "Workspace folders that the tests import modules from; the modules themselves are data."),
        "overlays": attr.label_list(default = ["//toolchains/qemu:pypi_exec"], providers = [TreeInfo], doc = "Trees of installed Python packages; pytest must be in one."),
        "workers": attr.int(
            default = 1,
            doc = "Processes that the cases are spread over (pytest-xdist); give the target the tag cpu:N too. Pays for a long test with many independent cases.",
        ),
        "_main": attr.label(default = "//tests/private:run_host_pytest.py", allow_single_file = True, doc = "The entry point."),
    },
    test = True,
)

def _board_pytest_test_impl(ctx):
    files = _data_files(ctx).to_list()
    config = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(config, json.encode_indent({
        "args": ctx.attr.args_for_pytest,
        "case_time_limit": ctx.attr.case_time_limit,
        "env": _environment(ctx),
        "environment": ctx.attr.environment,
        "files": {file.short_path: runfiles_path(ctx, file) for file in files},
        "heartbeat": ctx.attr.heartbeat,
        "max_skipped": ctx.attr.max_skipped,
        "srcs": [file.short_path for file in ctx.files.srcs],
        "ssh": runfiles_path(ctx, ctx.file._ssh),
        "workspace": ctx.workspace_name,
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    runfiles = python_program(
        ctx,
        output = executable,
        main = ctx.file._main,
        config = config,
        tree = ctx.attr.exec_tree[TreeInfo],
        files = files + ctx.files._session + [ctx.file._ssh],
        runfiles = [],
    )
    return [DefaultInfo(executable = executable, files = depset([executable]), runfiles = runfiles)]

board_pytest_test = rule(
    implementation = _board_pytest_test_impl,
    doc = """Runs pytest on a real board, which SM10_BOARD names as ssh does, by the board's own Python: $SM10_BOARD_PYTHON, with pytest, torch and the wheel.

Reports, shards, filters and the rules against empty sessions are those of guest_pytest_test.""",
    attrs = _COMMON_ATTRS | {
        "exec_tree": attr.label(default = "//toolchains/qemu:debian_exec", providers = [TreeInfo], doc = "Debian tree with the Python that starts the session."),
        "_main": attr.label(default = "//tests/private:run_board_pytest.py", allow_single_file = True, doc = "The entry point."),
        "_ssh": attr.label(default = "@debian_ssh//:root", allow_single_file = True, doc = "Debian tree with ssh."),
    },
    test = True,
)
