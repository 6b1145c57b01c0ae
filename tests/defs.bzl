# SPDX-License-Identifier: Apache-2.0
"""Test rules of this workspace."""

load("//tests/private:pytest_rules.bzl", _guest_pytest_test = "guest_pytest_test", _host_pytest_test = "host_pytest_test")
load("//tests/private:sanitized.bzl", _sanitized_test = "sanitized_test")

guest_pytest_test = _guest_pytest_test
host_pytest_test = _host_pytest_test
sanitized_test = _sanitized_test
