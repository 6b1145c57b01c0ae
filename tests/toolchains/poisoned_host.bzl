# SPDX-License-Identifier: Apache-2.0
"""The same program built twice with the toolchain's own commands: as always, and on a host full of traps."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")

def _command(features, name, variables):
    tool = cc_common.get_tool_for_action(feature_configuration = features, action_name = name)
    return [tool] + cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = name,
        variables = variables,
    )

def _built_twice_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    outputs = []
    for kind, prefix in {"plain": [], "poisoned": [ctx.executable._python.path, ctx.file._poison.path]}.items():
        built = ctx.actions.declare_file("%s.%s" % (ctx.label.name, kind))
        compile_command = _command(features, ACTION_NAMES.cpp_compile, cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            source_file = ctx.file.src.path,
            output_file = "program.o",
        ))
        link_command = _command(features, ACTION_NAMES.cpp_link_executable, cc_common.create_link_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            is_linking_dynamic_library = False,
            output_file = built.path,
        )) + ["program.o", "-o", built.path, "-lstdc++", "-lm"]
        ctx.actions.run_shell(
            outputs = [built],
            inputs = depset([ctx.file.src, ctx.file._poison], transitive = [toolchain.all_files]),
            tools = [ctx.attr._python[DefaultInfo].files_to_run],
            mnemonic = "BuildOn" + kind.capitalize() + "Host",
            command = "set -e; count=$1; shift; \"${@:1:count}\"; shift $count; \"$@\"",
            arguments = [str(len(prefix + compile_command))] + prefix + compile_command + prefix + link_command,
        )
        outputs.append(built)
    return [DefaultInfo(files = depset(outputs)), OutputGroupInfo(plain = depset(outputs[:1]), poisoned = depset(outputs[1:]))]

built_twice = rule(
    implementation = _built_twice_impl,
    doc = "Builds NAME.plain and NAME.poisoned from one source file; equal files show that nothing of the host was used.",
    attrs = {
        "src": attr.label(mandatory = True, allow_single_file = True, doc = "A C++ file with main()."),
        "_poison": attr.label(default = "//tests/toolchains:poison.py", allow_single_file = True, doc = "Sets the traps."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "Runs it."),
    },
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)
