# SPDX-License-Identifier: Apache-2.0
"""Does the same source give the same bytes?"""
