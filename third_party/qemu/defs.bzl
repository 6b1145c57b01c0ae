# SPDX-License-Identifier: Apache-2.0
"""The emulator's build."""

load("//third_party/qemu/private:program.bzl", _exec_program = "exec_program", _qemu_generated = "qemu_generated", _qemu_host_tool = "qemu_host_tool", _qemu_program = "qemu_program")

exec_program = _exec_program
qemu_generated = _qemu_generated
qemu_host_tool = _qemu_host_tool
qemu_program = _qemu_program
