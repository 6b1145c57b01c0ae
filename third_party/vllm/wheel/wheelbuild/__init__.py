# SPDX-License-Identifier: Apache-2.0
"""Makes the riscv64 wheel from patched sources and cross-built libraries."""
