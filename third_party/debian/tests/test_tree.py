# SPDX-License-Identifier: Apache-2.0
"""A tree holds what its packages ship, in the form that build actions can use."""

import importlib.util
import struct
import sys
from pathlib import Path
from types import ModuleType

import pytest
from debtree import libraries
from debtree.errors import TreeError
from debtree.spec import load_spec

TREES = Path(__file__).absolute().parents[1] / "trees"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = TREES.parent / "tree" / "__main__.py"
    spec = importlib.util.spec_from_file_location("tree_main", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # The workers find the module by its name.
    sys.modules["tree_main"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def build(tool: ModuleType, tmp_path: Path):
    """build(specification) makes the tree of the packages that make_deb wrote, and returns its root."""

    def make(specification: str = "") -> Path:
        spec = tmp_path / "spec.toml"
        spec.write_text(specification)
        tool.make_tree(tmp_path / "debs", tmp_path / "root", [spec], 1)
        return tmp_path / "root"

    return make


def test_file_keeps_its_content(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b"text"})
    assert (build() / "usr/share/a").read_bytes() == b"text"


def test_program_is_executable_and_nothing_more(make_deb, build) -> None:
    make_deb("a", files={"usr/bin/a": b""}, programs=("usr/bin/a",))
    assert (build() / "usr/bin/a").stat().st_mode & 0o7777 == 0o755


def test_plain_file_is_readable_by_all(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b""})
    assert (build() / "usr/share/a").stat().st_mode & 0o7777 == 0o644


def test_all_files_have_one_time_whenever_they_are_unpacked(make_deb, build) -> None:
    make_deb("a", files={"usr/include/a.h": b"", "usr/lib/python3/a.py": b"x = 1\n"}, links={"usr/include/b.h": "a.h"})
    make_deb("b", files={"etc/certs/b": b"b"})
    root = build('compile = ["usr/lib/python3"]\n[concatenate]\n"etc/all" = "etc/certs/*"')
    times = {path.relative_to(root).as_posix(): path.lstat().st_mtime for path in root.rglob("*") if path.is_symlink() or path.is_file()}
    assert len(times) >= 6 and set(times.values()) == {315532800.0}, times


def test_file_of_old_top_level_folder_moves_to_usr(make_deb, build) -> None:
    make_deb("a", files={"lib/a.so": b"a"})
    assert (build() / "usr/lib/a.so").read_bytes() == b"a"


def test_top_level_folder_is_a_relative_link(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/a.so": b""})
    assert (build() / "lib").readlink() == Path("usr/lib")


def test_base_files_own_link_is_no_conflict(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/a.so": b""}, links={"lib": "usr/lib"})
    assert (build() / "lib/a.so").is_file()


def test_absolute_link_becomes_relative(make_deb, build) -> None:
    make_deb("a", files={"lib/a.so.1": b""}, links={"usr/lib/x/a.so": "/lib/a.so.1"})
    assert (build() / "usr/lib/x/a.so").readlink() == Path("../a.so.1")


def test_link_to_nothing_is_removed(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b""}, links={"usr/share/b": "none"})
    assert not (build() / "usr/share/b").is_symlink()


def test_link_out_of_the_tree_is_removed(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b""}, links={"usr/share/b": "../../../../../../../etc/passwd"})
    assert not (build() / "usr/share/b").is_symlink()


def test_linker_script_points_below_the_sysroot(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/libc.so": b"/* GNU ld script */\nGROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a AS_NEEDED ( /lib64/ld.so ) )\n"})
    assert (build() / "usr/lib/libc.so").read_text().splitlines()[1] == "GROUP ( =/lib/libc.so.6 =/usr/lib/libc_nonshared.a AS_NEEDED ( =/lib64/ld.so ) )"


def test_dropped_folder_is_absent_with_all_below_it(make_deb, build) -> None:
    make_deb("a", files={"usr/share/doc/a/copyright": b"", "usr/share/docs": b""})
    root = build('drop = ["usr/share/doc"]')
    assert sorted(path.name for path in (root / "usr/share").iterdir()) == ["docs"]


def test_kept_path_wins_over_dropped_folder(make_deb, build) -> None:
    make_deb("a", files={"usr/bin/qemu-arm": b"", "usr/bin/qemu-riscv64": b""})
    root = build('drop = ["usr/bin/qemu-*"]\nkeep = ["usr/bin/qemu-riscv64"]')
    assert [path.name for path in (root / "usr/bin").iterdir()] == ["qemu-riscv64"]


def test_added_link(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/openblas/libblas.so.3": b"a"})
    assert (build('[links]\n"usr/lib/libblas.so.3" = "openblas/libblas.so.3"') / "usr/lib/libblas.so.3").read_bytes() == b"a"


def test_added_link_to_nothing_is_an_error(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/a": b""})
    with pytest.raises(TreeError, match="link usr/lib/b: its target none is not in the tree"):
        build('[links]\n"usr/lib/b" = "none"')


def test_added_link_in_place_of_a_file_is_an_error(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/a": b"", "usr/lib/b": b""})
    with pytest.raises(TreeError, match="link usr/lib/b: a package brings that path"):
        build('[links]\n"usr/lib/b" = "a"')


def test_concatenated_file(make_deb, build) -> None:
    make_deb("a", files={"usr/share/certs/2.crt": b"two", "usr/share/certs/1.crt": b"one"})
    assert (build('[concatenate]\n"etc/certs" = "usr/share/certs/*.crt"') / "etc/certs").read_bytes() == b"onetwo"


def test_concatenation_of_nothing_is_an_error(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b""})
    with pytest.raises(TreeError, match=r"etc/certs: no file matches none/\*"):
        build('[concatenate]\n"etc/certs" = "none/*"')


def test_byte_code_stays_valid_when_times_change(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/python3/a.py": b"x = 1\n"})
    (code,) = (build('compile = ["usr/lib/python3"]') / "usr/lib/python3/__pycache__").iterdir()
    hash_based, check_source = 1, 2
    assert struct.unpack("<I", code.read_bytes()[4:8])[0] & (hash_based | check_source) == hash_based


def test_byte_code_names_no_folder_of_this_machine(make_deb, build, tmp_path: Path) -> None:
    make_deb("a", files={"usr/lib/python3/a.py": b"def f(): pass\n"})
    (code,) = (build('compile = ["usr/lib/python3"]') / "usr/lib/python3/__pycache__").iterdir()
    assert str(tmp_path).encode() not in code.read_bytes()


def test_link_to_a_folder_that_nothing_is_kept_in_is_removed(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b"", "usr/lib/x/b": b""}, links={"usr/share/y/link": "../../lib/x"})
    root = build('drop = ["usr/lib/x/*"]')
    assert sorted(path.name for path in (root / "usr").rglob("*")) == ["a", "share"]


def test_same_path_in_two_packages_names_both_ways_out(make_deb, build) -> None:
    make_deb("a", files={"usr/bin/awk": b""})
    make_deb("b", files={"usr/bin/awk": b""})
    with pytest.raises(TreeError, match=r"[ab]\.deb: usr/bin/awk is there already, from another package; exclude one package or drop the path"):
        build()


def test_path_out_of_the_tree_is_an_error(make_deb, build) -> None:
    make_deb("a", files={"usr/../../x": b""})
    with pytest.raises(TreeError, match=r"a.deb: the path .* leaves the tree"):
        build()


def test_name_that_bazel_cannot_read_is_an_error(make_deb, build) -> None:
    make_deb("a", files={"usr/share/é": b""})
    with pytest.raises(TreeError, match=r"'usr/share/\\xe9': the name is not ASCII"):
        build()


def test_file_that_is_no_package_is_an_error(make_deb, build) -> None:
    make_deb("a").write_bytes(b"<html>")
    with pytest.raises(TreeError, match="a.deb: not a Debian package"):
        build()


def test_package_cut_short_is_an_error(make_deb, build) -> None:
    path = make_deb("a", files={"usr/share/a": bytes(range(256)) * 100})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TreeError, match="a.deb: "):
        build()


def test_unknown_key_of_a_specification_is_named(make_deb, build) -> None:
    make_deb("a", files={"usr/share/a": b""})
    with pytest.raises(TreeError, match="unknown key 'dorp'"):
        build("dorp = []")


def elf(*needed: str) -> bytes:
    """A 64-bit ELF file that has a dynamic section and nothing else."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in needed)
    offsets = [strings.index(b"\0" + name.encode() + b"\0") + 1 for name in needed]
    text = 64 + 2 * 56
    entries = [(1, offset) for offset in offsets] + [(5, 0x1000 + text), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    size = text + len(strings) + len(dynamic)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 243, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x1000, 0x1000, size, size, 4096)
    segment = struct.pack("<IIQQQQQQ", 2, 6, text + len(strings), 0, 0, len(dynamic), len(dynamic), 8)
    return header + load + segment + strings + dynamic


def test_absent_library_is_named_with_who_needs_it(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/liba.so": elf("libb.so.1")})
    with pytest.raises(TreeError, match="libb.so.1, needed by usr/lib/liba.so"):
        build()


def test_present_library_is_found(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/liba.so": elf("libb.so.1"), "usr/lib/libb.so.1": elf()})
    assert (build() / "usr/lib/liba.so").is_file()


def test_library_left_out_on_purpose(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/liba.so": elf("libb.so.1")})
    assert (build('missing_libraries = ["libb.so.1"]') / "usr/lib/liba.so").is_file()


def test_stale_entry_of_missing_libraries_is_an_error(make_deb, build) -> None:
    make_deb("a", files={"usr/lib/liba.so": elf()})
    with pytest.raises(TreeError, match="missing_libraries lists libb.so.1"):
        build('missing_libraries = ["libb.so.1"]')


def test_real_program_asks_for_the_c_library() -> None:
    with open(Path(sys.executable).resolve(), "rb") as file:
        assert "libc.so.6" in libraries._needed(file)


@pytest.mark.parametrize("tree", ["exec", "guest", "sysroot"])
def test_specification_of_each_tree_is_well_formed(tree: str) -> None:
    assert load_spec([TREES / "common.toml", TREES / f"{tree}.toml"]).drop
