# SPDX-License-Identifier: Apache-2.0
"""npm's own settings, as its sources define them."""

def default_registry(definitions):
    """The registry that npm asks where nothing is configured.

    Args:
      definitions: text of @npmcli/config's definitions.js.

    Returns:
      The base URL, without a slash at its end; None if the text does not say.
    """
    _, found, rest = definitions.partition("new Definition('registry', {")
    _, named, value = rest.partition("default: '")
    if not found or not named:
        return None
    return value.partition("'")[0].rstrip("/")
