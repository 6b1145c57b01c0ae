# SPDX-License-Identifier: Apache-2.0
"""Reading of lock.tsv."""

_COLUMNS = ["set", "name", "version", "filename", "sha256"]
_UPDATE = "./bazelw run //third_party/pypi:update"

def parse_lock(text):
    """Parses lock.tsv.

    Args:
      text: the file's content.

    Returns:
      Its lines as a list of structs (set, name, version, filename, sha256).
    """
    entries = []
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != len(_COLUMNS):
            fail("third_party/pypi/lock.tsv: expected {} columns, got {}: {}\nIt is generated: rerun {}".format(
                len(_COLUMNS),
                len(fields),
                repr(line),
                _UPDATE,
            ))
        entries.append(struct(**dict(zip(_COLUMNS, fields))))
    return entries

def locked_file(entries, set_name, name):
    """Finds the one file that a set has of a project.

    Args:
      entries: what `parse_lock` returned.
      set_name: name of the set.
      name: the project's normalised name.

    Returns:
      The entry.
    """
    found = [e for e in entries if e.set == set_name and e.name == name]
    if len(found) != 1:
        fail("third_party/pypi/lock.tsv: expected one file of {} in set {}, got {}\nAdd it to requests.toml, then {}".format(
            name,
            set_name,
            len(found),
            _UPDATE,
        ))
    return found[0]
