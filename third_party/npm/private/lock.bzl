# SPDX-License-Identifier: Apache-2.0
"""Reading of lock.tsv."""

_COLUMNS = ["name", "version", "sha256", "integrity"]

def parse_lock(text):
    """Parses lock.tsv.

    Args:
      text: the file's content.

    Returns:
      Its lines as a list of structs (name, version, sha256, integrity).
    """
    entries = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != len(_COLUMNS):
            fail("third_party/npm/lock.tsv: expected {} columns, got {}: {}\nIt is generated: rerun ./bazelw run //third_party/npm:update".format(
                len(_COLUMNS),
                len(fields),
                repr(line),
            ))
        entries.append(struct(**dict(zip(_COLUMNS, fields))))
    return entries

def repository_name(package):
    """The name of a package's repository.

    Args:
      package: its name in the registry, e.g. @bazel/buildifier.

    Returns:
      The name, e.g. npm_bazel_buildifier.
    """
    words = "".join([c if c.isalnum() else " " for c in package.elems()]).split(" ")
    return "_".join(["npm"] + [word for word in words if word])
