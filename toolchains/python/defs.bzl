# SPDX-License-Identifier: Apache-2.0
"""Programs that run on the exec Python."""

load("//toolchains/python/private:host_python.bzl", _host_python_binary = "host_python_binary")

host_python_binary = _host_python_binary
