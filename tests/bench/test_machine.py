# SPDX-License-Identifier: Apache-2.0
"""The board's fingerprint comes from its files, and is complete or an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from ci.bench import machine
from ci.bench.errors import BenchError

FILES = {
    "proc/cpuinfo": "".join(f"processor\t: {core}\nmarchid\t\t: {'0x58' if core < 8 else '0x41'}\n\n" for core in range(16)),
    "proc/device-tree/chosen/u-boot,version": "2022.10-made\0",
    "proc/device-tree/model": "Made Board\0",
    "proc/sys/kernel/osrelease": "6.18.0-made\n",
    "sys/class/thermal/cooling_device0/cur_state": "0\n",
    "sys/class/thermal/cooling_device0/type": "cpufreq-cpu0\n",
    "sys/class/thermal/cooling_device1/cur_state": "3\n",
    "sys/class/thermal/cooling_device1/type": "pwm-fan\n",
    "sys/class/thermal/thermal_zone0/temp": "41500\n",
    "sys/class/thermal/thermal_zone1/temp": "52000\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "2400000\n",
    "sys/devices/system/cpu/cpu8/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu8/cpufreq/scaling_max_freq": "2000000\n",
}
GIVEN = {"memory_mts": 6400}


def board(root: Path, **changes: str | None) -> Path:
    """A made root; None leaves a file out."""
    for name, text in {**FILES, **changes}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    return root


def test_a_board_is_read(tmp_path: Path) -> None:
    assert machine.read_board(board(tmp_path), GIVEN) == {
        "a100_mhz": 2000,
        "board": "Made Board",
        "core_map": "0-7 0x58, 8-15 0x41",
        "firmware": "2022.10-made",
        "governor": "performance",
        "kernel": "6.18.0-made",
        "memory_mts": 6400,
        "temperature_c": 52.0,
        "throttled": False,
        "x100_mhz": 2400,
    }


def test_two_governors_are_both_told(tmp_path: Path) -> None:
    root = board(tmp_path, **{"sys/devices/system/cpu/cpu8/cpufreq/scaling_governor": "powersave\n"})
    assert machine.read_board(root, GIVEN)["governor"] == "performance/powersave"


def test_a_cpu_held_down_is_throttled(tmp_path: Path) -> None:
    assert machine.read_board(board(tmp_path, **{"sys/class/thermal/cooling_device0/cur_state": "1\n"}), GIVEN)["throttled"] is True


@pytest.mark.parametrize(
    ("missing", "fact"),
    [
        ("proc/device-tree/model", "board: cannot read /proc/device-tree/model"),
        ("proc/device-tree/chosen/u-boot,version", "firmware: cannot read"),
        ("sys/class/thermal/cooling_device0/type", "throttled: "),
        ("sys/devices/system/cpu/cpu8/cpufreq/scaling_max_freq", "a100_mhz: cannot read"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, missing: str, fact: str) -> None:
    with pytest.raises(BenchError) as caught:
        machine.read_board(board(tmp_path, **{missing: None}), GIVEN)
    assert fact in str(caught.value)


def test_the_memorys_speed_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(BenchError) as caught:
        machine.read_board(board(tmp_path), {})
    assert "memory_mts: no known file tells" in str(caught.value)


def test_a_given_fact_replaces_a_file(tmp_path: Path) -> None:
    root = board(tmp_path, **{"proc/device-tree/model": None})
    assert machine.read_board(root, {**GIVEN, "board": "Said Board"})["board"] == "Said Board"


def test_cores_without_marchid_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError) as caught:
        machine.read_board(board(tmp_path, **{"proc/cpuinfo": "processor : 0\n"}), GIVEN)
    assert "does not give each processor its marchid" in str(caught.value)
