# SPDX-License-Identifier: Apache-2.0
"""The emulated SM10."""

load("//toolchains/qemu/sm10/private:sm10.bzl", _sm10_archive = "sm10_archive", _sm10_command = "sm10_command")

sm10_archive = _sm10_archive
sm10_command = _sm10_command
