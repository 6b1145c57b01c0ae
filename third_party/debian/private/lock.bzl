# SPDX-License-Identifier: Apache-2.0
"""Reading of lock.tsv in Starlark."""

LOCK_COLUMNS = ["arch", "package", "version", "suite", "sha256", "size", "path", "snapshot", "sets"]

def parse_lock(text):
    """The lines of lock.tsv.

    Args:
      text: content of the file.

    Returns:
      A list of structs with a field for each of LOCK_COLUMNS; `sets` is a list.
    """
    rows = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != len(LOCK_COLUMNS):
            fail("third_party/debian/lock.tsv: {} columns, expected {}: {}\nMake it anew: python3 -m third_party.debian.lock update".format(
                len(cells),
                len(LOCK_COLUMNS),
                line,
            ))
        fields = dict(zip(LOCK_COLUMNS, cells))
        rows.append(struct(**(fields | {"sets": fields["sets"].split(",")})))
    return rows

def packages_of_set(rows, name):
    """The packages of a set, as the strings that `parse_package` reads.

    Args:
      rows: from parse_lock.
      name: name of the set.

    Returns:
      A list of strings.
    """
    found = [
        " ".join([row.package, row.version, row.arch, row.sha256, row.path, row.suite, row.snapshot])
        for row in rows
        if name in row.sets
    ]
    if not found:
        fail("third_party/debian/lock.tsv has no set '{}'; add it to requests.toml and run: python3 -m third_party.debian.lock update".format(name))
    return found

def parse_package(text):
    """One package of a repository's `packages` attribute.

    Args:
      text: a string of packages_of_set.

    Returns:
      A struct.
    """
    name, version, arch, sha256, path, suite, snapshot = text.split(" ")
    return struct(name = name, version = version, arch = arch, sha256 = sha256, path = path, suite = suite, snapshot = snapshot)
