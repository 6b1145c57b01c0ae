# SPDX-License-Identifier: Apache-2.0
"""Starts the guest's process, hands signals on, keeps the time limit, and ends what is left."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable

from guest import namespace
from guest.errors import GuestError, UsageError

_SI_KERNEL = 0x80  # si_code of a signal that the terminal sent to the whole foreground group
_WATCHED = (signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_TRACEBACK_GRACE = 20.0  # an emulated Python takes seconds to print the stacks of its threads
_LEFTOVER_GRACE = 2.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """time_limit: seconds until the guest is asked for a traceback and ended. heartbeat: seconds between progress lines. None: never. doing: asked at
    each heartbeat for what the line should say besides the time.
    """

    time_limit: float | None = None
    heartbeat: float | None = None
    doing: Callable[[], str] = str


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How the guest's process ended: its wait status, and whether the time limit ended it."""

    status: int
    timed_out: bool = False


def run(enter: Callable[[], None], start: Callable[[], None], network: bool, limits: Limits) -> Outcome:
    """Runs enter (in the new namespaces) and then start (which execs) in a child and waits for its end."""
    namespace.become_subreaper()
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    unshared_out, unshared_in = os.pipe()
    mapped_out, mapped_in = os.pipe()
    errors_out, errors_in = os.pipe()
    child = os.fork()
    if child == 0:
        for handle in (unshared_out, mapped_in, errors_out):
            os.close(handle)
        _child(enter, start, network, unshared_in, mapped_out, errors_in)
    for handle in (unshared_in, mapped_out, errors_in):
        os.close(handle)
    if os.read(unshared_out, 1):
        namespace.write_id_maps(child)
        os.write(mapped_in, b"m")
    os.close(mapped_in)
    os.close(unshared_out)
    with os.fdopen(errors_out, "r", encoding="utf-8") as errors:
        message = errors.read()  # ends when the child has exec'd
    if message:
        os.waitpid(child, 0)
        kind, culprit, remedy = json.loads(message)
        raise (UsageError if kind == "usage" else GuestError)(culprit, remedy)
    outcome = _watch(child, limits)
    _end(_descendants(os.getpid()), _LEFTOVER_GRACE)
    return outcome


def run_here(work: Callable[[], int], limits: Limits) -> Outcome:
    """As run, for a function of this program, in a child without namespaces of its own. The function's result is the exit code."""
    namespace.become_subreaper()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            namespace.die_with_parent(signal.SIGKILL)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            code = work()
        except BaseException:  # whatever it is, this process must not go on as the parent's copy
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    outcome = _watch(child, limits)
    _end(_descendants(os.getpid()), _LEFTOVER_GRACE)
    return outcome


def _child(enter: Callable[[], None], start: Callable[[], None], network: bool, unshared: int, mapped: int, errors: int) -> None:
    """Never returns. Errors go to the parent as JSON [kind, culprit, remedy]; the pipe closes by itself at exec."""
    try:
        namespace.unshare(network)
        os.write(unshared, b"u")
        if not os.read(mapped, 1):
            os._exit(1)
        namespace.die_with_parent(signal.SIGKILL)
        if not network:
            namespace.loopback_up()
        enter()
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        start()
    except GuestError as error:
        kind = "usage" if isinstance(error, UsageError) else "start"
        os.write(errors, json.dumps([kind, error.culprit, error.remedy]).encode())
    except OSError as error:
        os.write(errors, json.dumps(["start", f"cannot set up the guest: {error}", "see the message; the guest needs Linux 5.12 or newer"]).encode())
    finally:
        os._exit(1)


def _watch(child: int, limits: Limits) -> Outcome:
    """Waits for the child's end; the runner itself acts on no signal but hands it on."""
    begin = time.monotonic()
    next_beat = limits.heartbeat
    timed_out = False
    while True:
        status = _reap(child)
        if status is not None:
            return Outcome(status, timed_out)
        now = time.monotonic() - begin
        if limits.time_limit is not None and now >= limits.time_limit and not timed_out:
            timed_out = True
            _say(f"time limit of {limits.time_limit:.0f} s reached: asking every process of the guest for a traceback, then ending it")
            final = _end(_descendants(os.getpid()), _TRACEBACK_GRACE, wanted=child)
            return Outcome(final, timed_out)
        if next_beat is not None and limits.heartbeat is not None and now >= next_beat:
            _say(f"{now:.0f} s {limits.doing()}".rstrip())
            next_beat += limits.heartbeat
        ends = [moment - now for moment in (limits.time_limit, next_beat) if moment is not None]
        info = signal.sigtimedwait(_WATCHED, max(0.01, min(ends))) if ends else signal.sigwaitinfo(_WATCHED)
        if info is not None and info.si_signo != signal.SIGCHLD and info.si_code != _SI_KERNEL:
            os.kill(child, info.si_signo)


def _say(text: str) -> None:
    print(f"[guest] {text}", file=sys.stderr, flush=True)


def _reap(wanted: int) -> int | None:
    """Collects ended children, adopted ones too; the wait status of the wanted one when it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == wanted:
            found = status


def _descendants(ancestor: int) -> list[int]:
    """All processes below one, by /proc."""
    children: dict[int, list[int]] = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name in parentheses may hold anything; the parent is the second field after it.
            parent = int((entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found, open_ends = [], [ancestor]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found += below
        open_ends += below
    return found


def _end(pids: list[int], grace: float, wanted: int = -1) -> int:
    """SIGTERM to each, SIGKILL to what is left after the grace time. Returns the wanted one's wait status (a SIGKILL if it was lost)."""
    for pid in pids:
        _kill(pid, signal.SIGTERM)
    status: int | None = None
    deadline = time.monotonic() + grace
    while _descendants(os.getpid()):
        if time.monotonic() > deadline:
            for pid in _descendants(os.getpid()):
                _kill(pid, signal.SIGKILL)
        found = _reap(wanted)
        status = found if found is not None else status
        if _descendants(os.getpid()):
            signal.sigtimedwait((signal.SIGCHLD,), 0.1)
    return status if status is not None else signal.SIGKILL


def _kill(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def leave(status: int) -> None:
    """Ends this process as the guest's process ended: the same exit code, or the same signal."""
    if os.WIFEXITED(status):
        sys.exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
