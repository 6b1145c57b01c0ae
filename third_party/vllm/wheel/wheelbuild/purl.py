# SPDX-License-Identifier: Apache-2.0
"""Package URLs: the name of a locked file in the bill of materials and in the provenance."""

from packageurl import PackageURL

from wheelbuild.inputs import LockedFile


def package_url(file: LockedFile) -> PackageURL:
    if file.ecosystem == "debian":
        return PackageURL("deb", "debian", file.name, file.version, {"arch": file.architecture, "distro": file.suite})
    return PackageURL("pypi", None, file.name, file.version, {"file_name": file.filename})
