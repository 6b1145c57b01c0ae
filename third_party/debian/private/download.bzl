# SPDX-License-Identifier: Apache-2.0
"""Download of locked packages, and what to say when it fails."""

_VARIABLE = "DEBIAN_MIRROR"
_UNSET = "file:///" + _VARIABLE + "-is-not-set"
_HELP = """Set {variable} to the base URL of a Debian archive mirror (the folder that holds dists/ and pool/), for example in the
environment of bazelw or by --repo_env={variable}=URL. Several URLs, separated by blanks, are tried in order; {{snapshot}} in one
stands for the lock's timestamp, for a snapshot archive.""".format(variable = _VARIABLE)

def _urls(rctx, package, path):
    # Read without a dependency on the variable: another mirror has the same bytes, so nothing is to be fetched again for it.
    mirrors = [mirror for mirror in rctx.os.environ.get(_VARIABLE, "").split(" ") if mirror] or [_UNSET]
    return ["{}/{}".format(mirror.rstrip("/").replace("{snapshot}", package.snapshot), path) for mirror in mirrors]

def _explain(rctx, package, file):
    """Finds out why a download failed, by asking for the same file without a digest and for the suite's own index."""
    urls = _urls(rctx, package, package.path)
    title = "third_party/debian: {} {} ({}) cannot be had.\n".format(package.name, package.version, package.arch)
    expected = "expected: sha256 {}\n".format(package.sha256)
    if urls[0].startswith(_UNSET):
        return title + expected + "got:      nothing; no mirror is set, and the repository cache does not hold the file\n" + _HELP
    for url in urls:
        found = rctx.download(url, file + ".found", allow_fail = True)
        if found.success:
            return title + expected + "got:      sha256 {} from {}\n".format(found.sha256, url) + (
                "The mirror serves another file under this name, or damages it; take another mirror.\n" + _HELP
            )
    for index in _urls(rctx, package, "dists/{}/InRelease".format(package.suite)):
        if rctx.download(index, file + ".index", allow_fail = True).success:
            return title + expected + "got:      no such file: {}\n".format(urls[0]) + (
                "The suite {} has moved on since {}; use a snapshot archive, or lock anew: python3 -m third_party.debian.lock update\n".format(package.suite, package.snapshot) + _HELP
            )
    return title + expected + "got:      no answer from the mirror: {}\n".format(", ".join(urls)) + _HELP

def download_packages(rctx, packages, folder):
    """Downloads packages, several at once, checked by sha256; fails with a text that names the first that cannot be had.

    Args:
      rctx: repository context.
      packages: structs of parse_package.
      folder: where the files go.

    Returns:
      The files' paths below the repository, in the order of the packages.
    """
    files = ["{}/{}".format(folder, package.path.split("/")[-1]) for package in packages]
    pending = [
        rctx.download(
            url = _urls(rctx, package, package.path),
            output = file,
            sha256 = package.sha256,
            allow_fail = True,
            block = False,
        )
        for package, file in zip(packages, files)
    ]
    results = [download.wait() for download in pending]
    for package, file, result in zip(packages, files, results):
        if not result.success:
            fail(_explain(rctx, package, file))
    return files
