# SPDX-License-Identifier: Apache-2.0
"""Spans of an archive as xarray and Dask have them, in this process and on two workers."""

import os
from pathlib import Path

import numpy as np
import pytest
from archive_writer import ArchiveWriter, Description
from archives import BEGIN_NS, LANES, add, simple, steps, times

import ringmaster
from ringmaster.archive.stored import Range
from ringmaster.archive.stream import StoredStream
from ringmaster.fabric.window import ReadResult


def test_a_dataset_has_values_turns_and_times(tmp_path: Path) -> None:
    archive = ringmaster.Archive(simple(tmp_path / "archive"))
    data = archive.to_xarray("bpm*", records=128)
    assert data.sizes == {"instrument": 1, "record": 1000, "lane": 2}
    assert data["values"].data.chunks[1] == (*[128] * 7, 104)
    window = archive["bpm01/turn"][:]
    np.testing.assert_array_equal(data["values"].sel(lane="x1")[0], window.values("x1"))
    np.testing.assert_array_equal(data["turn"], window.turn)
    there = window.result != ReadResult.NOT_RECORDED  # other turns have about the time that the nominal rate gives
    np.testing.assert_array_equal(data["utc"].values[there], window.utc[there])
    assert list(data["unit"].values) == ["nm", ""]
    np.testing.assert_array_equal(archive.dask("bpm01/turn", 1200, 1210)[:, 0], 7 * np.arange(1200, 1210))


def test_nothing_is_read_before_it_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    before = StoredStream.read_window

    def counted(it: StoredStream, ranges: list[Range]) -> ringmaster.ArchiveWindow:
        reads.append(len(ranges))
        return before(it, ranges)

    monkeypatch.setattr(StoredStream, "read_window", counted)
    data = ringmaster.Archive(simple(tmp_path / "archive")).to_xarray("bpm*", records=100)
    some = data["values"][0, 250:260, 0]
    assert not reads
    assert list(some.values) == list(7.0 * np.arange(1250, 1260))
    assert len(reads) == 1


def test_a_stream_that_came_later_is_nan_before(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    one, other = (file.describe(Description(f"bpm0{i}/turn", lanes=LANES)) for i in (1, 2))
    add(file, one, 0, 100, epoch=1)
    add(file, other, 50, 100, epoch=1)
    add(file, one, 0, 10, epoch=2, begin_ns=BEGIN_NS + 10**9)
    file.seal()
    data = ringmaster.Archive(tmp_path / "archive").to_xarray("bpm*")
    assert list(data["epoch"].values) == [1] * 150 + [2] * 10
    wanted = 7.0 * np.array([*range(150), *range(10)])
    x = data["values"].sel(lane="x1").values
    np.testing.assert_array_equal(x[0], np.where((wanted < 700) | (np.arange(160) >= 150), wanted, np.nan))
    np.testing.assert_array_equal(x[1], np.where((wanted >= 350) & (np.arange(160) < 150), wanted, np.nan))


def test_streams_of_two_rates_are_refused(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    add(file, file.describe(Description("bpm01/turn", lanes=LANES)), 0, 10)
    add(file, file.describe(Description("bpm02/turn", lanes=LANES[:1])), 0, 10)
    file.seal()
    with pytest.raises(ringmaster.ArchiveArgument, match="other lanes"):
        ringmaster.Archive(tmp_path / "archive").to_xarray("bpm*")
    with pytest.raises(ringmaster.ArchiveArgument, match="nothing was recorded"):
        ringmaster.Archive(tmp_path / "archive").to_xarray("bpm01*", start=100)
    with pytest.raises(ringmaster.ObjectNotFound):
        ringmaster.Archive(tmp_path / "archive").to_xarray("blm*")


STEP = 1_157_000 * 60
"""Turns of a minute."""


def day(path: Path) -> Path:
    """The minutes of a day of two BPMs, in 24 blocks each."""
    file = ArchiveWriter(path).file("minutes", tai_ns=BEGIN_NS)
    for name in ("bpm01/turn", "bpm02/turn"):
        number = file.describe(Description(name, kind=3, period=STEP, lanes=LANES))
        for hour in range(24):
            first = hour * 60 * STEP
            file.records(number, steps(first, 60, STEP), 48, first, times(first, 60, STEP), kind=3)
    file.seal()
    return path


def test_a_day_is_analysed_on_two_workers(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    archive = ringmaster.Archive(day(tmp_path / "archive"))
    data = archive.to_xarray("bpm*", step=STEP, records=60)
    hourly = data["values"].coarsen(record=60).mean().sel(lane="x1_mean")
    workers = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, memory_limit=0
    )
    with workers, distributed.Client(workers) as client:
        computed = hourly.compute()
        pids = client.run(os.getpid)
    first = np.arange(24) * 60 * STEP
    np.testing.assert_allclose(computed[1], 7.0 * (first + 30 * STEP - 0.5), rtol=1e-6)
    assert len({os.getpid(), *pids.values()}) == 3
