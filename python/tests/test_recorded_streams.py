# SPDX-License-Identifier: Apache-2.0
"""Live streams copied into a folder of files: all that came, once, in order."""

from pathlib import Path

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.errors import StreamRestarted
from ringmaster.fabric import layout
from ringmaster.fabric.stream import Stream
from ringmaster.recordings.streams import HEAD, HEAD_BYTES, MAGIC, StreamRecorder

NAMES = ("feedback/decision", "bpm01/raw")
Setup = tuple[fabric.Owner, list[Stream]]


@pytest.fixture
def ring(make_owner: MakeOwner) -> Setup:
    """Two streams of 64 records, of which the writer keeps 8 to itself."""
    owner = make_owner([fabric.stream(name, period=12) for name in NAMES])
    with ringmaster.attach("demo") as ws:
        return owner, [ws.streams[name] for name in NAMES]


def turns(folder: Path, name: str) -> list[int]:
    """Of all records of a file."""
    words = np.fromfile(folder / f"{name.replace('/', '.')}.records", "<u8", offset=HEAD_BYTES)
    return [int(turn) for turn in words.reshape(-1, layout.RECORD_BYTES // 8)[:, 0]]


def test_all_that_comes_is_there_once(ring: Setup, tmp_path: Path) -> None:
    owner, streams = ring
    with StreamRecorder(tmp_path, streams) as recorder:
        recorder.follow()
        owner.fill(NAMES[1], 1200, 1200 + 12 * 9, 12)
        recorder.follow()
        recorder.follow()
        owner.fill(NAMES[0], 1200, 1212, 12)
        owner.fill(NAMES[1], 1320, 1320 + 12 * 29, 12)
        owner.store(NAMES[1], layout.TURN_NONE, at_turn=1344)
        recorder.follow()
        assert recorder.lost == 0
    assert turns(tmp_path, NAMES[0]) == [1200, 1212]
    assert turns(tmp_path, NAMES[1]) == [turn for turn in range(1200, 1320 + 12 * 30, 12) if turn != 1344]


def test_a_file_names_and_describes_its_stream(ring: Setup, tmp_path: Path) -> None:
    with StreamRecorder(tmp_path, ring[1]):
        pass
    path = tmp_path / "bpm01.raw.records"
    assert path.stat().st_size == HEAD_BYTES
    head = np.fromfile(path, HEAD)[0]
    assert (head["magic"], head["version"], head["abi_version"]) == (MAGIC, 1, layout.ABI_VERSION)
    assert head["name"] == b"bpm01/raw"
    described = np.frombuffer(head["stream"].tobytes(), layout.STREAM)[0]
    assert (described["period"], described["lane"][1]["name"]) == (12, b"y1")


def test_what_was_overwritten_is_counted(ring: Setup, tmp_path: Path) -> None:
    owner, streams = ring
    with StreamRecorder(tmp_path, streams) as recorder:
        owner.fill(NAMES[1], 1200, 1200 + 12 * 9, 12)
        recorder.follow()
        owner.fill(NAMES[1], 1320, 1320 + 12 * 99, 12)
        recorder.follow()
        kept = turns(tmp_path, NAMES[1]) if recorder.lost == 0 else None
    assert kept is None
    assert recorder.lost == 100 - (len(turns(tmp_path, NAMES[1])) - 10)


def test_a_restart_ends_a_recording(ring: Setup, tmp_path: Path) -> None:
    owner, streams = ring
    with StreamRecorder(tmp_path, streams) as recorder:
        owner.fill(NAMES[1], 1200, 1212, 12)
        recorder.follow()
        owner.publish(NAMES[1], 12, 12, turn_epoch=1)
        with pytest.raises(StreamRestarted, match="bpm01/raw: its turns have begun anew; close this recording"):
            recorder.follow()
    assert turns(tmp_path, NAMES[1]) == [1200, 1212]
