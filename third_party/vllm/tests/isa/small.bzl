# SPDX-License-Identifier: Apache-2.0
"""Small libraries and objects that go through the rules of _C, some of them with a breach of the ISA contract."""

load("//third_party/vllm:defs.bzl", "level_kernels", "level_library", "level_plan")
load("//toolchains/isa:defs.bzl", "level_objects")

_SYSROOT = "@debian_sysroot//:root"
_FLAGS = [
    "-O3",
    "-fPIC",
    "-fno-asynchronous-unwind-tables",
    "-std=c++20",
]

def compiled(name, level, source, copts = []):
    """Objects of sources/<source>.cc at a level.

    Args:
      name: of the target.
      level: the level.
      source: the file's name, without its ending.
      copts: further flags.
    """
    native.cc_library(
        name = name + "_code",
        testonly = True,
        srcs = ["sources/%s.cc" % source],
        copts = _FLAGS + copts,
        linkstatic = True,
        tags = ["manual"],
        deps = ["//ime2/insn"],
    )
    level_objects(
        name = name,
        testonly = True,
        level = level,
        tags = ["manual"],
        target = ":%s_code" % name,
    )

def small_library(name, kernels = {}, copts = {}, plain = ["runtime"], part = None, breaches = "record"):
    """A library with the levels scalar and x100. Its ISA proof's output is what it found, unless a breach is to fail the build as one in _C does.

    Args:
      name: of the level_library.
      kernels: level -> source of its kernel; `kernel` where none is given.
      copts: level -> further flags of its kernel.
      plain: sources of the objects beside the bindings.
      part: source of a part of level a100.
      breaches: fail or record, as of the rules.
    """
    levels = ["scalar", "x100"]
    for level in levels:
        compiled("%s_%s" % (name, level), level, kernels.get(level, "kernel"), copts.get(level, []) + (["-fno-gnu-unique"] if level not in copts else []))
        level_kernels(
            name = "%s_%s_kernels" % (name, level),
            testonly = True,
            breaches = breaches,
            level = level,
            objects = [":%s_%s" % (name, level)],
            tags = ["manual"],
        )
    parts = []
    if part:
        compiled(name + "_a100", "a100", part)
        level_kernels(
            name = name + "_a100_kernels",
            testonly = True,
            breaches = breaches,
            level = "a100",
            objects = [":%s_a100" % name],
            tags = ["manual"],
        )
        parts.append(":%s_a100_kernels" % name)
    for source in ["bindings"] + plain:
        compiled("%s_%s" % (name, source), "scalar", source)
    level_plan(
        name = name + "_plan",
        testonly = True,
        bindings = ":%s_bindings" % name,
        levels = [":%s_%s_kernels" % (name, level) for level in levels],
        parts = parts,
        support = [":%s_%s" % (name, source) for source in plain],
        sysroot = _SYSROOT,
        tags = ["manual"],
    )
    native.cc_library(
        name = name + "_stubs_code",
        testonly = True,
        srcs = [":%s_plan" % name],
        linkstatic = True,
        tags = ["manual"],
    )
    level_objects(
        name = name + "_stubs",
        testonly = True,
        level = "scalar",
        tags = ["manual"],
        target = ":%s_stubs_code" % name,
    )
    level_library(
        name = name,
        testonly = True,
        breaches = breaches,
        guards = ["small_guard"],
        levels = [":%s_%s_kernels" % (name, level) for level in levels],
        module = name,
        parts = parts,
        plan = ":%s_plan" % name,
        registering = [":%s_bindings" % name],
        stubs = ":%s_stubs" % name,
        support = [":%s_%s" % (name, source) for source in plain],
        sysroot = _SYSROOT,
        tags = ["manual"],
    )
    _verdicts(name)

def small_object(name, level, source, built_for = None, contract = None):
    """An object given to level_kernels as one of `level`, whose ISA proof's output is what it found.

    Args:
      name: of the level_kernels.
      level: the level that it is said to be of.
      source: the source, or the label of an object.
      built_for: the level that it is built for, if another.
      contract: label of a contract other than toolchains/isa's.
    """
    if not source.startswith(":"):
        compiled(name + "_object", built_for or level, source)
    level_kernels(
        name = name,
        testonly = True,
        breaches = "record",
        isa_contract = contract or "//toolchains/isa:contract",
        level = level,
        objects = [source if source.startswith(":") else ":%s_object" % name],
        tags = ["manual"],
    )
    _verdicts(name)

def _verdicts(name):
    native.filegroup(
        name = name + "_verdicts",
        testonly = True,
        srcs = [":" + name],
        output_group = "_validation",
        tags = ["manual"],
    )

def small_objects(rows):
    """One small_object for each row.

    Args:
      rows: name -> arguments.
    """
    for name, row in rows.items():
        small_object(name = name, **row)

def small_libraries(rows):
    """One small_library for each row.

    Args:
      rows: name -> arguments.
    """
    for name, row in rows.items():
        small_library(name = name, **row)
