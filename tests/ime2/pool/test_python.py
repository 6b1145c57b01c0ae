# SPDX-License-Identifier: Apache-2.0
"""The pool in a shared library that Python loads, on the emulated board: threads, forks and processes as vLLM has them."""

import ctypes
import multiprocessing
import os
import threading
from collections.abc import Callable

import pytest

LIBRARY = ctypes.CDLL(os.environ["POOL_LIBRARY"])
TEXT = 1000


def check(result: int, text: ctypes.Array[ctypes.c_char]) -> int:
    if result < 0:
        raise RuntimeError(text.value.decode())
    return result


def start() -> int:
    text = ctypes.create_string_buffer(TEXT)
    return check(LIBRARY.shared_start(text, ctypes.c_size_t(TEXT)), text)


def run(slices: int = 100, workers: int = 8) -> int:
    text = ctypes.create_string_buffer(TEXT)
    return check(LIBRARY.shared_run(ctypes.c_size_t(slices), ctypes.c_size_t(workers), text, ctypes.c_size_t(TEXT)), text)


def put_run(queue: "multiprocessing.Queue[int]") -> None:
    queue.put(run())


def exit_status_of_child(check_child: Callable[[], bool]) -> int:
    child = os.fork()
    if child == 0:
        os._exit(0 if check_child() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_all_slices_run_on_a100_cores_and_python_stays_where_it_was() -> None:
    assert (start(), run(), LIBRARY.shared_vlen()) == (8, 100, 256)


def test_python_threads_take_turns() -> None:
    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.extend(run() for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [100] * 200


def test_forked_child_has_its_own_pool_and_so_has_the_parent() -> None:
    run()
    assert exit_status_of_child(lambda: run() == 100) == 0
    assert run() == 100


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_have_their_own_pool(method: str) -> None:
    run()
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=put_run, args=(queue,)) for _ in range(2)]
    for process in processes:
        process.start()
    assert [queue.get(timeout=200) for _ in processes] == [100, 100]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]


def test_a_thread_that_moved_by_itself_uses_the_same_pool() -> None:
    results: list[tuple[int, int]] = []

    def move_and_run() -> None:
        with open("/proc/set_ai_thread", "w", encoding="ascii") as file:
            file.write("0")
        results.append((LIBRARY.shared_vlen(), run()))

    thread = threading.Thread(target=move_and_run)
    thread.start()
    thread.join()
    assert results == [(1024, 100)]


def test_stopped_pool_starts_again() -> None:
    LIBRARY.shared_stop()
    assert start() == 8
