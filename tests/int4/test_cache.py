# SPDX-License-Identifier: Apache-2.0
"""Packed weights on disk: found again by what they were made from, and never taken for what they are not."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import vllm._C  # noqa: F401  registers the ops
from conftest import Load
from test_checkpoints import packed_layers
from tiny_models import LLAMA, write_checkpoint
from vllm_sm10 import cache, nibbles
from vllm_sm10.cache import Cache
from vllm_sm10.errors import Ime2Error

WEIGHT = torch.randn(48, 96, generator=torch.Generator().manual_seed(7))
OTHER = torch.randn(48, 96, generator=torch.Generator().manual_seed(8))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "packed"


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """What the plugin warns of; vLLM's loggers hand nothing on."""
    texts: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: texts.append(record.getMessage())
    cache.logger.addHandler(handler)
    yield texts
    cache.logger.removeHandler(handler)


def pack(weight: torch.Tensor) -> torch.Tensor:
    return torch.ops._C.ime2_pack_weight(*nibbles.quantize(weight))


def fetch(store: Cache, weight: torch.Tensor = WEIGHT) -> tuple[torch.Tensor, bool]:
    return store.fetch(nibbles.SCHEME, (weight,), lambda: pack(weight))


def entry(folder: Path) -> Path:
    (path,) = folder.glob("*.ime2")
    return path


def test_a_weight_is_packed_once(folder: Path) -> None:
    store = Cache.open(folder)
    first, found_first = fetch(store)
    second, found_second = fetch(store)
    assert (found_first, found_second) == (False, True)
    assert torch.equal(first, second) and torch.equal(first, pack(WEIGHT))


def test_packed_weights_from_the_cache_begin_where_kernels_want_them(folder: Path) -> None:
    store = Cache.open(folder)
    fetch(store)
    assert fetch(store)[0].data_ptr() % 64 == 0


@pytest.mark.parametrize(
    "other",
    [
        (nibbles.SCHEME, (OTHER,)),
        (nibbles.SCHEME, (WEIGHT.reshape(96, 48),)),
        (nibbles.SCHEME, (WEIGHT.view(torch.int32),)),
        (nibbles.SCHEME, (WEIGHT[:24], WEIGHT[24:])),
        ("another scheme", (WEIGHT,)),
    ],
    ids=["values", "shape", "dtype", "parts", "scheme"],
)
def test_what_decides_the_packed_weight_decides_the_name(other: tuple[str, tuple[torch.Tensor, ...]]) -> None:
    assert cache.name_of(*other) != cache.name_of(nibbles.SCHEME, (WEIGHT,))


def test_equal_weights_have_one_name_whatever_their_strides() -> None:
    assert cache.name_of("", (WEIGHT.t().contiguous().t(),)) == cache.name_of("", (WEIGHT,))


def flip(position: int) -> Callable[[bytes], bytes]:
    return lambda content: content[:position] + bytes([content[position] ^ 1]) + content[position:][1:]


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda content: b"", "is cut"),
        (lambda content: content[:63], "is cut"),
        (lambda content: content[:-1], "is cut"),
        (lambda content: content + b"\0", "is cut, or has more than one weight"),
        (flip(0), "is no packed weight of this version"),
        (flip(8), "is cut"),
        (flip(20), "is damaged"),
        (flip(64), "is damaged"),
        (flip(-1 + 64 + 128), "is damaged"),
    ],
)
def test_a_damaged_entry_is_reported_and_made_anew(folder: Path, warnings: list[str], damage: Callable[[bytes], bytes], text: str) -> None:
    store = Cache.open(folder)
    fetch(store)
    path = entry(folder)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    blob, found = fetch(store)
    assert (found, path.read_bytes()) == (False, whole) and torch.equal(blob, pack(WEIGHT))
    (warning,) = warnings
    assert str(path) in warning and text in warning


def test_an_entry_under_another_ones_name_is_made_anew(folder: Path, warnings: list[str]) -> None:
    store = Cache.open(folder)
    fetch(store, OTHER)
    entry(folder).rename(store.path_of(cache.name_of(nibbles.SCHEME, (WEIGHT,))))
    blob, found = fetch(store)
    assert not found and torch.equal(blob, pack(WEIGHT))
    assert "was made under another name" in warnings[0]


def test_a_weight_that_cannot_be_written_is_used_all_the_same(folder: Path, warnings: list[str]) -> None:
    store = Cache.open(folder)
    folder.rmdir()
    blob, found = fetch(store)
    assert not found and torch.equal(blob, pack(WEIGHT))
    assert "cannot be written: No such file or directory" in warnings[0]


def in_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child


def status(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_writer_that_is_killed_leaves_no_entry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, blob = Cache.open(folder), pack(WEIGHT)
    name = cache.name_of(nibbles.SCHEME, (WEIGHT,))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: os.kill(os.getpid(), signal.SIGKILL))
        assert status(in_child(lambda: store.write(name, blob))) == -signal.SIGKILL
    assert store.read(name) is None
    assert fetch(store)[1] is False and fetch(store)[1] is True


def test_what_killed_writers_left_is_removed_after_a_day(folder: Path) -> None:
    Cache.open(folder)
    old, new = folder / "0.0.unfinished", folder / "1.1.unfinished"
    for path, age in ((old, 2 * 86400), (new, 60)):
        path.write_bytes(b"part")
        os.utime(path, (time.time() - age, time.time() - age))
    Cache.open(folder)
    assert list(folder.iterdir()) == [new]


def test_writers_at_the_same_time_leave_one_whole_entry(folder: Path, warnings: list[str]) -> None:
    store, blob = Cache.open(folder), pack(WEIGHT)
    name = cache.name_of(nibbles.SCHEME, (WEIGHT,))

    def write_often() -> None:
        for _ in range(20):
            store.write(name, blob)

    children = [in_child(write_often) for _ in range(4)]
    while store.read(name) is None:
        time.sleep(0.01)
    for _ in range(20):
        assert torch.equal(store.read(name), blob)
    assert [status(child) for child in children] == [0, 0, 0, 0]
    assert list(folder.iterdir()) == [store.path_of(name)] and warnings == []


def test_a_folder_that_cannot_be_is_refused_by_the_name_of_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Ime2Error, match=rf"SM10_IME2_CACHE={tmp_path}/file is no folder for packed weights"):
        Cache.open(tmp_path / "file")


def test_a_model_loads_from_the_cache_with_the_same_weights(load: Load, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SM10_IME2_CACHE", str(folder))
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    first = packed_layers(load(tmp_path))
    assert len(list(folder.iterdir())) == len(first)
    second = packed_layers(load(tmp_path))
    assert {layer.quant_method.loading.tally.from_cache for layer in second.values()} == {len(second)}
    for name, layer in second.items():
        assert torch.equal(layer.ime2_weight, first[name].ime2_weight), name


def test_without_the_setting_nothing_is_written(load: Load, tmp_path: Path) -> None:
    write_checkpoint(LLAMA, "bfloat16", tmp_path)
    before = sorted(tmp_path.iterdir())
    load(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
