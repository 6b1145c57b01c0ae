# SPDX-License-Identifier: Apache-2.0
"""The emulated guest and the test-runner toolchain."""

load("//toolchains/qemu/private:guest.bzl", _GuestInfo = "GuestInfo", _guest = "guest")
load("//toolchains/qemu/private:installed.bzl", _installed_wheels = "installed_wheels")
load("//toolchains/qemu/private:locked_tree.bzl", _TreeInfo = "TreeInfo", _locked_tree = "locked_tree")
load(
    "//toolchains/qemu/private:program.bzl",
    _FIND_RUNFILES = "FIND_RUNFILES",
    _find_shown_tree = "find_shown_tree",
    _python_program = "python_program",
    _runfiles_path = "runfiles_path",
    _tree_entry = "tree_entry",
)
load("//toolchains/qemu/private:test_runner.bzl", _guest_test_runner = "guest_test_runner")

FIND_RUNFILES = _FIND_RUNFILES
GuestInfo = _GuestInfo
TreeInfo = _TreeInfo
find_shown_tree = _find_shown_tree
guest = _guest
guest_test_runner = _guest_test_runner
installed_wheels = _installed_wheels
locked_tree = _locked_tree
python_program = _python_program
runfiles_path = _runfiles_path
tree_entry = _tree_entry
