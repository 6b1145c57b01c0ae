# SPDX-License-Identifier: Apache-2.0
"""What stands in the wheel's package folder."""

from pathlib import Path, PurePosixPath

from wheelbuild.errors import WheelError

# What the package needs when it runs; sources of extensions, build leftovers and documentation stay out.
SUFFIXES = frozenset({".css", ".jinja", ".js", ".json", ".py", ".typed"})


def belongs(path: PurePosixPath) -> bool:
    """Whether a file of the source tree's vllm/ folder goes into the wheel. Licences always do."""
    return path.suffix in SUFFIXES or path.name == "LICENSE"


def package(sdist: Path, sources: list[str]) -> dict[str, bytes]:
    """Member name -> content, for the listed files below `sdist`/vllm."""
    found = {}
    for source in sources:
        try:
            name = PurePosixPath(Path(source).relative_to(sdist).as_posix())
        except ValueError as error:
            raise WheelError(f"{source} is not below {sdist}") from error
        if name.parts[0] != "vllm":
            raise WheelError(f"{source} is not in the package vllm")
        if belongs(name):
            found[str(name)] = Path(source).read_bytes()
    if "vllm/__init__.py" not in found:
        raise WheelError("the list of sources holds no vllm/__init__.py")
    return found


def libraries(pairs: list[str]) -> dict[str, bytes]:
    """Member name -> content, for NAME=FILE arguments; only riscv64 shared libraries are taken."""
    found = {}
    for pair in pairs:
        name, _, file = pair.partition("=")
        data = Path(file).read_bytes()
        if data[:4] != b"\x7fELF" or int.from_bytes(data[18:20], "little") != 243:  # EM_RISCV, elf.h
            raise WheelError(f"{file} is no riscv64 library")
        found[f"vllm/{name}"] = data
    return found


def modules(pairs: list[str], taken: dict[str, bytes]) -> dict[str, bytes]:
    """Member name -> content, for NAME=FILE arguments; none may replace a member that is there."""
    found = {}
    for pair in pairs:
        name, _, file = pair.partition("=")
        if name in taken or name in found:
            raise WheelError(f"{name} is in the wheel already; rename {file}")
        found[name] = Path(file).read_bytes()
    return found
