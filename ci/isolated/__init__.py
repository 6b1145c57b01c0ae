# SPDX-License-Identifier: Apache-2.0
"""A Bazel in a world of its own: no network, no rc files, another host name, another order of files, traps in place of host headers."""
