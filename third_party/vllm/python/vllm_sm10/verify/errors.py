# SPDX-License-Identifier: Apache-2.0
"""Errors of the verification."""


class VerifyError(Exception):
    """Nothing could be verified; the text names the culprit and the remedy."""
