# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras as Python reads them: without a copy, leased as long as an array looks at them."""

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import fabric
import numpy as np
import numpy.typing as npt
import pytest
from cameras import MONO12, MONO12P, Camera
from command import ringmaster as command
from conftest import MakeOwner

import ringmaster
from ringmaster.errors import FramesHeld, ObjectNotFound, WorkspaceAbsent, WorkspaceDead
from ringmaster.fabric.layout import ImageMarks

MakeCamera = Callable[..., Camera]


@pytest.fixture
def make_camera(root: Path) -> Iterator[MakeCamera]:
    """Makes images; they end with the test."""
    made: list[Camera] = []

    def make(**options: object) -> Camera:
        made.append(Camera(**options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for camera in made:
        camera.close()


@pytest.fixture
def camera(make_camera: MakeCamera) -> Camera:
    """Camera "cam01" of the workspace "demo", which has no server."""
    return make_camera()


def picture(seed: int) -> npt.NDArray[np.uint8]:
    """Shape (5, 7)."""
    return (np.arange(35, dtype=np.uint8).reshape(5, 7) * 3 + seed).astype(np.uint8)


def taken(frames: ringmaster.Frames) -> ringmaster.Frame:
    """The next frame, which lies ready."""
    frame = frames.next(0)
    assert frame is not None
    return frame


def test_a_loop_over_frames(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    for number in range(5):
        camera.publish(picture(number), number=number, turn=1000 + number, flags=ImageMarks.HAS_GEOMETRY | 2)
    seen = []
    for frame in frames:
        assert frame.image.base is not None
        np.testing.assert_array_equal(frame.image, picture(frame.number))
        seen.append((frame.number, frame.turn, frame.sequence))
        if len(seen) == 5:
            break
    assert seen == [(i, 1000 + i, 1 + i) for i in range(5)]
    assert frames.next(0) is None
    camera.publish(picture(9), number=9)
    assert taken(frames).number == 9


def test_what_a_frame_says(camera: Camera) -> None:
    frames = ringmaster.frames("cam01", "demo")
    marks = ImageMarks.HAS_GEOMETRY | ImageMarks.HAS_EXPOSURE | ImageMarks.GEOMETRY_CHANGED
    members = {"device_time": 5, "tai_ns": 6, "exposure_start_ns": 7, "exposure_end_ns": 8, "fragment_bytes": 4}
    camera.publish(picture(0), flags=marks, status=1, placed=9, resent=2, offset_x=11, offset_y=12, **members)
    camera.maps[0][0] = 0b11110111
    frame = taken(frames)
    assert (frame.camera, frame.turn, frame.exposure_ns, frame.device_time, frame.tai_ns) == (
        "cam01",
        None,
        (7, 8),
        5,
        6,
    )
    assert (frame.fragments, frame.placed, frame.resent, frame.fragment_bytes) == (10, 9, 2, 4)
    assert frame.status is ringmaster.ImageStatus.INCOMPLETE
    assert np.flatnonzero(frame.missing).tolist() == [3]
    geometry = frame.geometry
    assert geometry is not None
    assert (geometry.pixel_format, geometry.bits, geometry.width, geometry.height) == ("Mono8", 8, 7, 5)
    assert (geometry.offset_x, geometry.offset_y, geometry.changed) == (11, 12, True)
    assert repr(frame) == "<frame 0 of cam01: 7 x 5 Mono8, incomplete>"


def test_pixels_of_sixteen_bits_and_padding(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    values = np.arange(12, dtype=np.uint16).reshape(3, 4) * 300
    padded = np.hstack([values.view(np.uint8).reshape(3, 8), np.full((3, 3), 0xEE, np.uint8)])
    camera.publish(padded, MONO12, width=4, padding_x=3)
    frame = taken(frames)
    assert frame.image.dtype == np.uint16
    np.testing.assert_array_equal(frame.image, values)
    np.testing.assert_array_equal(frame.unpacked(), values)
    assert frame.bytes.size == 33


def test_packed_pixels(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    packed = np.array([[0x21, 0x43, 0x65], [0xBA, 0xDC, 0xFE]], np.uint8)
    camera.publish(packed, MONO12P, width=2)
    frame = taken(frames)
    with pytest.raises(ValueError, match="share bytes"):
        _ = frame.image
    assert frame.bytes.tolist() == packed.ravel().tolist()
    assert frame.unpacked().tolist() == [[0x321, 0x654], [0xCBA, 0xFED]]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"flags": 0}, "without a geometry"),
        ({"height": 6}, "has 35 of 42 bytes"),
        ({"padding_x": 4000000000}, "has 35 of 16"),
        ({"height": 0}, "only `bytes`"),
        ({"width": 4000000000}, "only `bytes`"),
        ({"pixel_format": 77}, "0x0000004D"),
    ],
)
def test_a_geometry_that_lies(camera: Camera, members: dict[str, int], words: str) -> None:
    frames = ringmaster.frames("cam01")
    camera.publish(picture(0), **members)
    frame = taken(frames)
    with pytest.raises(ValueError, match=words):
        _ = frame.image
    with pytest.raises(ValueError, match=words):
        frame.unpacked()
    assert frame.bytes.size == 35


def test_arrays_are_read_only_and_keep_their_frame(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    camera.publish(picture(0))
    frame = taken(frames)
    image = frame.image
    with pytest.raises(ValueError, match="read-only"):
        image[0, 0] = 1
    frame.release()
    for look in ("image", "bytes", "missing"):
        with pytest.raises(ValueError, match="was released"):
            getattr(frame, look)
    for number in range(1, 30):
        camera.publish(picture(number), number=number)
    np.testing.assert_array_equal(image, picture(0))  # its slot was not taken
    row = image[2]
    del image
    for number in range(30, 60):
        camera.publish(picture(number), number=number)
    np.testing.assert_array_equal(row, picture(0)[2])
    del row
    newest = frames.newest(0)
    assert newest is not None
    assert (newest.number, newest.passed_over) == (59, 58)


def test_released_slots_are_taken_again(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    for number in range(100):
        camera.publish(picture(number), number=number)
        with taken(frames) as frame:
            assert frame.number == number
    assert sorted(set(camera.published)) == list(range(8))  # none was lost


def test_a_reader_that_keeps_frames(camera: Camera, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringmaster.fabric.images.NO_LEASE_S", 0.01)
    frames, other = ringmaster.frames("cam01"), ringmaster.frames("cam01")
    for number in range(4):
        camera.publish(picture(number), number=number)
    kept = [taken(frames).image, taken(frames).image]
    assert frames.next(0) is None
    with pytest.raises(FramesHeld, match="3 leases are held, 2 of them here"):
        frames.next()
    assert [frame.number for _, frame in zip(range(4), other, strict=False)] == [0, 1, 2, 3]
    kept.pop()
    assert taken(frames).number == 2
    np.testing.assert_array_equal(kept[0], picture(0))


def test_arrays_that_another_thread_lets_go(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    for number in range(200):
        camera.publish(picture(number), number=number)
        images = [taken(frames).image]
        thread = threading.Thread(target=images.clear)
        thread.start()
        thread.join()
    assert frames.next(0) is None
    assert sorted(set(camera.published)) == list(range(8))


def test_arrays_outlive_reader_and_receiver(make_camera: MakeCamera, root: Path) -> None:
    camera = make_camera()
    frames = ringmaster.frames("cam01")
    camera.publish(picture(3))
    image = taken(frames).image
    frames.close()
    with pytest.raises(ValueError, match="closed"):
        frames.next(0)
    del frames
    np.testing.assert_array_equal(image, picture(3))


def test_the_loop_ends_with_the_receiver(root: Path) -> None:
    camera = Camera()
    frames = ringmaster.frames("cam01")
    camera.publish(picture(0))
    camera.publish(picture(1))
    camera.close()
    assert len(list(frames)) == 2
    with pytest.raises(WorkspaceDead, match="has ended"):
        frames.next()
    with pytest.raises(WorkspaceAbsent):
        ringmaster.frames("cam01", "demo")


def test_an_interrupt_ends_waiting(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    timer = threading.Timer(0.05, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT))

    def wait() -> None:
        timer.start()
        frames.next()

    with pytest.raises(KeyboardInterrupt):  # it may come at any instant from the start on
        wait()
    timer.join()


def test_waiting_ends_with_a_frame_or_the_timeout(camera: Camera) -> None:
    frames = ringmaster.frames("cam01")
    assert frames.next(0.001) is None
    threading.Timer(0.01, lambda: camera.publish(picture(5), number=5)).start()
    frame = frames.next(60)
    assert frame is not None
    assert frame.number == 5


def test_which_cameras_there_are(camera: Camera, root: Path) -> None:
    assert ringmaster.camera_names() == ["cam01"]
    with pytest.raises(ObjectNotFound, match='nearest name is "images/cam01"'):
        ringmaster.frames("cam02")
    with pytest.raises(WorkspaceAbsent):
        ringmaster.frames("cam01", "other")


def test_a_workspace_with_a_server_and_cameras(make_owner: MakeOwner, make_camera: MakeCamera) -> None:
    make_owner([fabric.clock()])
    camera = make_camera()
    shown = [line for line in command("ls", "-w", "demo").stdout.splitlines() if "images/cam01" in line]
    assert len(shown) == 1
    assert shown[0].split()[:2] == ["images/cam01", "images"]
    frames = ringmaster.frames("cam01")
    camera.publish(picture(2))
    np.testing.assert_array_equal(taken(frames).image, picture(2))


def test_a_workspace_without_cameras(root: Path) -> None:
    with pytest.raises(WorkspaceAbsent, match="ringmaster cameras run"):
        ringmaster.frames("cam01")
