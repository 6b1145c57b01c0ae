# SPDX-License-Identifier: Apache-2.0
"""What the air-gap job looks at."""

from __future__ import annotations

import http.client
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from ci.isolated.bazel import Bazel
from ci.isolated.errors import Finding, JobError

# What Bazel, curl and Python say of a network that is off.
_NETWORK = re.compile(
    r"UnknownHostException|Unknown host|Unable to connect|Unable to resolve|Error connecting to|Network is unreachable|Connection refused|"
    r"[Nn]ame or service not known|Temporary failure in name resolution|Could not resolve host|No route to host|all mirrors are down"
)
_TRAP = re.compile(r"host header \S+ was used|rubbish of the host")
# Where Bazel's account of a failure ends.
_END = re.compile(r"^(Target .* failed to build|INFO: |ERROR: Build did NOT)")


def answers(url: str, timeout: float = 10.0) -> bool:
    """Whether a fetch of `url` gets any answer."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            response.read(1)
    except urllib.error.HTTPError:
        return True
    except (urllib.error.URLError, http.client.HTTPException, OSError):
        return False
    return True


def canary(urls: Iterable[str]) -> None:
    """A fetch that must fail; Finding if one does not, or if another network device than loopback is there."""
    for url in urls:
        if answers(url):
            raise Finding(f"the canary's fetch of {url} got an answer: the network is on, so a build that passes here shows nothing")
    devices = [name for _, name in socket.if_nameindex() if name != "lo"]
    if devices:
        raise Finding(f"the network namespace has {', '.join(devices)} beside loopback, so a build that passes here shows nothing")


def failure(messages: str) -> str:
    """Bazel's first error with what follows it, and in one line what kind of undeclared input it was."""
    lines = messages.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("ERROR:")), 0)
    end = next((number for number in range(start + 1, len(lines)) if _END.match(lines[number])), len(lines))
    account = "\n".join(line for line in lines[start : min(end, start + 40)] if line and not line.startswith("Use --"))
    if trap := _TRAP.search(messages):
        return f"an action read a file of the host that is no declared input ({trap[0]}):\n{account}"
    if _NETWORK.search(messages):
        return f"something is downloaded that no lock declares:\n{account}"
    return f"the build fails without network, rc files and host headers:\n{account}"


def build(bazel: Bazel, words: list[str]) -> None:
    """Builds targets, with flags before them; Finding that names what failed."""
    done = bazel.run("build", words)
    if done.returncode:
        raise Finding(failure(done.stderr.replace(f"{bazel.workspace}/", "")))
    if "INFO: Build completed successfully" not in done.stderr:
        raise JobError("Bazel ended well without having built anything; see the messages above")


def downloaded(repository_cache: Path) -> list[str]:
    """What a repository cache holds."""
    return sorted(str(path.relative_to(repository_cache)) for path in repository_cache.rglob("*") if path.is_file())


def only_locked(repository_cache: Path, digests: Iterable[str]) -> None:
    """Finding that lists what is not locked. Bazel puts what it takes from a --distdir into its repository cache."""
    locked = set(digests)
    if found := [name for name in downloaded(repository_cache) if "/sha256/" in name and Path(name).parent.name not in locked]:
        raise Finding("the repository cache has what no lock declares:\n  " + "\n  ".join(found))


def still_empty(repository_cache: Path) -> None:
    """Finding that lists what was downloaded."""
    if found := downloaded(repository_cache):
        raise Finding("the repository cache is no longer empty, so something was downloaded that no lock declares:\n  " + "\n  ".join(found))
