# SPDX-License-Identifier: Apache-2.0
"""Are the locks what their requests and the archives give today?"""
