# SPDX-License-Identifier: Apache-2.0
"""The jobs' own exceptions."""


class JobError(Exception):
    """The job cannot do its work; the text names the culprit and the remedy."""


class Finding(Exception):
    """The job did its work and found a fault in the build; the text names it."""
