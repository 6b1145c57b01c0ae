# SPDX-License-Identifier: Apache-2.0
"""`check` finds every way in which lock.tsv can differ from requests.toml. Each case changes one thing of the files in this folder's parent."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from third_party.debian.lock.cli import main

FILES = ("lock.depends.tsv", "lock.tsv", "requests.toml")
SOURCE = Path(__file__).absolute().parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        shutil.copyfile(SOURCE / name, tmp_path / name)
    return tmp_path


def change(path: Path, edit: Callable[[str], str]) -> None:
    before = path.read_text()
    after = edit(before)
    assert after != before, "the case changes nothing"
    path.write_text(after)


def drop_line(start: str) -> Callable[[str], str]:
    return lambda text: "".join(line for line in text.splitlines(keepends=True) if not line.startswith(start))


def replace(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def row(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def edit_cell(start: str, column: int, value: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        old = row(text, start)
        cells = old.split("\t")
        cells[column] = value
        return text.replace(old, "\t".join(cells))

    return edit


def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The error text of `check`, empty if it found nothing."""
    code = main(["--folder", str(folder), "check"])
    error = capsys.readouterr().err
    assert bool(error) == bool(code)
    return error


def test_locked_files_agree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(folder, capsys) == ""


CASES = {
    "new root": ("requests.toml", replace('  "xz-utils",', '  "vim",\n  "xz-utils",'), "the root package 'vim' does not exist"),
    "root of another set": ("requests.toml", replace('  "patch",\n  "python3.14",', '  "patch",\n  "procps",\n  "python3.14",'), "set 'exec': lacks procps"),
    "dropped root": ("requests.toml", replace('  "zstd",\n', ""), "set 'bazel': no root needs zstd"),
    "new exclusion": ("requests.toml", replace('exclude = [\n  "debconf"', 'exclude = [\n  "bash",\n  "debconf"'), "'bash' is both a root and excluded"),
    "dropped exclusion": ("requests.toml", replace('  "libasan8",', ""), "nothing satisfies 'libasan8"),
    "exclusion without effect": ("requests.toml", replace('  "debconf",', '  "debconf",\n  "emacs",'), "excludes emacs, which no set wants"),
    "exclusion without effect in a set": (
        "requests.toml",
        replace('  "libhwasan0",', '  "libfoo",\n  "libhwasan0",'),
        "set 'exec': excludes libfoo, which nothing in it wants",
    ),
    "other suite": ("requests.toml", replace("\n[suite_of]", '\n[suite_of]\nqemu-user = "sid"'), "amd64/qemu-user: from suite forky, requested from sid"),
    "dropped set": ("requests.toml", lambda text: text[: text.index("[set.unpacker]")], "in the set 'unpacker', which nobody requests"),
    "other architecture": (
        "requests.toml",
        lambda text: text.replace('[set.sysroot]\narchitecture = "riscv64"', '[set.sysroot]\narchitecture = "amd64"'),
        "set 'sysroot'",
    ),
    "dropped line": ("lock.tsv", drop_line("amd64\tzlib1g\t"), "lacks"),
    "dropped record": ("lock.depends.tsv", drop_line("amd64\tzlib1g\t"), "amd64/zlib1g: version .* in lock.tsv, absent in lock.depends.tsv"),
    "other version": ("lock.tsv", edit_cell("amd64\tzlib1g\t", 2, "9"), "amd64/zlib1g: version 9 in lock.tsv"),
    "set lost": ("lock.tsv", edit_cell("amd64\tzlib1g\t", 8, "bazel"), "set 'exec': lacks .*zlib1g"),
    "set too many": ("lock.tsv", edit_cell("amd64\tzstd\t", 8, "bazel,exec"), "set 'exec': no root needs zstd"),
    "other snapshot": ("lock.tsv", edit_cell("amd64\tzstd\t", 7, "20200101T000000Z"), "suite forky: several snapshots"),
    "bad digest": ("lock.tsv", edit_cell("amd64\tzstd\t", 4, "f00"), "column 'sha256' is malformed: 'f00'"),
    "bad path": ("lock.tsv", edit_cell("amd64\tzstd\t", 6, "/zstd.deb"), "column 'path' is malformed"),
    "bad sets": ("lock.tsv", edit_cell("amd64\tzlib1g\t", 8, "exec,bazel,unpacker"), "the sets of zlib1g are not sorted"),
    "column missing": ("lock.tsv", lambda text: text.replace(row(text, "amd64\tzstd"), "amd64\tzstd\t1"), "3 columns, expected 9"),
    "unsorted": ("lock.tsv", lambda text: text + row(text, "amd64\tzstd\t") + "\n", "zstd stands after .*unsorted or repeated"),
}


@pytest.mark.parametrize("case", CASES)
def test_drift_is_found(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, edit, message = CASES[case]
    change(folder / name, edit)
    error = check(folder, capsys)
    assert re.search(message, error), error


@pytest.mark.parametrize("name", FILES)
def test_absent_file_is_named(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).unlink()
    assert f"{name}: cannot be read" in check(folder, capsys)


def test_drift_says_how_to_mend_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder / "lock.tsv", drop_line("amd64\tzlib1g\t"))
    assert "run: python3 -m third_party.debian.lock update" in check(folder, capsys)


def test_why_shows_the_chain_from_a_root(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--folder", str(folder), "why", "libtorch2.14"]) == 0
    assert "guest: python3-torch -> libtorch2.14\n" in capsys.readouterr().out


def test_why_refuses_an_unknown_package(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--folder", str(folder), "why", "emacs"]) == 1
    assert "'emacs' is in no set" in capsys.readouterr().err
