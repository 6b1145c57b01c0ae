# SPDX-License-Identifier: Apache-2.0
"""Download of locked files from a Python package index.

The lock has no address: an index may move files or be mirrored. The repository cache is asked first, by hash alone, so
that a machine that has the files needs neither a network nor an index.
"""

_SET_INDEX = ("PYPI_INDEX must be the base URL of an index's simple API. ./bazelw takes it from pip's configuration; " +
              "otherwise: pip config set global.index-url URL, or --repo_env=PYPI_INDEX=URL")

def pypi_download(rctx, files, folder = "."):
    """Brings locked files into a repository; fails with the file's name and the remedy.

    Args:
      rctx: the repository context.
      files: list of structs with name, filename, sha256.
      folder: where to put them, below the repository.

    Returns:
      The list of their paths.
    """
    missing = []
    for file in files:
        cached = rctx.download(
            url = [],  # nowhere: this asks the cache and nothing else
            output = folder + "/" + file.filename,
            sha256 = file.sha256,
            allow_fail = True,
        )
        if not cached.success:
            missing.append(file)
    _download_from_index(rctx, missing, folder)
    return [rctx.path(folder + "/" + file.filename) for file in files]

def _in_distdir(rctx, file, folder):
    """Whether a folder of --distdir has the file: Bazel looks there only for what has an address."""
    return rctx.download(
        url = "file:///PYPI_INDEX-is-not-set/" + file.filename,
        output = folder + "/" + file.filename,
        sha256 = file.sha256,
        allow_fail = True,
    ).success

def _download_from_index(rctx, files, folder):
    if not files:
        return
    index = rctx.os.environ.get("PYPI_INDEX", "").rstrip("/")
    if not index:
        files = [file for file in files if not _in_distdir(rctx, file, folder)]
        if not files:
            return
        fail("{} ({} files in all) is not in the repository cache and no package index is known. {}".format(
            files[0].filename,
            len(files),
            _SET_INDEX,
        ))
    pages = _project_pages(rctx, {file.name: None for file in files}.keys(), index)
    started = []
    for done, file in enumerate(files):
        rctx.report_progress("{} ({}/{})".format(file.filename, done + 1, len(files)))
        started.append((file, rctx.download(
            url = _address(pages[file.name], file, index),
            output = folder + "/" + file.filename,
            allow_fail = True,
            block = False,
            sha256 = file.sha256,
        )))
    for file, download in started:
        if not download.wait().success:
            _explain(rctx, pages[file.name], file, index, folder)

def _project_pages(rctx, names, index):
    """The index's answer for each project: a map of file names to addresses."""
    started = []
    for name in names:
        started.append((name, rctx.download(
            url = "{}/{}/{}".format(index, name, "index.html" if index.startswith("file://") else ""),
            output = "index/{}.html".format(name),
            allow_fail = True,
            block = False,
        )))
    pages = {}
    for name, download in started:
        if not download.wait().success:
            fail("{}: no answer from the package index {}.{} {}".format(name, index, _plain_http(index), _SET_INDEX))
        pages[name] = parse_page(rctx.read("index/{}.html".format(name)))
        if not pages[name]:
            fail("{}: the package index {} answered with no list of files. {}".format(name, index, _SET_INDEX))
    rctx.delete("index")
    return pages

def _plain_http(index):
    return " Bazel reads such pages by https or file only." if index.startswith("http://") else ""

def parse_page(html):
    """Reads a project's page of the simple API (PEP 503).

    Args:
      html: the page.

    Returns:
      A dict from file names to addresses, absolute or relative to the page, without the part after '#'.
    """
    files = {}
    for piece in html.split("<a ")[1:]:
        _, quote, rest = piece.partition("href=\"")
        if not quote:
            continue
        url = rest.partition("\"")[0].partition("#")[0].replace("&amp;", "&")
        files[url.split("/")[-1].replace("%2B", "+").replace("%2b", "+")] = url
    return files

def _address(page, file, index):
    url = page.get(file.filename)
    if url == None:
        fail("{}: expected {}, the package index {} has no such file. Set PYPI_INDEX to one that has it, or {}".format(
            file.name,
            file.filename,
            index,
            "choose another version in third_party/pypi/requests.toml",
        ))
    if "://" in url:
        return url
    if url.startswith("/"):
        scheme, _, rest = index.partition("://")
        return scheme + "://" + rest.split("/")[0] + url
    base = "{}/{}".format(index, file.name)
    for _ in range(url.count("../")):
        if url.startswith("../"):
            url = url[3:]
            base = base.rpartition("/")[0]
    return base + "/" + url

def _explain(rctx, page, file, index, folder):
    """Tells a wrong file from no file: the first must never be used, the second may be tried again."""
    url = _address(page, file, index)
    unchecked = rctx.download(url = url, output = "unchecked", allow_fail = True)
    rctx.delete("unchecked")
    rctx.delete(folder + "/" + file.filename)
    if unchecked.success:
        fail("{}: {}: expected sha256 {}, got {} from {}. If the new file is wanted: ./bazelw run //third_party/pypi:update".format(
            file.name,
            file.filename,
            file.sha256,
            unchecked.sha256,
            url,
        ))
    fail("{}: {} could not be downloaded from {}. {}".format(file.name, file.filename, url, _SET_INDEX))
