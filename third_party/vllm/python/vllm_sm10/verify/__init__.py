# SPDX-License-Identifier: Apache-2.0
"""Is the wheel, installed or as a file, what was built, and what of it runs on this machine? `python -m vllm_sm10.verify --help`."""
