# SPDX-License-Identifier: Apache-2.0
"""What the compiler says of a file that must not compile."""

load("//third_party/vllm/private:paths.bzl", "tool_inputs")
load("//toolchains/isa:levels.bzl", "LEVELS")

def _compiler_messages_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    sysroot = ctx.file._sysroot
    arguments = ctx.actions.args()
    arguments.add_all([ctx.file._recorder, output, "--", ctx.executable._cxx])
    arguments.add(sysroot, format = "--sysroot=%s")
    arguments.add(sysroot.path + "/usr/include/torch/csrc/api/include", format = "-isystem%s")
    arguments.add_all(LEVELS["scalar"].copts)
    arguments.add_all(["-no-canonical-prefixes", "-std=gnu++20", "-fmax-errors=0", "-fsyntax-only", "-I."])
    arguments.add_all(ctx.attr.copts)
    arguments.add(ctx.file.src)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(ctx.files.hdrs + [ctx.file.src, ctx.file._recorder, sysroot], transitive = [tool_inputs(ctx.attr._python, ctx.attr._cxx)]),
        outputs = [output],
        tools = [ctx.attr._cxx[DefaultInfo].files_to_run],
        mnemonic = "CompilerMessages",
        progress_message = "Compiling %{input}, for its errors",
        env = {"LC_ALL": "C.UTF-8"},
    )
    return [DefaultInfo(files = depset([output]))]

compiler_messages = rule(
    implementation = _compiler_messages_impl,
    doc = "JSON: the compiler's exit status and messages, for a file with torch's headers at the scalar level.",
    attrs = {
        "copts": attr.string_list(doc = "Further flags."),
        "hdrs": attr.label_list(doc = "Headers that it includes, beside the sysroot's.", allow_files = [".h"]),
        "src": attr.label(doc = "The file.", mandatory = True, allow_single_file = [".cc"]),
        "_cxx": attr.label(doc = "The compiler.", default = "//toolchains/gcc/riscv64:g++", executable = True, cfg = "exec"),
        "_python": attr.label(doc = "Runs the recorder.", default = "//toolchains/python:python3", executable = True, cfg = "exec"),
        "_recorder": attr.label(doc = "Runs a command that may fail.", default = ":record.py", allow_single_file = True),
        "_sysroot": attr.label(doc = "Headers of torch and of the C library.", default = "@debian_sysroot//:root", allow_single_file = True),
    },
)
