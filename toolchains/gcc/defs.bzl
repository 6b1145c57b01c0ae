# SPDX-License-Identifier: Apache-2.0
"""What other compilers' toolchains take from GCC's."""

load("//toolchains/gcc/private:gcc_toolchain.bzl", _sysroot_args = "sysroot_args", _tree_path = "tree_path")
load("//toolchains/gcc/private:tree_directory.bzl", _tree_directory = "tree_directory")

sysroot_args = _sysroot_args
tree_directory = _tree_directory
tree_path = _tree_path
