# SPDX-License-Identifier: Apache-2.0
"""Where a forward pass spends its time, op by op: `python -m vllm_sm10.profile --help`."""
