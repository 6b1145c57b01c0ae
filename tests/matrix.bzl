# SPDX-License-Identifier: Apache-2.0
"""The matrix: one declaration of a test, a cell for each environment. `./bazelw run //tests:matrix` lists all cells."""

load("//tests/private:environments.bzl", _ENVIRONMENTS = "ENVIRONMENTS")
load("//tests/private:matrix.bzl", _cc_matrix = "cc_matrix", _guest_pytest_matrix = "guest_pytest_matrix", _host_pytest_matrix = "host_pytest_matrix")

ENVIRONMENTS = _ENVIRONMENTS
cc_matrix = _cc_matrix
guest_pytest_matrix = _guest_pytest_matrix
host_pytest_matrix = _host_pytest_matrix
