# SPDX-License-Identifier: Apache-2.0
"""Moved to //toolchains/python:defs.bzl."""

load("//toolchains/python:defs.bzl", _host_python_binary = "host_python_binary")

host_python_binary = _host_python_binary
