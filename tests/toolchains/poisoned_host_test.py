# SPDX-License-Identifier: Apache-2.0
"""Headers and libraries of the machine that builds change nothing."""

import os
from pathlib import Path

import poison
import pytest


@pytest.mark.parametrize("what", os.environ["BUILT_TWICE"].split(":"))
def test_a_poisoned_host_gives_the_same_program(what: str) -> None:
    plain, poisoned = (Path(path).read_bytes() for path in what.split())
    assert plain[:4] == b"\x7fELF"
    assert plain == poisoned


@pytest.mark.parametrize("trap", ["/usr/include/stdio.h", "/usr/include/c++/15/iostream", "/usr/lib/riscv64-linux-gnu/libc.so"])
def test_the_traps_are_where_a_compiler_would_look(trap: str, capfd: pytest.CaptureFixture[str]) -> None:
    child = os.fork()
    if child == 0:
        os._exit(poison.main(["cat", trap]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert capfd.readouterr().out in (f'#error "host header {trap.removeprefix("/usr/")} was used"\n', "rubbish of the host\n")
