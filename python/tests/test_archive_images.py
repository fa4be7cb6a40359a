# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras in an archive, read by time, turn and number."""

from pathlib import Path

import numpy as np
import pytest
from archive_writer import ArchiveWriter, Image
from archived_images import CAMERA, MONO8, WIDTH, packed, two_files, values

import ringmaster
from ringmaster.fabric.layout import ImageStatus


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return two_files(tmp_path / "archive")


@pytest.fixture
def archive(path: Path) -> ringmaster.Archive:
    return ringmaster.Archive(path)


def test_frames_bit_for_bit(archive: ringmaster.Archive) -> None:
    frames = list(archive.images("cam01"))
    assert [one.number for one in frames] == [0, 1, 2, 3, 4, 7]
    for one in frames:
        assert one.bytes.tobytes() == packed(values(one.number), 2)
        assert (one.unpacked() == values(one.number)).all()
        assert (one.turn, one.sequence, one.device_time) == (1000 * one.number, one.number + 1, 1000 * one.number)
        assert one.geometry is not None
        assert (one.geometry.pixel_format, one.geometry.bits, one.geometry.width) == ("Mono12p", 12, WIDTH)
    assert archive.damages == ()


def test_what_is_missing_of_a_frame(archive: ringmaster.Archive) -> None:
    bad = [one for one in archive.images("cam01") if one.status != ImageStatus.WHOLE]
    assert [(one.number, one.status, list(one.missing)) for one in bad] == [(3, ImageStatus.INCOMPLETE, [True, False])]


def test_by_time_turn_and_number(archive: ringmaster.Archive) -> None:
    camera = archive.camera("cam01")
    assert camera.records == 6
    begin = camera.utc[1]
    assert [one.number for one in archive.images("cam01", begin, begin + np.timedelta64(200, "ms"))] == [1, 2]
    assert [one.number for one in archive.images("cam01", 1000, 4000)] == [1, 2, 3]
    assert [one.number for one in archive.images("cam01", 4, None, by="number")] == [4, 7]
    assert next(archive.images("cam01", begin)).utc == begin
    with pytest.raises(ringmaster.ArchiveError, match="two of a kind"):
        next(archive.images("cam01", 4, begin))
    with pytest.raises(ringmaster.ArchiveError, match="'turn' or 'number'"):
        next(archive.images("cam01", 4, by="frame"))


def test_a_camera_that_is_not_there(archive: ringmaster.Archive) -> None:
    assert [camera.name for camera in archive.cameras] == ["cam01"]
    with pytest.raises(ringmaster.ObjectNotFound, match="cam01"):
        next(archive.images("cam02"))
    assert archive.streams == ()


def test_a_damaged_frame_is_left_out_and_named(path: Path) -> None:
    file = path / "frames/0000000000000001.rmlog"
    data = bytearray(file.read_bytes())
    block = ringmaster.Archive(path).camera("cam01").blocks[2]
    data[int(block["offset"]) + 64 + 200] ^= 1
    file.write_bytes(data)
    archive = ringmaster.Archive(path)
    assert [one.number for one in archive.images("cam01")] == [0, 1, 3, 4, 7]
    assert [damage.offset for damage in archive.damages] == [block["offset"]]


def test_frames_are_found_where_files_change_meanwhile(path: Path) -> None:
    archive = ringmaster.Archive(path)
    frames = archive.images("cam01")
    assert next(frames).number == 0
    file = path / "frames/0000000000000001.rmlog"
    other = file.with_suffix(".again")
    other.write_bytes(file.read_bytes())
    other.rename(file)  # as where the recorder stores it anew
    assert [one.number for one in frames] == [1, 2, 3, 4, 7]
    frames = archive.images("cam01")
    assert next(frames).number == 0
    file.unlink()
    archive.refresh()
    assert [one.number for one in frames] == [7]


def test_pixels_that_are_not_known(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("frames")
    camera = file.describe(CAMERA)
    file.image(camera, Image(1, pixel_format=0), bytes(32))
    file.image(camera, Image(2, height=400), bytes(32))
    file.image(camera, Image(3, pixel_format=MONO8), bytes(range(32)))
    file.seal()
    unknown, short, good = ringmaster.Archive(tmp_path / "archive").images("cam01")
    with pytest.raises(ValueError, match="only `bytes` can be read"):
        unknown.unpacked()
    with pytest.raises(ValueError, match="32"):
        short.unpacked()
    assert good.turn is None
    assert (good.image == np.arange(32).reshape(4, 8)).all()
