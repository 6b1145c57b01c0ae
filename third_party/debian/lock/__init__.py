# SPDX-License-Identifier: Apache-2.0
"""Locks Debian packages by version, sha256 and pool path, from a reviewed request file."""
