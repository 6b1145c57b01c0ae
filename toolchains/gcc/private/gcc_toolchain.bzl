# SPDX-License-Identifier: Apache-2.0
"""Programs and arguments that the GCC toolchains share."""

load("@rules_cc//cc/toolchains:args.bzl", "cc_args")
load("@rules_cc//cc/toolchains:tool.bzl", "cc_tool")
load("@rules_cc//cc/toolchains:tool_map.bzl", "cc_tool_map")
load("//toolchains/private:relocated_program.bzl", "relocated_program")

GCC_VERSION = "15"

# Programs that the compiler drivers look up by name in their -B folder.
_INTERNAL = ["cc1", "cc1plus", "collect2", "lto-wrapper", "lto1"]
_BINUTILS = ["ar", "as", "ld", "nm", "objcopy", "objdump", "ranlib", "readelf", "strip"]

_ACTIONS = "@rules_cc//cc/toolchains/actions:"

def gcc_programs(triplet, libexec, tree):
    """Declares, in the calling package, a relocated_program for each program of GCC and binutils, and `:tools`.

    Target names are the programs' own (`gcc`, `g++`, `cc1plus`, `ld`, `objcopy`, ...), because the drivers find their
    helpers by name in this package's output folder. `:tools` is the cc_tool_map.

    Args:
      triplet: GNU triplet, the prefix of the programs' names.
      libexec: folder of cc1 in the tree.
      tree: label of the tree.
    """
    for name in _INTERNAL:
        relocated_program(name = name, program = libexec + "/" + name, tree = tree)
    for name in _BINUTILS:
        relocated_program(name = name, program = "usr/bin/%s-%s" % (triplet, name), tree = tree)
    helpers = [":" + name for name in _INTERNAL + _BINUTILS]
    for name in ["gcc", "g++"]:
        relocated_program(
            name = name,
            program = "usr/bin/%s-%s-%s" % (triplet, name, GCC_VERSION),
            helpers = helpers,
            tree = tree,
        )

    # One tool per action set: rules_cc 0.0.11 takes a label only once.
    tools = {
        "ar_actions": "ar",
        "assembly_actions": "gcc",
        "c_compile_actions": "gcc",
        "cpp_compile_actions": "g++",
        "link_actions": "g++",
        "objcopy_embed_data": "objcopy",
        "strip": "strip",
    }
    for actions, program in tools.items():
        cc_tool(
            name = actions + "_tool",
            src = ":" + program,
        )
    cc_tool_map(
        name = "tools",
        tools = {_ACTIONS + actions: ":" + actions + "_tool" for actions in tools},
        visibility = ["//toolchains/gcc:__subpackages__"],
    )

def tree_path(label):
    """Path, below the execution root, of the folder `root` beside the BUILD file of an external repository."""
    return Label(label).workspace_root + "/root"

def sysroot_args(name, tree, directories):
    """cc_args that make a locked tree the only place for headers and libraries.

    Args:
      name: of the target.
      tree: label of the sysroot's source directory.
      directories: tree_directory targets whose headers count as the toolchain's own.
    """
    cc_args(
        name = name,
        actions = [_ACTIONS + "assembly_actions", _ACTIONS + "compile_actions", _ACTIONS + "link_actions"],
        allowlist_include_directories = directories,
        args = ["--sysroot=" + tree_path(tree)],
        data = directories,
    )

def system_include_args(name, tree, folders):
    """cc_args that list the system's include folders by relative path.

    Debian's native GCC resolves its standard folders to real paths, which Bazel takes for undeclared headers; folders
    given by -isystem stay as they are written.

    Args:
      name: of the target.
      tree: label of the tree.
      folders: include folders in the tree, in search order.
    """
    cc_args(
        name = name,
        actions = [_ACTIONS + "assembly_actions", _ACTIONS + "compile_actions"],
        args = ["-nostdinc"] + ["-isystem%s/%s" % (tree_path(tree), folder) for folder in folders],
    )
