# SPDX-License-Identifier: Apache-2.0
"""The launcher's own exception."""


class LauncherError(Exception):
    """Something the user can mend; the text says what is wrong and what to do."""
