# SPDX-License-Identifier: Apache-2.0
"""What others read of an archive: HDF5, live and copied, Parquet, SDDS."""

import subprocess
import sys
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401 readers of compressed files need it
import numpy as np
import pyarrow.parquet
import pytest
import sdds
from archive_writer import ArchiveWriter
from archives import BEGIN_NS, STREAM, TURN_NS, add, simple
from command import ringmaster

import ringmaster as rm
from ringmaster.archive import live
from ringmaster.fabric.layout import TURN_NONE
from ringmaster.recordings.recording import read_recording


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(simple(tmp_path / "archive"))


@pytest.mark.parametrize("compress", [[], ["--compress"]])
def test_hdf5_has_turns_times_units_and_what_was_had(path: str, tmp_path: Path, compress: list[str]) -> None:
    said = ringmaster("archive", "export", path, "bpm01/turn", "-o", str(tmp_path / "out.h5"), *compress)
    assert "1000 records of 1 stream\n" in said.stdout
    with h5py.File(tmp_path / "out.h5") as file:
        data = file["bpm01/turn"]
        assert [file.attrs["NX_class"], file["bpm01"].attrs["NX_class"], data.attrs["NX_class"]] == [
            "NXroot",
            "NXentry",
            "NXdata",
        ]
        assert file[file.attrs["default"]].attrs["default"] == "turn"
        assert data[data.attrs["signal"]] == data["lanes/x1"]
        ok = data["ok"][:]
        assert ok.sum() == 899
        assert (data["x1"][:] == np.where(ok, 7 * data["turn"][:].astype(np.int64), 0)).all()
        assert data["x1"].attrs["units"] == "nm"
        assert data["utc"][0] == BEGIN_NS - 37 * 10**9 + 1000 * TURN_NS
        assert bool(compress) == bool(data["x1"]._filters)
    (read,) = read_recording(tmp_path / "out.h5")
    assert read.ok is not None
    assert read.ok.sum() == 899
    assert read.name == "bpm01"


def test_a_reduction_is_exported_with_its_four_lanes(path: str, tmp_path: Path) -> None:
    ringmaster("archive", "export", path, "bpm01/turn", "--step", "100", "-o", str(tmp_path / "out.h5"))
    with h5py.File(tmp_path / "out.h5") as file:
        data = file["bpm01/turn_per_100"]
        assert list(data["lanes"])[:4] == ["x1_min", "x1_mean", "x1_max", "x1_std"]
        assert (data["x1_min"][:] == 7 * data["turn"][:].astype(np.int64)).all()


def test_a_live_file_opens_with_h5py_alone(tmp_path: Path) -> None:
    simple(tmp_path / "archive")
    plain = ArchiveWriter(tmp_path / "archive").file("more")
    number = plain.describe(STREAM)
    for first in (2000, 2100, 2300):
        add(plain, number, first, 100)
    plain.save()
    out = tmp_path / "live.h5"
    said = ringmaster(
        *("archive", "export", str(tmp_path / "archive/more"), "bpm01/turn", "--live", "-o", str(out)),
        *("--from", "2050", "--until", "2350"),
    )
    assert "refers to 200 records" in said.stdout
    script = f"""
import h5py
with h5py.File({str(out)!r}) as file:
    records = file["bpm01/turn/records"]
    assert records.is_virtual
    assert list(records["turn"]) == [*range(2050, 2200), *range(2300, 2350)]
    assert list(records["x1"]) == [7 * int(turn) for turn in records["turn"]]
"""
    subprocess.run([sys.executable, "-I", "-c", script], check=True)
    assert out.stat().st_size < 20_000


def test_a_live_file_of_many_pieces_is_one_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_PIECES", 3)
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    number = file.describe(STREAM)
    for i in range(10):
        add(file, number, 10 * i, 10)
    file.seal()
    ringmaster("archive", "export", str(tmp_path / "archive"), "bpm01/turn", "--live", "-o", str(tmp_path / "live.h5"))
    with h5py.File(tmp_path / "live.h5") as opened:
        assert list(opened["bpm01/turn/records"]["x1"]) == [7 * turn for turn in range(100)]


def live_of_three_files(tmp_path: Path) -> tuple[ArchiveWriter, Path]:
    """An archive of three files of 100 turns, and a live file that refers to them all."""
    archive = ArchiveWriter(tmp_path / "archive")
    for number in (1, 2, 3):
        file = archive.file("turns", number)
        add(file, file.describe(STREAM), 100 * number, 100)
        file.seal()
    ringmaster("archive", "export", str(archive.path), "bpm01/turn", "--live", "-o", str(tmp_path / "live.h5"))
    return archive, tmp_path / "live.h5"


def test_a_live_file_outlives_files_that_retention_removes(tmp_path: Path) -> None:
    archive, live_file = live_of_three_files(tmp_path)
    assert not rm.Archive(archive.path).foreign
    for suffix in ("rmlog", "rmlog.h5"):  # as the recorder does
        (archive.path / f"turns/{1:016d}.{suffix}").unlink()
    with h5py.File(live_file) as file:
        records = file["bpm01/turn/records"][:]
    assert (records["turn"][:100] == TURN_NONE).all()
    assert (records["turn"][100:] == np.arange(200, 400)).all()
    assert (records["x1"][100:] == 7 * np.arange(200, 400)).all()


def test_a_live_file_stays_right_when_its_files_grow(tmp_path: Path) -> None:
    archive = ArchiveWriter(tmp_path / "archive")
    growing = archive.file("turns", 1)
    number = growing.describe(STREAM)
    for i in range(3):
        add(growing, number, 100 * i, 100)
        growing.save()
        ringmaster("archive", "export", str(archive.path), "bpm01/turn", "--live", "-o", str(tmp_path / f"{i}.h5"))
    for i in range(3):
        with h5py.File(tmp_path / f"{i}.h5") as file:
            assert (file["bpm01/turn/records"]["turn"] == np.arange(100 * (i + 1))).all()


def test_an_archive_that_may_only_be_read_has_live_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Path:
        raise PermissionError

    monkeypatch.setattr(live, "_write_beside", refuse)
    _, live_file = live_of_three_files(tmp_path)
    with h5py.File(live_file) as file:
        assert (file["bpm01/turn/records"]["turn"] == np.arange(100, 400)).all()


def test_compressed_blocks_cannot_be_seen_in_place(path: str, tmp_path: Path) -> None:
    said = ringmaster(*("archive", "export", path, "bpm01/turn", "--live", "-o", str(tmp_path / "live.h5")), expect=1)
    assert "is compressed" in said.stderr
    assert "without --live" in said.stderr


def test_parquet_has_a_row_for_each_record(path: str, tmp_path: Path) -> None:
    ringmaster("archive", "export", path, "bpm01/turn", "-o", str(tmp_path / "out.parquet"), "--until", "1010")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.column("x1").to_pylist() == [None if turn == 1003 else 7 * turn for turn in range(1000, 1010)]
    assert table.column("stream").unique().to_pylist() == ["bpm01/turn"]
    assert table.schema.metadata[b"unit x1"] == b"nm"
    assert table.column("utc").cast("int64")[0].as_py() == BEGIN_NS - 37 * 10**9 + 1000 * TURN_NS


def test_sdds_has_arrays_of_each_lane(path: str, tmp_path: Path) -> None:
    ringmaster("archive", "export", path, "bpm01/turn", "-o", str(tmp_path / "out.sdds"), "--until", "1010")
    read = sdds.read(str(tmp_path / "out.sdds"))
    assert list(read.values["bpm01/turn/turn"]) == list(range(1000, 1010))
    assert np.isnan(read.values["bpm01/turn/sum"][3])
    assert read.values["bpm01/turn/x1"][5] == 7 * 1005


def test_an_sdds_export_is_imported_again(path: str, tmp_path: Path) -> None:
    out = tmp_path / "out.sdds"
    ringmaster("archive", "export", path, "bpm01/turn", "-o", str(out), "--until", "1010")
    ringmaster(
        *("archive", "import", str(tmp_path / "again"), str(out), "--rate", "1e6", "--first-turn", "1000"),
    )
    with rm.Archive(path) as one, rm.Archive(tmp_path / "again") as other:
        before, after = one["bpm01/turn"][1000:1010], other["bpm01/turn"][:]
        assert other["bpm01/turn"].lanes == one["bpm01/turn"].lanes
        assert other["bpm01/turn"].instrument_kind == one["bpm01/turn"].instrument_kind
    assert (after.turn == before.turn).all()
    assert after.result.tolist() == before.result.tolist()
    for lane in ("x1", "sum"):
        np.testing.assert_array_equal(after.values(lane), before.values(lane))
    out.write_bytes(out.read_bytes().replace(b"bpm01/turn/ok", b"bpm01/turn/no"))
    said = ringmaster("archive", "import", str(tmp_path / "third"), str(out), "--rate", "1e6", expect=1).stderr
    assert "bpm01/turn is not whole" in said


def test_exports_that_cannot_be_are_refused(path: str, tmp_path: Path) -> None:
    out = tmp_path / "out.h5"
    for words, arguments in {
        "expected one of .h5": ["bpm01/turn", "-o", str(tmp_path / "out.mat")],
        "did you mean": ["bpm1/turn", "-o", str(out)],
        "nothing was recorded": ["bpm01/turn", "--from", "2000-01-01", "--until", "2000-01-02", "-o", str(out)],
        "no reduction of 7": ["bpm01/turn", "--step", "7", "-o", str(out)],
    }.items():
        code = 7 if "did" in words or "no reduction" in words else 1
        assert words in ringmaster("archive", "export", path, *arguments, expect=code).stderr
    assert not out.exists()
    ringmaster("archive", "export", path, "bpm01/turn", "-o", str(out))
    assert "not overwritten" in ringmaster("archive", "export", path, "bpm01/turn", "-o", str(out), expect=1).stderr


def test_what_was_written_before_ctrl_c_is_kept(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ringmaster.archive import pieces
    from ringmaster.recordings.export import Hdf5Writer

    monkeypatch.setattr(pieces.Piecewise.windows, "__defaults__", (200,))
    before, count = Hdf5Writer.append, iter(range(100))

    def stop_after_two(writer: Hdf5Writer, window: object) -> None:
        if next(count) == 2:
            raise KeyboardInterrupt
        before(writer, window)  # type: ignore[arg-type]

    monkeypatch.setattr(Hdf5Writer, "append", stop_after_two)
    out = tmp_path / "out.h5"
    said = ringmaster("archive", "export", path, "bpm01/turn", "-o", str(out), expect=130)
    assert "400 of 1000" in said.stderr
    with h5py.File(out) as file:
        assert list(file["bpm01/turn/turn"]) == list(range(1000, 1400))
