# SPDX-License-Identifier: Apache-2.0
"""Does the build need anything that is not locked?"""
