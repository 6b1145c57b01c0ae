# SPDX-License-Identifier: Apache-2.0
"""Whether lock.tsv still is what requests.toml asks for, judged without the network.

lock.depends.tsv keeps what the resolver saw of each locked package, so the closure of each set is computed again and compared.
"""

from collections.abc import Iterable, Mapping

from third_party.debian.lock.errors import DriftError, ResolveError
from third_party.debian.lock.index import Index, Package
from third_party.debian.lock.lockfile import COMMAND, LockRow
from third_party.debian.lock.requests import Requests, SetRequest
from third_party.debian.lock.resolver import Closure, resolve


def check_lock(requests: Requests, rows: Iterable[LockRow], depends: Mapping[tuple[str, str], Package]) -> None:
    """Raises a DriftError that lists every difference."""
    rows = list(rows)
    differences = [
        *_file_differences(rows, depends),
        *_suite_differences(requests, rows),
        *_set_differences(requests, rows, depends),
    ]
    if differences:
        raise DriftError("\n".join(["lock.tsv has drifted from requests.toml:", *differences, f"run: {COMMAND}"]))


def recorded_closure(request: SetRequest, depends: Mapping[tuple[str, str], Package]) -> Closure:
    """The closure of a set among the packages that lock.depends.tsv records."""
    index = Index.of(package for (arch, _), package in depends.items() if arch == request.architecture)
    return resolve(index, request.roots, request.excluded, f"set '{request.name}'")


def _file_differences(rows: list[LockRow], depends: Mapping[tuple[str, str], Package]) -> list[str]:
    """lock.tsv and lock.depends.tsv must hold the same versions of the same packages."""
    locked = {(row.arch, row.package): row.version for row in rows}
    recorded = {key: package.version for key, package in depends.items()}
    return [
        f"  {arch}/{name}: version {locked.get((arch, name), 'absent')} in lock.tsv, {recorded.get((arch, name), 'absent')} in lock.depends.tsv"
        for arch, name in sorted(set(locked) | set(recorded))
        if locked.get((arch, name)) != recorded.get((arch, name))
    ]


def _suite_differences(requests: Requests, rows: list[LockRow]) -> list[str]:
    """Each package must come from the suite that is asked for, and a suite from one snapshot."""
    wrong = [
        f"  {row.arch}/{row.package}: from suite {row.suite}, requested from {requests.suite_of.get(row.package, requests.suite)}"
        for row in rows
        if row.suite != requests.suite_of.get(row.package, requests.suite)
    ]
    snapshots = {suite: sorted({row.snapshot for row in rows if row.suite == suite}) for suite in {row.suite for row in rows}}
    mixed = [f"  suite {suite}: several snapshots: {', '.join(found)}" for suite, found in sorted(snapshots.items()) if len(found) > 1]
    return wrong + mixed


def _set_differences(requests: Requests, rows: list[LockRow], depends: Mapping[tuple[str, str], Package]) -> list[str]:
    """Each set must be the closure of its roots, no more and no less."""
    known = {request.name for request in requests.sets}
    found = [f"  {row.arch}/{row.package}: in the set '{name}', which nobody requests" for row in rows for name in row.set_names() if name not in known]
    closures = []
    for request in requests.sets:
        try:
            closure = recorded_closure(request, depends)
        except ResolveError as error:
            found.append(f"  {error}")
            continue
        closures.append(closure)
        locked = {row.package for row in rows if row.arch == request.architecture and request.name in row.set_names()}
        found += [f"  set '{request.name}': lacks {closure.chain(name)}" for name in sorted(set(closure.packages) - locked)]
        found += [f"  set '{request.name}': no root needs {name}" for name in sorted(locked - set(closure.packages))]
        found += [
            f"  set '{request.name}': {row.package} is locked for {row.arch}, not for {request.architecture}"
            for row in rows
            if request.name in row.set_names() and row.arch != request.architecture
        ]
    return found + unmet_exclusions(requests, closures)


def unmet_exclusions(requests: Requests, closures: list[Closure]) -> list[str]:
    """Exclusions that exclude nothing. Empty unless there is a closure for each set."""
    if len(closures) != len(requests.sets):
        return []
    stale = [
        f"  set '{request.name}': excludes {name}, which nothing in it wants"
        for request, closure in zip(requests.sets, closures, strict=True)
        for name in sorted(request.excluded - requests.excluded - closure.met_exclusions)
    ]
    met = {name for closure in closures for name in closure.met_exclusions}
    return stale + [f"  every set: excludes {name}, which no set wants" for name in sorted(requests.excluded - met)]
