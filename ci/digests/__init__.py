# SPDX-License-Identifier: Apache-2.0
"""The digests of the release, as the repository records them."""
