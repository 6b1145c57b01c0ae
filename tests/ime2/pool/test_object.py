# SPDX-License-Identifier: Apache-2.0
"""The switch runs in threads that must not touch the vector unit yet."""

import os
import pathlib

import object_file

SWITCH = pathlib.Path(os.environ["SWITCH"])


def test_the_switch_calls_no_memset_which_libc_has_in_a_vector_form() -> None:
    # getauxval serves the questions about the calling thread's core only.
    assert {symbol.name for symbol in object_file.global_symbols(SWITCH) if not symbol.defined} == {"getauxval"}


def test_the_switch_is_hidden() -> None:
    assert all(symbol.hidden for symbol in object_file.global_symbols(SWITCH) if symbol.defined)
