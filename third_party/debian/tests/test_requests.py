# SPDX-License-Identifier: Apache-2.0
"""The request file is checked before it is used."""

from pathlib import Path

import pytest

from third_party.debian.lock.errors import FormatError
from third_party.debian.lock.requests import load_requests

GOOD = """
suite = "forky"
exclude = ["debconf"]
[suite_of]
qemu-user = "trixie"
[set.exec]
architecture = "amd64"
exclude = ["perl"]
roots = ["bash", "qemu-user"]
"""


def load(tmp_path: Path, text: str):
    path = tmp_path / "requests.toml"
    path.write_text(text)
    return load_requests(path)


def test_set_excludes_what_every_set_excludes(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).sets[0].excluded == {"debconf", "perl"}


def test_suites_are_the_default_and_the_named_ones(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).suites() == ["forky", "trixie"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["bash", "qemu-user"]', '["qemu-user", "bash"]', "'roots' is not sorted .* after 'qemu-user'"),
        ('["bash", "qemu-user"]', '["bash", "bash"]', "'roots' is not sorted"),
        ('["bash", "qemu-user"]', "[]", "'roots' is missing or empty"),
        ('["bash", "qemu-user"]', "[1]", "'roots' must be a list of package names"),
        ('["perl"]', '["debconf"]', "'debconf' is excluded for all sets already"),
        ('architecture = "amd64"', "", "'architecture' is missing"),
        ('suite = "forky"', "", "'suite' .* is missing"),
        ("roots", "rots", "unknown key 'rots'"),
        ("[set.exec]", "[set.exec", "not TOML"),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        load(tmp_path, GOOD.replace(old, new))


def test_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="requests.toml: cannot be read"):
        load_requests(tmp_path / "requests.toml")
