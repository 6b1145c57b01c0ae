# SPDX-License-Identifier: Apache-2.0
"""The emulated guest and the test-runner toolchain."""

load("//toolchains/qemu/private:guest.bzl", _GuestInfo = "GuestInfo", _guest = "guest")
load("//toolchains/qemu/private:program.bzl", _python_program = "python_program", _runfiles_path = "runfiles_path")
load("//toolchains/qemu/private:test_runner.bzl", _guest_test_runner = "guest_test_runner")

GuestInfo = _GuestInfo
guest = _guest
guest_test_runner = _guest_test_runner
python_program = _python_program
runfiles_path = _runfiles_path
