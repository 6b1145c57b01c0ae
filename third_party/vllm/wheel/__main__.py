# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel. Called by a build action; every input is named on the command line."""

import argparse
import os
import sys
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(description=__doc__)
    result.add_argument("--site", type=Path, action="append", default=[], help="folder of Python packages that this program needs")
    result.add_argument("--sdist", type=Path, required=True, help="root of the patched source distribution")
    result.add_argument("--sources", type=Path, required=True, help="file that lists the package's files, one path a line")
    result.add_argument("--library", action="append", default=[], metavar="NAME=FILE", help="extension library and its name in the package")
    result.add_argument("--module", action="append", default=[], metavar="NAME=FILE", help="Python file of our own and its name in the wheel")
    result.add_argument("--entry-point", action="append", default=[], metavar="GROUP:NAME=OBJECT", help="entry point beside upstream's")
    result.add_argument("--differences", type=Path, required=True, help="requirements.toml")
    result.add_argument("--licence", type=Path, required=True, help="this project's licence")
    result.add_argument("--local", required=True, help="local version, e.g. sm10")
    result.add_argument("--tag", required=True, help="wheel tag, e.g. cp311-abi3-linux_riscv64")
    result.add_argument("--repository", action="append", default=[], metavar="NAME", help="external repository that is built from")
    result.add_argument("--debian-lock", type=Path, required=True, help="third_party/debian/lock.tsv")
    result.add_argument("--pypi-lock", type=Path, required=True, help="third_party/pypi/lock.tsv")
    result.add_argument("--series", type=Path, required=True, help="file that names the patches to upstream, which stand beside it")
    result.add_argument("--compiler", required=True, help="Debian package of the compiler that made the libraries")
    result.add_argument("--output", type=Path, required=True, help="the wheel")
    return result


def main(arguments: argparse.Namespace) -> None:
    """Writes the wheel."""
    from wheelbuild import archive, contents, inputs, metadata, requirements, sbom
    from wheelbuild.errors import WheelError

    try:
        pkg_info = (arguments.sdist / "PKG-INFO").read_text()
        upstream = metadata.upstream_version(pkg_info)
        version = f"{upstream}+{arguments.local}"
        info = f"vllm-{version}.dist-info"
        expected = f"vllm-{version}-{arguments.tag}.whl"
        if arguments.output.name != expected:
            raise WheelError(f"the output is named {arguments.output.name}, but its content is {expected}; correct the rule's version or tag")
        members = contents.package(arguments.sdist, arguments.sources.read_text().splitlines())
        members |= contents.libraries(arguments.library)
        own = contents.modules(arguments.module, members)
        members |= own
        version_file = "vllm/_version.py"
        members[version_file] = metadata.version_module(members[version_file].decode(), upstream, version).encode()
        differences = requirements.read_differences(arguments.differences)
        required = requirements.wheel_requirements(requirements.upstream_requirements(arguments.sdist / "requirements/cpu.txt"), differences)
        licences = {"LICENSE": arguments.sdist / "LICENSE", "LICENSE.vllm-sm10": arguments.licence}
        members[f"{info}/METADATA"] = metadata.with_requirements(pkg_info, version, required, sorted(licences)).encode()
        members[f"{info}/WHEEL"] = metadata.wheel_file(arguments.tag).encode()
        upstream_entries = (arguments.sdist / "vllm.egg-info/entry_points.txt").read_text()
        members[f"{info}/entry_points.txt"] = metadata.with_entry_points(upstream_entries, arguments.entry_point).encode()
        packages = sorted({"vllm", *(name.split("/")[0] for name in own)})
        members[f"{info}/top_level.txt"] = "".join(f"{package}\n" for package in packages).encode()
        for name, path in licences.items():
            members[f"{info}/licenses/{name}"] = path.read_bytes()
        files = inputs.locked_files(inputs.sets_of_repositories(arguments.repository), arguments.debian_lock.read_text(), arguments.pypi_lock.read_text())
        members[f"{info}/sboms/vllm.cdx.json"] = sbom.document("vllm", version, files, inputs.patches(arguments.series), arguments.compiler)
        archive.write_wheel(arguments.output, members, f"{info}/RECORD")
    except WheelError as error:
        sys.exit(f"wheel: error: {error}")


if __name__ == "__main__":
    options = parser().parse_args()
    # Runs with -I, so what it imports is named here: its own folder and the given sites.
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), *map(str, options.site)]
    main(options)
