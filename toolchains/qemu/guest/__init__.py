# SPDX-License-Identifier: Apache-2.0
"""The guest runner: an emulated riscv64 Debian in a private namespace."""
