# SPDX-License-Identifier: Apache-2.0
"""Makes one tree from .deb files."""
