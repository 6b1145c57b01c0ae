# SPDX-License-Identifier: Apache-2.0
"""Errors of the benchmarks."""


class BenchError(Exception):
    """Nothing can be measured; the text says why and what to do."""
