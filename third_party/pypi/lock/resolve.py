# SPDX-License-Identifier: Apache-2.0
"""Resolution: the resolver `uv` chooses versions, this module chooses one file of each."""

from __future__ import annotations

import json
import subprocess
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from lockfile import Entry, Request, normalise, requirement_name

SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"


class ResolveError(Exception):
    """No file could be chosen for a requirement; the text says which and what to do."""


def resolve_wheels(request: Request, keep: list[Entry], index: str, uv: str, scratch: Path) -> list[Entry]:
    """One wheel for each package that the set needs, at the kept versions where they still fit."""
    wanted = scratch / f"{request.name}.in"
    wanted.write_text("\n".join(request.requirements) + "\n")
    excludes = scratch / f"{request.name}.excludes"
    excludes.write_text("\n".join(request.excluded) + "\n")
    output = scratch / f"pylock.{request.name}.toml"
    if keep:
        output.write_text(_preferences(keep))
    command = [
        uv, "pip", "compile", "--quiet", "--no-config", "--default-index", index, "--format", "pylock.toml",
        "--python-version", request.python, "--python-platform", request.platform,
        "--only-binary", ":all:", "--excludes", str(excludes), str(wanted), "-o", str(output),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, text=True, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise ResolveError(f"cannot start the resolver {uv!r}: {error}; name it with --uv") from error
    if done.returncode:
        raise ResolveError(f"set {request.name} does not resolve; change requests.toml:\n{done.stderr.strip()}")
    packages = tomllib.loads(output.read_text())["packages"]
    return [_wheel_entry(request, package) for package in packages]


def _preferences(keep: list[Entry]) -> str:
    lines = ['lock-version = "1.0"', 'created-by = "update"']
    for entry in keep:
        file = f'{{ name = "{entry.filename}", url = "file:///{entry.filename}", hashes = {{ sha256 = "{entry.sha256}" }} }}'
        lines += ["[[packages]]", f'name = "{entry.name}"', f'version = "{entry.version}"', f"wheels = [{file}]"]
    return "\n".join(lines) + "\n"


def _wheel_entry(request: Request, package: dict) -> Entry:
    files = {url.rsplit("/", 1)[-1]: w["hashes"]["sha256"] for w in package.get("wheels", []) for url in [w["url"]]}
    name = best_wheel(list(files), request.python, request.platform.split("-")[0], request.glibc)
    if name is None:
        raise ResolveError(
            f"set {request.name}: {package['name']} {package['version']} has no wheel for "
            f"CPython {request.python} on {request.platform} with glibc {request.glibc}; "
            f"it has {', '.join(sorted(files)) or 'none'}: constrain or exclude it in requests.toml"
        )
    return Entry(request.name, normalise(package["name"]), package["version"], name, files[name])


def best_wheel(filenames: list[str], python: str, machine: str, glibc: str) -> str | None:
    """The most specific of the wheels that the given interpreter and platform can use."""
    rank = {tag: place for place, tag in enumerate(supported_tags(python, machine, glibc))}
    ranked = [(rank[tag], name) for name in filenames for tag in wheel_tags(name) if tag in rank]
    return min(ranked)[1] if ranked else None


def wheel_tags(filename: str) -> list[tuple[str, str, str]]:
    if not filename.endswith(".whl"):
        raise ResolveError(f"not a wheel's name: {filename!r}")
    pythons, abis, platforms = filename.removesuffix(".whl").split("-")[-3:]
    return [(p, a, m) for p in pythons.split(".") for a in abis.split(".") for m in platforms.split(".")]


def supported_tags(python: str, machine: str, glibc: str) -> Iterator[tuple[str, str, str]]:
    """Tags from most to least specific, as PEP 425 and PEP 600 rank them."""
    major, minor = (int(part) for part in python.split("."))
    platforms = list(_platform_tags(machine, int(glibc.split(".")[1])))
    own = f"cp{major}{minor}"
    for platform in platforms:
        yield own, own, platform
    for lower in range(minor, 1, -1):
        for platform in platforms:
            yield f"cp{major}{lower}", "abi3", platform
    generic = [own, f"py{major}{minor}", f"py{major}", *(f"py{major}{lower}" for lower in range(minor - 1, -1, -1))]
    for platform in [*platforms, "any"]:
        for interpreter in generic:
            yield interpreter, "none", platform


def _platform_tags(machine: str, newest_glibc: int) -> Iterator[str]:
    legacy = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"} if machine == "x86_64" else {17: "manylinux2014"}
    for minor in range(newest_glibc, 4, -1):
        yield f"manylinux_2_{minor}_{machine}"
        if minor in legacy:
            yield f"{legacy[minor]}_{machine}"
    yield f"linux_{machine}"


def resolve_sdists(request: Request, index: str) -> list[Entry]:
    return [_sdist_entry(request.name, requirement, index) for requirement in request.requirements]


def _sdist_entry(set_name: str, requirement: str, index: str) -> Entry:
    name = requirement_name(requirement)
    spec, _, version = requirement.partition("==")
    if not version:
        raise ResolveError(f"set {set_name}: {requirement!r} must pin its version: write {spec}==VERSION")
    filename = f"{name.replace('-', '_')}-{version}.tar.gz"
    hashes = {file["filename"]: file["hashes"].get("sha256") for file in project_files(name, index)}
    if not hashes.get(filename):
        raise ResolveError(f"set {set_name}: the index has no {filename}; check the version in requests.toml")
    return Entry(set_name, name, version, filename, hashes[filename])


def project_files(name: str, index: str) -> list[dict]:
    url = f"{index}/{name}/"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": SIMPLE_JSON}), timeout=180) as answer:
            return json.load(answer)["files"]
    except (urllib.error.URLError, json.JSONDecodeError, KeyError) as error:
        raise ResolveError(f"{name}: no usable answer from the package index ({error}); check PYPI_INDEX") from error
