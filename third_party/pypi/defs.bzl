# SPDX-License-Identifier: Apache-2.0
"""For repository rules that need a locked file of a Python package index."""

load("//third_party/pypi/private:download.bzl", _pypi_download = "pypi_download")
load("//third_party/pypi/private:lock.bzl", _locked_file = "locked_file", _parse_lock = "parse_lock")

locked_file = _locked_file
parse_lock = _parse_lock
pypi_download = _pypi_download
