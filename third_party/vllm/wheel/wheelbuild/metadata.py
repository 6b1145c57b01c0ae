# SPDX-License-Identifier: Apache-2.0
"""The .dist-info files, from upstream's PKG-INFO (core metadata 2.4)."""

import re

from wheelbuild.errors import WheelError


def with_requirements(pkg_info: str, version: str, requires: list[str], licences: list[str]) -> str:
    """METADATA: upstream's fields with our version, requirements and licence files; its extras stay.

    Args:
      pkg_info: upstream's PKG-INFO.
      version: full version, with the local part.
      requires: Requires-Dist values without extras.
      licences: names of the files in .dist-info/licenses.
    """
    head, separator, body = pkg_info.partition("\n\n")
    if not separator:
        raise WheelError("PKG-INFO has no description; is it upstream's?")
    kept: list[str] = []
    extras: list[str] = []
    for line in head.splitlines():
        field = line.split(":")[0]
        if field in ("Version", "License-File", "Dynamic"):
            continue
        if field == "Requires-Dist":
            if "extra ==" in line:
                extras.append(line)
            continue
        (extras if field == "Provides-Extra" else kept).append(line)
    if not any(line.startswith("Name: vllm") for line in kept):
        raise WheelError("PKG-INFO is not vLLM's")
    position = next(number for number, line in enumerate(kept) if line.startswith("Name:")) + 1
    fields = [*kept[:position], f"Version: {version}", *kept[position:]]
    fields += [f"License-File: {name}" for name in licences]
    fields += [f"Requires-Dist: {requirement}" for requirement in requires]
    return "\n".join([*fields, *extras]) + "\n\n" + body


def wheel_file(tag: str) -> str:
    """WHEEL."""
    return f"Wheel-Version: 1.0\nGenerator: vllm-sm10\nRoot-Is-Purelib: false\nTag: {tag}\n"


def upstream_version(pkg_info: str) -> str:
    """Upstream's version, e.g. 0.33.0; WheelError for one that has a local part already."""
    match = re.search(r"^Version: (\S+)$", pkg_info, re.MULTILINE)
    if not match or "+" in match[1]:
        raise WheelError("PKG-INFO names no plain version; is it that of a release?")
    return match[1]


def version_module(text: str, upstream: str, version: str) -> str:
    """vllm/_version.py with our version in place of upstream's."""
    release = tuple(int(part) if part.isdigit() else part for part in upstream.split("."))
    local = version.partition("+")[2]
    changes = (
        (f"__version__ = version = '{upstream}'", f"__version__ = version = '{version}'"),
        (f"__version_tuple__ = version_tuple = {release!r}", f"__version_tuple__ = version_tuple = {(*release, local)!r}"),
    )
    for before, after in changes:
        if text.count(before) != 1:
            raise WheelError(f"vllm/_version.py does not hold `{before}` once; adapt wheelbuild/metadata.py to its new form")
        text = text.replace(before, after)
    return text


def with_entry_points(text: str, additions: list[str]) -> str:
    """entry_points.txt: upstream's entries and GROUP:NAME=OBJECT ones, by group and in the order given."""
    groups: dict[str, list[str]] = {}
    group = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            group = line.strip("[]")
            groups.setdefault(group, [])
        else:
            groups[group].append(line)
    for addition in additions:
        group, _, entry = addition.partition(":")
        name, equals, value = entry.partition("=")
        if not (name and equals and value):
            raise WheelError(f"entry point {addition!r} is not GROUP:NAME=OBJECT")
        line = f"{name.strip()} = {value.strip()}"
        own = groups.setdefault(group, [])
        if any(other.partition("=")[0].strip() == name.strip() for other in own):
            raise WheelError(f"entry point {name.strip()} of {group} is upstream's; choose another name")
        own.append(line)
    return "\n".join(f"[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in groups.items())
