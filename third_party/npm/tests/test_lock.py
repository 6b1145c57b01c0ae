# SPDX-License-Identifier: Apache-2.0
"""lock.tsv answers requests.toml, and the check that says so can fail."""

from dataclasses import replace
from pathlib import Path

import pytest
from lockfile import Entry, LockError, drift, read_lock, read_requests, render_lock

NPM = Path(__file__).absolute().parents[1]
INTEGRITY = "sha512-" + "A" * 86 + "=="
ALPHA = Entry("alpha", "1.0.0", "0" * 64, INTEGRITY)
BETA = replace(ALPHA, name="beta")
UPDATE = "rerun ./bazelw run //third_party/npm:update"


def test_lock_answers_the_requests() -> None:
    assert drift(read_requests(NPM / "requests.toml"), read_lock(NPM / "lock.tsv")) == []


def test_lock_is_what_its_own_entries_render_to() -> None:
    assert render_lock(read_lock(NPM / "lock.tsv")) == (NPM / "lock.tsv").read_text()


def test_lock_names_no_host() -> None:
    assert "://" not in (NPM / "lock.tsv").read_text() + (NPM / "requests.toml").read_text()


def test_agreement_is_no_drift() -> None:
    assert drift({"alpha": "1.0.0"}, [ALPHA]) == []


def test_new_package_is_named() -> None:
    assert drift({"alpha": "1.0.0", "beta": "2.0.0"}, [ALPHA]) == [f"beta: requests.toml asks for version 2.0.0, lock.tsv has none; {UPDATE}"]


def test_new_version_is_named() -> None:
    assert drift({"alpha": "1.0.1"}, [ALPHA]) == [f"alpha: requests.toml asks for version 1.0.1, lock.tsv has 1.0.0; {UPDATE}"]


def test_package_that_nobody_asks_for_is_named() -> None:
    assert drift({"alpha": "1.0.0"}, [ALPHA, BETA]) == [f"beta: requests.toml asks for version none, lock.tsv has 1.0.0; {UPDATE}"]


def test_unsorted_lock_is_drift() -> None:
    assert drift({"alpha": "1.0.0", "beta": "1.0.0"}, [BETA, ALPHA]) == [f"lock.tsv is not sorted or has doubles; it is generated: {UPDATE}"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alpha\t1.0.0\n", "lock.tsv:1: expected 4 columns, got 2"),
        (f"alpha\t1.0.0\tabc\t{INTEGRITY}\n", "alpha: not a sha256: 'abc'"),
        (f"alpha\t1.0.0\t{'0' * 64}\tsha512-x\n", "alpha: not an integrity: 'sha512-x'"),
    ],
)
def test_bad_line_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "lock.tsv").write_text(text)
    with pytest.raises(LockError, match=message):
        read_lock(tmp_path / "lock.tsv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[packages]\n"beta" = "1.0.0"\n"alpha" = "1.0.0"', "are not sorted"),
        ('[packages]\n"alpha" = "^1.0.0"', "alpha: '\\^1.0.0' is no exact version"),
        ('[packages]\n"Alpha/../x" = "1.0.0"', "'Alpha/../x' is no name"),
        ("[packages]", "must have one table"),
        ('[others]\n"alpha" = "1.0.0"', "must have one table"),
        ("[packages", "cannot read"),
    ],
)
def test_bad_request_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "requests.toml").write_text(text)
    with pytest.raises(LockError, match=message):
        read_requests(tmp_path / "requests.toml")
