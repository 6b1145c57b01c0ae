# SPDX-License-Identifier: Apache-2.0
"""Flags for code that includes torch's headers from the target's locked sysroot."""

_SYSROOT = Label("@debian_sysroot//:root").workspace_root + "/root"

TORCH_COPTS = [
    "-isystem" + _SYSROOT + "/usr/include/torch/csrc/api/include",
    # torch's headers stand in messages by their own path, not by that of a repository.
    "-ffile-prefix-map=" + _SYSROOT + "=",
]
