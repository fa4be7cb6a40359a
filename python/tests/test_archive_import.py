# SPDX-License-Identifier: Apache-2.0
"""Recorded turns of other programs, put into an archive and read again."""

from pathlib import Path

import numpy as np
import pytest
from archives import simple
from command import ringmaster

import ringmaster as rm
from ringmaster.archive.write import LogFile
from ringmaster.fabric.window import ReadResult


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    x = np.arange(40_000, dtype=float)
    x[5] = np.nan
    np.savez(tmp_path / "turns.npz", **{"bpm01/x1": x, "bpm02/x1": -np.arange(100)})  # type: ignore[arg-type]
    return tmp_path / "turns.npz"


def test_a_recording_becomes_streams(npz: Path, tmp_path: Path) -> None:
    path = tmp_path / "archive"
    said = ringmaster(
        *("archive", "import", str(path), str(npz), "--rate", "1e6"),
        *("--at", "2026-11-25T14:00:00", "--first-turn", "700"),
    )
    assert "2 streams of 40000 turns" in said.stdout
    archive = rm.Archive(path)
    assert not archive.damages
    window = archive["bpm01/turn"][:]
    assert window.result[5] == ReadResult.MISSING
    assert window.ok.sum() == 39_999
    np.testing.assert_array_equal(window.values("x1"), np.where(window.ok, np.arange(40_000), np.nan))
    assert list(window.turn[[0, -1]]) == [700, 40_699]
    assert str(window.utc[0]) == "2026-11-25T14:00:00.000000000"
    assert window.utc[-1] - window.utc[0] == np.timedelta64(39_999_000, "ns")
    assert len(archive["bpm01/turn"].blocks) == 3
    assert archive["bpm02/turn"][:]["x1"][99] == -99


def test_it_may_join_a_recorders_archive(npz: Path, tmp_path: Path) -> None:
    path = simple(tmp_path / "archive")
    for _ in range(2):
        ringmaster("archive", "import", str(path), str(npz), "--rate", "1e6", "--log", "others")
    archive = rm.Archive(path)
    assert [file.number for file in archive.files if file.log == "others"] == [1, 2]
    assert not archive.foreign
    assert archive["bpm02/turn"].records == 200


def test_imports_that_cannot_be_are_refused(npz: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thing").touch()
    for words, arguments in {
        "is no archive": [str(tmp_path / "full"), str(npz)],
        "that the recorder does not use": [str(tmp_path / "new"), str(npz), "--log", "../x"],
        "is no time": [str(tmp_path / "new"), str(npz), "--at", "noon"],
        "format that is not known": [str(tmp_path / "new"), __file__],
    }.items():
        assert words in ringmaster("archive", "import", *arguments, "--rate", "1", expect=1).stderr


def test_a_file_that_failed_leaves_nothing(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "archive", "log", 1.0)
    file.__enter__()
    file.__exit__(ZeroDivisionError, None, None)
    assert not list((tmp_path / "archive/log").iterdir())
