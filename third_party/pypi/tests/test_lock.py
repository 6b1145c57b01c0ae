# SPDX-License-Identifier: Apache-2.0
"""lock.tsv answers requests.toml, and the check that says so can fail."""

from dataclasses import replace
from pathlib import Path

import pytest
from lockfile import Entry, Lock, LockError, Request, drift, read_lock, read_requests, render_lock

PYPI = Path(__file__).absolute().parents[1]
REQUEST = Request("exec", ("alpha>=1", "beta"), "3.14", "x86_64-unknown-linux-gnu", "2.41", {"gamma": "not wanted"})
ENTRIES = [Entry("exec", name, "1.0", f"{name}-1.0-py3-none-any.whl", "0" * 64) for name in ("alpha", "beta")]
LOCK = Lock({"exec": REQUEST.digest()}, ENTRIES)


def test_lock_answers_the_requests() -> None:
    assert drift(read_requests(PYPI / "requests.toml"), read_lock(PYPI / "lock.tsv")) == []


def test_lock_is_what_its_own_entries_render_to() -> None:
    lock = read_lock(PYPI / "lock.tsv")
    assert render_lock(read_requests(PYPI / "requests.toml"), lock.entries) == (PYPI / "lock.tsv").read_text()


def test_lock_names_no_host() -> None:
    assert "://" not in (PYPI / "lock.tsv").read_text() + (PYPI / "requests.toml").read_text()


def test_agreement_is_no_drift() -> None:
    assert drift([REQUEST], LOCK) == []


def test_missing_lock_says_how_to_make_it() -> None:
    assert drift([REQUEST], None) == ["there is no lock.tsv; make it with ./bazelw run //third_party/pypi:update"]


def test_new_requirement_is_named() -> None:
    problems = drift([replace(REQUEST, requirements=(*REQUEST.requirements, "delta==2"))], LOCK)
    assert "set exec: delta==2 is requested but not locked; rerun ./bazelw run //third_party/pypi:update" in problems


def test_locked_package_that_is_excluded_is_named() -> None:
    problems = drift([replace(REQUEST, excluded={"beta": "why"})], LOCK)
    assert "set exec: beta is excluded but locked; rerun ./bazelw run //third_party/pypi:update" in problems


def test_changed_range_is_drift_though_the_names_agree() -> None:
    (problem,) = drift([replace(REQUEST, requirements=("alpha>=2", "beta"))], LOCK)
    assert problem.startswith("set exec: lock.tsv was made for request")


def test_set_that_nobody_asks_for_is_named() -> None:
    extra = replace(LOCK, entries=[*ENTRIES, Entry("old", "alpha", "1.0", "alpha-1.0.tar.gz", "0" * 64)])
    assert any("holds set old" in problem for problem in drift([REQUEST], extra))


def test_unsorted_lock_is_drift() -> None:
    assert any("not sorted" in problem for problem in drift([REQUEST], replace(LOCK, entries=ENTRIES[::-1])))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exec\talpha\n", "lock.tsv:1: expected 5 columns, got 2"),
        ("exec\talpha\t1\tf.whl\tabc\n", "alpha: not a sha256: 'abc'"),
    ],
)
def test_bad_line_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "lock.tsv").write_text(text)
    with pytest.raises(LockError, match=message):
        read_lock(tmp_path / "lock.tsv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[exec]\nrequirements = ["beta", "alpha"]\npython="3"\nplatform="p"\nglibc="2.1"', "are not sorted"),
        ('[exec]\nrequirements = ["alpha"]', "needs python, platform and glibc"),
        ("[exec]\nrequirements = []", "asks for nothing"),
        ('[exec]\nrequirements = ["alpha"]\nodd = 1', "unknown keys: odd"),
        ("[exec", "cannot read"),
    ],
)
def test_bad_request_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "requests.toml").write_text(text)
    with pytest.raises(LockError, match=message):
        read_requests(tmp_path / "requests.toml")
