# SPDX-License-Identifier: Apache-2.0
"""CPU time by kind, of accounts that were written by hand."""

import os
from pathlib import Path

import pytest

from ringmaster.bench import cpu_time
from ringmaster.bench.cpu_time import CpuTime, NoCpuTime, Shares

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
BEFORE = """\
cpu  300 20 100 1000 10 5 7 3 0 0
cpu0 200 10 60 500 5 4 6 2 40 0
cpu1 100 10 40 500 5 1 1 1 0 0
intr 12345 0 1
ctxt 99
"""
AFTER = """\
cpu  360 30 120 1080 20 10 17 8 0 0
cpu0 250 20 70 510 5 6 13 3 80 0
cpu1 110 10 50 580 15 4 4 5 0 0
intr 22345 0 1
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "stat"
    path.write_text(text)
    return path


def test_every_core_has_its_kinds_in_seconds(tmp_path: Path) -> None:
    times = cpu_time.read(written(tmp_path, BEFORE))
    assert sorted(times) == [0, 1]
    expected = CpuTime(*(ticks * TICK_S for ticks in (210, 60, 4, 6, 2, 505)))
    assert times[0] == expected


def test_shares_are_of_what_passed_and_guests_are_not_counted_twice(tmp_path: Path) -> None:
    before = cpu_time.read(written(tmp_path, BEFORE))
    after = cpu_time.read(written(tmp_path, AFTER))
    seen = cpu_time.since(before, after, 0)  # 60 user, 10 system, 2 IRQ, 7 soft IRQ, 1 steal, 10 idle: 90 ticks
    expected = {"user": 60, "system": 10, "irq": 2, "soft_irq": 7, "steal": 1, "idle": 10}
    for kind, ticks in expected.items():
        assert getattr(seen, kind) == pytest.approx(ticks / 90), kind
    assert seen.total == pytest.approx(80 / 90)
    assert sum(seen.by_kind().values()) == pytest.approx(1.0)


def test_an_idle_count_that_falls_counts_as_still() -> None:
    before = CpuTime(1.0, 1.0, 0.0, 0.0, 0.0, 9.0)
    after = CpuTime(2.0, 2.0, 0.0, 0.0, 0.0, 8.5)
    assert cpu_time.shares(before, after) == Shares(user=0.5, system=0.5)


def test_nothing_passed_is_nothing() -> None:
    time = CpuTime(1.0, 1.0, 0.0, 0.0, 0.0, 9.0)
    assert cpu_time.shares(time, time) == Shares()


@pytest.mark.parametrize(("busy", "expected"), [(0.25, 0.25), (0.0, 0.0), (1.7, 1.0), (-1.0, 0.0)])
def test_polling_splits_the_user_time_alone(busy: float, expected: float) -> None:
    seen = cpu_time.polled(Shares(user=0.8, system=0.1, idle=0.1), busy)
    assert seen.user == 0
    assert seen.poll_busy == pytest.approx(0.8 * expected)
    assert seen.poll_busy + seen.poll_idle == pytest.approx(0.8)
    assert (seen.system, seen.idle) == (0.1, 0.1)
    assert seen.total == pytest.approx(0.9)


def test_a_core_that_is_not_there_is_named(tmp_path: Path) -> None:
    times = cpu_time.read(written(tmp_path, BEFORE))
    with pytest.raises(NoCpuTime, match=r"core 7 .*expected one of \[0, 1\]"):
        cpu_time.since(times, times, 7)


@pytest.mark.parametrize("text", ["", "cpu  1 2 3 4 5 6 7 8\n", "cpu0 1 2 3\n", "cpu0 a b c d e f g h\n"])
def test_an_account_that_cannot_be_read_is_an_error(text: str, tmp_path: Path) -> None:
    with pytest.raises(NoCpuTime, match="expected"):
        cpu_time.read(written(tmp_path, text))


def test_no_account_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoCpuTime, match="nowhere"):
        cpu_time.read(tmp_path / "nowhere")


def test_the_mean_of_windows_and_the_kinds_worth_a_column() -> None:
    mean = cpu_time.mean([Shares(user=1.0), Shares(soft_irq=0.5, idle=0.5)])
    assert mean == Shares(user=0.5, soft_irq=0.25, idle=0.25)
    assert cpu_time.kinds_seen([mean, Shares(steal=0.004, irq=0.006)]) == ("user", "IRQ", "soft IRQ", "idle")


def test_this_machine_has_an_account() -> None:
    first = cpu_time.read()
    assert set(os.sched_getaffinity(0)) <= set(first)
