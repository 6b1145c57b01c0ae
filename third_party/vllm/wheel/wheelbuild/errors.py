# SPDX-License-Identifier: Apache-2.0
"""The wheel builder's own exception."""


class WheelError(Exception):
    """The wheel cannot be made; the text names the culprit and the remedy."""
