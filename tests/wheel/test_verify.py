# SPDX-License-Identifier: Apache-2.0
"""`python -m vllm_sm10.verify` on a machine that is no RISC-V: a change of any byte of any file is found, in a wheel and where it is installed."""

from __future__ import annotations

import json
import marshal
import os
import py_compile
import subprocess
import sys
import types
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vllm_sm10 import inventory
from vllm_sm10.verify import __main__ as command
from vllm_sm10.verify import bytecode, integrity, machine, record
from vllm_sm10.verify.files import Installed

WHEEL = Path(os.environ["WHEEL"])
PROVENANCE = Path(os.environ["PROVENANCE"])
# A few files of each kind of the real wheel, so that thousands of changes can be tried.
KINDS = ("vllm/__init__.py", "vllm/version.py", "vllm/spinloop.abi3.so", "vllm_sm10/__init__.py", "vllm_sm10/verify/record.py")


@dataclass(frozen=True)
class Memory:
    """Files as they would be installed."""

    info: str
    content: dict[str, bytes]
    place: str = "memory"
    extra: dict[str, bytes] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        return self.content.get(path)

    def present(self, packages: Iterable[str]) -> list[str]:
        return sorted(self.content)

    def damages(self) -> list[str]:
        return []


def subset() -> Memory:
    with zipfile.ZipFile(WHEEL) as wheel:
        info = next(name.split("/")[0] for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
        names = [*KINDS, *(name for name in wheel.namelist() if name.startswith(info) and not name.endswith("/RECORD"))]
        content = {name: wheel.read(name) for name in names}
        lines = [line for line in wheel.read(f"{info}/RECORD").decode().splitlines() if line.split(",")[0] in content or line.endswith("RECORD,,")]
    return Memory(info, content | {f"{info}/RECORD": ("\n".join(lines) + "\n").encode()})


SOUND = subset()
RECORD = f"{SOUND.info}/RECORD"


def problems(content: dict[str, bytes]) -> dict[str, str]:
    return dict(integrity.check(Memory(SOUND.info, content)).problems)


def changed(data: bytes, offset: int, value: int) -> bytes:
    """Another byte at an offset; value 0-254 counts among the 255 others."""
    return data[:offset] + bytes([value if value < data[offset] else value + 1]) + data[offset + 1 :]


def test_files_as_built_are_as_built() -> None:
    assert problems(SOUND.content) == {}


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_a_changed_byte_in_any_file_is_found_there(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(set(SOUND.content) - {RECORD})))
    before = SOUND.content[name]
    if not before:
        return
    after = changed(before, data.draw(st.integers(0, len(before) - 1)), data.draw(st.integers(0, 254)))
    assert problems(SOUND.content | {name: after}) == {name: "has other content than RECORD says"}


@settings(max_examples=1500, deadline=None)
@given(st.integers(0, len(SOUND.content[RECORD]) - 1), st.integers(0, 254))
def test_a_changed_byte_in_record_is_found(offset: int, value: int) -> None:
    assert problems(SOUND.content | {RECORD: changed(SOUND.content[RECORD], offset, value)})


def test_every_bit_of_a_line_of_record_counts() -> None:
    text = SOUND.content[RECORD]
    undetected = [
        (offset, bit)
        for offset in range(text.index(b"\n") + 1)
        for bit in range(8)
        if not problems(SOUND.content | {RECORD: text[:offset] + bytes([text[offset] ^ 1 << bit]) + text[offset + 1 :]})
    ]
    assert undetected == []


@pytest.mark.parametrize("name", sorted(set(SOUND.content) - {RECORD}))
def test_a_removed_file_is_found(name: str) -> None:
    assert problems({path: data for path, data in SOUND.content.items() if path != name}) == {name: "is missing"}


@pytest.mark.parametrize("name", ["vllm/added.py", "vllm_sm10/sub/added.so", f"{SOUND.info}/entry_points.d"])
def test_an_added_file_is_found(name: str) -> None:
    assert problems(SOUND.content | {name: b""}) == {name: "is not in RECORD: it was added"}


def test_a_file_whose_line_was_taken_out_of_record_is_found() -> None:
    lines = SOUND.content[RECORD].splitlines(keepends=True)
    without = b"".join(line for line in lines if not line.startswith(b"vllm/version.py,"))
    assert problems(SOUND.content | {RECORD: without}) == {"vllm/version.py": "is not in RECORD: it was added"}


def test_a_file_without_digest_in_record_is_found() -> None:
    text = SOUND.content[RECORD].decode()
    line = next(line for line in text.splitlines() if line.startswith("vllm/version.py,"))
    assert RECORD in problems(SOUND.content | {RECORD: text.replace(line, "vllm/version.py,,").encode()})


@pytest.mark.parametrize("path", ["../../etc/passwd/../x", "/etc/passwd", "vllm//version.py", "./vllm/version.py"])
def test_a_path_that_is_not_plain_damages_record(path: str) -> None:
    row = f"{path},{record.digest_of(b'')},0\n".encode()
    assert record.parse(row + b"x/RECORD,,\n", "x/RECORD").damages[0].startswith("line 1 has no plain relative path")


def test_a_missing_record_is_found() -> None:
    assert problems({path: data for path, data in SOUND.content.items() if path != RECORD}) == {RECORD: "is missing"}


# ---- Byte code, which installers leave out of RECORD


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """The subset as an installer leaves it: lines end otherwise, and there is byte code."""
    for name, data in SOUND.content.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    source = tmp_path / "vllm_sm10/verify/record.py"
    compiled = Path(py_compile.compile(str(source), doraise=True) or "")
    rows = [*SOUND.content[RECORD].decode().splitlines(), f"{compiled.relative_to(tmp_path)},,"]
    (tmp_path / RECORD).write_bytes("".join(f"{row}\r\n" for row in rows).encode())
    return Installed(tmp_path, SOUND.info)


def byte_code(installed: Installed) -> Path:
    (path,) = installed.folder.rglob("*.pyc")
    return path


def test_byte_code_of_its_source_is_as_built(installed: Installed) -> None:
    found = integrity.check(installed)
    assert (found.problems, found.byte_code) == ((), 1)


def test_byte_code_of_another_program_is_found(installed: Installed, tmp_path: Path) -> None:
    path = byte_code(installed)
    evil = compile("import os\nos.system('evil')\n", str(tmp_path / "vllm_sm10/verify/record.py"), "exec")
    path.write_bytes(path.read_bytes()[:16] + marshal.dumps(evil))
    assert integrity.check(installed).problems == ((str(path.relative_to(tmp_path)), "is not what its source compiles to"),)


def test_a_changed_constant_in_byte_code_is_found(installed: Installed) -> None:
    path = byte_code(installed)
    data = path.read_bytes()
    assert data.count(b"no plain relative path") == 1
    path.write_bytes(data.replace(b"no plain relative path", b"no plain relative PATH"))
    assert [problem for _, problem in integrity.check(installed).problems] == ["is not what its source compiles to"]


@pytest.mark.parametrize("offset", range(16))
def test_a_changed_head_of_byte_code_is_found_or_python_does_not_use_it(offset: int, installed: Installed) -> None:
    path = byte_code(installed)
    path.write_bytes(changed(path.read_bytes(), offset, 7))
    # Bytes 8-11 hold the time of the source: with another one Python compiles the source anew.
    assert bool(integrity.check(installed).problems) == (offset not in range(8, 12))


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_byte_in_byte_code_is_found_unless_it_means_the_same(seed: int, installed: Installed) -> None:
    path = byte_code(installed)
    before = path.read_bytes()
    after = changed(before, 16 + seed * 7919 % (len(before) - 16), seed * 37 % 255)
    path.write_bytes(after)
    if not integrity.check(installed).problems:
        assert marshal.loads(after[16:]) == marshal.loads(before[16:])


def test_byte_code_without_a_source_is_found(installed: Installed) -> None:
    path = byte_code(installed)
    other = path.with_name(path.name.replace("record", "evil"))
    path.rename(other)
    texts = dict(integrity.check(installed, with_byte_code=False).problems)
    assert texts[str(other.relative_to(installed.folder))] == "is byte code without a source that RECORD lists"


def test_a_linked_folder_is_found(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> None:
    (installed.folder / "vllm/evil").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    assert dict(integrity.check(installed).problems) == {"vllm/evil": "is not in RECORD: it was added"}


def test_constants_that_are_equal_but_of_another_type_are_told_apart() -> None:
    assert isinstance(compile("x = 1", "f", "exec"), types.CodeType)
    assert bytecode._facts(compile("x = 1", "f", "exec")) != bytecode._facts(compile("x = True", "f", "exec"))
    assert bytecode._facts(compile("x = (0.0,)", "f", "exec")) != bytecode._facts(compile("x = (-0.0,)", "f", "exec"))


# ---- What of the manifest runs on a machine


def core_type(vlen: int | None, matrix: bool = False, known: bool = True) -> inventory.CoreType:
    return inventory.CoreType("made core", (0, 1), 1, 2, 3, known, vlen, matrix, "scalar")


def capable(*cores: inventory.CoreType, missing: tuple[str, ...] = ()) -> inventory.Capabilities:
    first = inventory.Core(0, "made core", cores[0].vlen, (), cores[0].matrix)
    levels = (inventory.Level("x100", 256, ("v", "zvfh"), missing, not missing),)
    return inventory.Capabilities("_C.abi3.so", "", first, cores, levels, "scalar", "made", (), ())


LEVELS = {
    "levels": [
        {"level": "a100", "vlen": 1024, "extensions": ["v", "xsmtvdotii"]},
        {"level": "scalar", "vlen": 0, "extensions": []},
        {"level": "x100", "vlen": 256, "extensions": ["v", "zvfh"]},
    ]
}


@pytest.mark.parametrize(
    ("here", "expected", "said"),
    [
        (capable(core_type(256)), ["no", "yes", "yes"], "needs VLEN 256, v, zvfh: harts 0, 1 (made core)"),
        (capable(core_type(256), core_type(1024, matrix=True)), ["yes", "yes", "yes"], "needs VLEN 1024, v, xsmtvdotii: harts 0, 1 (made core)"),
        (capable(core_type(1024)), ["no", "yes", "no"], "this machine has VLEN 1024, where other levels run"),
        (capable(core_type(512)), ["no", "yes", "no"], "this machine has VLEN 512, where other levels run"),
        (capable(core_type(None)), ["no", "yes", "no"], "this machine has no vectors, where other levels run"),
        (capable(core_type(256), missing=("zvfh",)), ["no", "yes", "no"], "the cores lack zvfh, and run scalar"),
        (capable(core_type(256), core_type(None, known=False)), ["unknown", "yes", "yes"], "not all cores of this machine could be looked at"),
    ],
    ids=["x100", "board", "vlen1024 without matrix unit", "vlen512", "no vectors", "lacking an extension", "hidden cores"],
)
def test_each_level_of_the_manifest_is_answered(here: inventory.Capabilities, expected: list[str], said: str) -> None:
    found = machine.levels(LEVELS, here)
    assert [answer.verdict for answer in found] == expected
    assert said in "; ".join(answer.text for answer in found)


def test_library_that_cannot_be_loaded_blocks() -> None:
    def ask() -> inventory.Capabilities:
        raise ImportError("no torch here")

    (answer,) = machine.core(SOUND, ask)
    assert (answer.verdict, answer.blocks) == ("no", True)
    assert "no torch here" in answer.text


# ---- The command, on the real wheel


def run(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-B", "-m", "vllm_sm10.verify", *map(str, words)], capture_output=True, text=True, env={"PYTHONPATH": str(WHEEL)})
    return done.returncode, done.stdout + done.stderr


def test_the_wheel_verifies_itself_without_being_installed() -> None:
    code, text = run(WHEEL, "--provenance", PROVENANCE)
    assert code == 0, text
    assert "as built: every file is as RECORD says, and none was added" in text


def test_another_machine_says_what_it_cannot_check() -> None:
    assert "the wheel is for riscv64, this is x86_64: only the files can be checked here" in run(WHEEL)[1]


def test_without_provenance_the_report_says_what_nothing_vouches_for(tmp_path: Path) -> None:
    alone = tmp_path / WHEEL.name
    alone.write_bytes(WHEEL.read_bytes())
    assert "no provenance statement" in run(alone)[1]


def test_any_changed_byte_of_the_wheel_file_is_found(tmp_path: Path) -> None:
    data = bytearray(WHEEL.read_bytes())
    target = tmp_path / WHEEL.name
    undetected = []
    for number in range(24):
        offset = (number * 2654435761 + 17) % len(data) if number else len(data) - 1
        data[offset] ^= 1 << number % 8
        target.write_bytes(data)
        data[offset] ^= 1 << number % 8
        if command.main([str(target), "--provenance", str(PROVENANCE), "--json"]) not in (1, 2):
            undetected.append(offset)
    assert undetected == []


def test_json_lists_everything() -> None:
    code, text = run(WHEEL, "--provenance", PROVENANCE, "--json")
    report = json.loads(text)
    assert (report["code"], code) == (0, 0)
    assert report["integrity"]["problems"] == []
    assert report["integrity"]["files"] > 2000
    assert {answer["about"] for answer in report["machine"]} >= {"architecture", "Python"}


def test_bill_of_materials_and_manifest_are_among_the_files() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
    assert f"{SOUND.info}/sboms/vllm.cdx.json" in names
    assert machine.MANIFEST in names


def test_what_is_no_wheel_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "no.whl").write_text("no")
    code, text = run(tmp_path / "no.whl")
    assert code == 2
    assert "cannot be read as a wheel" in text
    assert "remedy" in text


def test_nothing_installed_is_said_with_the_remedy() -> None:
    code, text = run()
    assert code == 2
    assert "remedy: install the wheel, or name one" in text or "is not installed in a folder" in text
