# SPDX-License-Identifier: Apache-2.0
"""Compiles and links programs from QEMU's source without its own build system.

The source is one directory input; a cc_library would have to list, hash and link into each sandbox two thousand
headers. So these rules ask the cc toolchain for the command lines and declare the actions themselves.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")

_FLAGS = [
    "-std=gnu11",
    "-O2",
    "-fno-pie",
    "-fno-common",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-mcx16",
    "-msse2",
    "-Wall",
    "-Werror",
    "-UNDEBUG",
    "-D_FILE_OFFSET_BITS=64",
    "-D_GNU_SOURCE",
    "-D_LARGEFILE_SOURCE",
]

def _include_flags(source, generated, libraries, folders):
    quoted = ["", "/include", "/host/include/x86_64", "/host/include/generic", "/tcg/i386"]
    flags = ["-iquote{}{}".format(source, folder) for folder in quoted]
    flags += ["-I{}/{}".format(source, folder) for folder in ["common-user/host/x86_64", "linux-user/include/host/x86_64", "linux-user/include"]]
    if generated:
        flags += ["-I" + generated, "-I" + generated + "/qapi", "-isystem" + generated + "/linux-headers"]
    flags += ["-I" + folder for folder in folders]
    flags += ["-isystem{}/{}".format(libraries, folder) for folder in ["usr/include", "usr/include/glib-2.0", "usr/lib/x86_64-linux-gnu/glib-2.0/include"]]
    return flags + ["-isystem" + source + "/linux-headers"]

def _toolchain(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    return toolchain, features

def _compile(ctx, cc, tree, unit, flags, inputs):
    toolchain, features = cc
    path = tree + "/" + unit
    action = ACTION_NAMES.preprocess_assemble if path.endswith(".S") else ACTION_NAMES.c_compile
    object = ctx.actions.declare_file("_objects/{}/{}.o".format(ctx.label.name, unit.replace("/", "_")))
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = flags,
        source_file = path,
        output_file = object.path,
        use_pic = False,
    )
    ctx.actions.run(
        mnemonic = "QemuCompile",
        progress_message = "Compiling QEMU's " + unit,
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset(inputs, transitive = [toolchain.all_files]),
        outputs = [object],
    )
    return object

def _link(ctx, cc, objects, archives, flags):
    toolchain, features = cc
    action = ACTION_NAMES.cpp_link_executable
    output = ctx.actions.declare_file(ctx.label.name)
    variables = cc_common.create_link_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_link_flags = flags,
        output_file = output.path,
        is_using_linker = True,
        is_static_linking_mode = True,
    )
    arguments = ctx.actions.args()
    arguments.add_all(objects)
    arguments.add_all(cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = action,
        variables = variables,
    ))
    ctx.actions.run(
        mnemonic = "QemuLink",
        progress_message = "Linking " + ctx.label.name,
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = [arguments],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset(objects + archives, transitive = [toolchain.all_files]),
        outputs = [output],
    )
    return output

def _host_tool_impl(ctx):
    source = ctx.file._source
    cc = _toolchain(ctx)
    object = _compile(ctx, cc, source.path, ctx.attr.unit, ["-O1", "-fno-pie", "-I" + source.path + "/linux-user", "-D_GNU_SOURCE"], [source])
    output = _link(ctx, cc, [object], [], ["-no-pie"])
    return [DefaultInfo(executable = output, files = depset([output]))]

_SOURCE = attr.label(default = "@qemu_source//:src", allow_single_file = True, doc = "QEMU's patched source.")

qemu_host_tool = rule(
    implementation = _host_tool_impl,
    doc = "A generator program of QEMU's build, from one unit.",
    attrs = {
        "unit": attr.string(mandatory = True, doc = "Path in the source."),
        "_source": _SOURCE,
    },
    executable = True,
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)

def _generated_impl(ctx):
    output = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(ctx.file._tool)
    arguments.add("--source", ctx.file._source.path)
    arguments.add("--python", ctx.executable._python)
    arguments.add("--gen-vdso", ctx.executable.gen_vdso)
    arguments.add("--target-config", ctx.file.target_config)
    arguments.add("--output", output.path)
    ctx.actions.run(
        mnemonic = "QemuGenerate",
        progress_message = "Running QEMU's generators",
        executable = ctx.executable._python,
        arguments = [arguments],
        # decodetree prints sets in hash order.
        env = {"PYTHONHASHSEED": "0"},
        # The wrapper looks for its tree below the execution root, not among runfiles.
        inputs = depset([ctx.file._source, ctx.file._tool, ctx.file.target_config], transitive = [ctx.attr._python[DefaultInfo].default_runfiles.files]),
        tools = [ctx.executable.gen_vdso],
        outputs = [output],
    )
    return [DefaultInfo(files = depset([output]))]

qemu_generated = rule(
    implementation = _generated_impl,
    doc = "One directory with what QEMU's generators make for qemu-riscv64.",
    attrs = {
        "gen_vdso": attr.label(mandatory = True, executable = True, cfg = "exec", doc = "Program made from linux-user/gen-vdso.c."),
        "target_config": attr.label(mandatory = True, allow_single_file = [".h"], doc = "Header with the target's CONFIG_ macros."),
        "_python": attr.label(default = "//third_party/qemu:python3", executable = True, cfg = "exec", doc = "Runs the generators."),
        "_source": _SOURCE,
        "_tool": attr.label(default = "//third_party/qemu/private:generate.py", allow_single_file = True, doc = "Calls the generators."),
    },
)

def _program_impl(ctx):
    cc = _toolchain(ctx)
    source, generated, libraries = ctx.file._source, ctx.file.generated, ctx.file._libraries
    model = [file.dirname for file in ctx.files.model]
    config = [file.dirname for file in ctx.files.config]
    inputs = [source, generated, libraries] + ctx.files.model + ctx.files.config

    def flags(folders):
        return _FLAGS + _include_flags(source.path, generated.path, libraries.path, config[:1] + folders)

    common = flags([])
    user = common + ["-DCONFIG_USER_ONLY"]
    target_folders = ["", "/target/riscv", "/linux-user", "/linux-user/riscv"]
    target = flags([source.path + folder for folder in target_folders] + model[:1]) + [
        "-DCOMPILING_PER_TARGET",
        "-DCONFIG_TARGET=\"riscv64-linux-user-config-target.h\"",
    ]
    units = []
    for names, unit_flags, tree in [
        (ctx.attr.common, common, source),
        (ctx.attr.generated_common, common, generated),
        (ctx.attr.user, user, source),
        (ctx.attr.target, target, source),
        (ctx.attr.generated_target, target, generated),
    ]:
        units += [(tree.path, name, unit_flags + ctx.attr.unit_flags.get(name, "").split(" ")) for name in names]
    objects = [
        _compile(ctx, cc, tree, name, [flag for flag in unit_flags if flag], inputs)
        for tree, name, unit_flags in units
    ]
    archives = libraries.path + "/usr/lib/x86_64-linux-gnu"
    output = _link(ctx, cc, objects, [libraries], [
        "-no-pie",
        "-Wl,--start-group",
        archives + "/libglib-2.0.a",
        archives + "/libpcre2-8.a",
        archives + "/libsysprof-capture-4.a",
        "-Wl,--end-group",
        "-latomic",
        "-lm",
        "-lrt",
        "-lpthread",
    ])
    return [DefaultInfo(executable = output, files = depset([output]))]

qemu_program = rule(
    implementation = _program_impl,
    doc = "A statically linked user-mode emulator.",
    attrs = {
        "common": attr.string_list(mandatory = True, doc = "Units that know no target."),
        "config": attr.label_list(mandatory = True, allow_files = [".h"], doc = "What configure would write; all in one folder."),
        "generated": attr.label(mandatory = True, allow_single_file = True, doc = "A qemu_generated."),
        "generated_common": attr.string_list(mandatory = True, doc = "Units of the generated tree that know no target."),
        "generated_target": attr.string_list(mandatory = True, doc = "Units of the generated tree for the target."),
        "model": attr.label_list(mandatory = True, allow_files = [".c", ".h"], doc = "The instruction model that the patches include; all in one folder."),
        "target": attr.string_list(mandatory = True, doc = "Units for the target."),
        "unit_flags": attr.string_dict(doc = "Unit to further flags, separated by blanks."),
        "user": attr.string_list(mandatory = True, doc = "Units for user mode that know no target."),
        "_libraries": attr.label(default = "@qemu_source//:glib", allow_single_file = True, doc = "Static libraries and their headers."),
        "_source": _SOURCE,
    },
    executable = True,
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)

def _exec_program_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = ctx.executable.program, is_executable = True)
    return [DefaultInfo(executable = output, files = depset([output]), runfiles = ctx.runfiles([ctx.executable.program]))]

exec_program = rule(
    implementation = _exec_program_impl,
    doc = "A program that is always built for the exec platform, whoever asks: once, and never for riscv64.",
    attrs = {"program": attr.label(mandatory = True, executable = True, cfg = "exec", doc = "The program.")},
    executable = True,
)
