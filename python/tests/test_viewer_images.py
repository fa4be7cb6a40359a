# SPDX-License-Identifier: Apache-2.0
"""Frames of the fabric as the viewer takes them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cameras import MONO8, MONO12, MONO12P, Camera
from numpy.typing import NDArray

from ringmaster.errors import WorkspaceAbsent
from ringmaster.viewer.desk import AGAIN_S, Desk
from ringmaster.viewer.frame import INCOMPLETE, Frame, Still
from ringmaster.viewer.images import Images
from ringmaster.viewer.source import ReceiverEnded

BAYER_GR12P = 0x010C0057
PIXELS = np.arange(12 * 16, dtype=np.uint16).reshape(12, 16) * 21
ROWS = np.array([1, 4, 4, 11])


@pytest.fixture
def camera(root: Path) -> Iterator[Camera]:
    """Camera "cam01" of the workspace "demo"."""
    made = Camera()
    yield made
    made.close()


def packed(pixels: NDArray[Any], padding: int = 0) -> NDArray[Any]:
    """Lines as Mono12p."""
    first, second = pixels[:, ::2].astype(np.uint32), pixels[:, 1::2].astype(np.uint32)
    both = first | second << 12
    lines = np.stack([both & 255, both >> 8 & 255, both >> 16], axis=-1).astype(np.uint8).reshape(pixels.shape[0], -1)
    return np.pad(lines, ((0, 0), (0, padding)), constant_values=255)


def lines_of(frame: Frame | None) -> NDArray[Any]:
    """Some lines of a frame that is there."""
    assert frame is not None
    return frame.lines(ROWS)


def test_lines_of_every_packing(camera: Camera) -> None:
    with Images("demo") as source:
        assert (source.workspace, source.names) == ("demo", ("cam01",))
        camera.publish((PIXELS % 251).astype(np.uint8), MONO8)
        with source.frame("cam01") as frame:
            lines = lines_of(frame)
            assert lines.dtype == np.uint8
            assert np.array_equal(lines, (PIXELS % 251)[ROWS])
        camera.publish(PIXELS | 0xF000, MONO12)
        with source.frame("cam01") as frame:
            assert np.array_equal(lines_of(frame), PIXELS[ROWS])
        camera.publish(packed(PIXELS, padding=5), BAYER_GR12P, width=16, padding_x=5)
        with source.frame("cam01") as frame:
            assert np.array_equal(lines_of(frame), PIXELS[ROWS])
            assert frame is not None
            head = frame.head
            assert (head.pattern, head.bits, head.line_bytes, head.pixel_bits) == ("GR", 12, 29, 12)
            assert np.array_equal(Still(frame).pixels, PIXELS)
        with source.frame("cam01") as frame:
            assert frame is None


def test_the_newest_and_the_following_frame(camera: Camera) -> None:
    with Images("demo") as source:
        for number in (5, 6, 7):
            camera.publish(PIXELS, MONO12, number=number)
        with source.frame("cam01", following=True) as frame:
            assert frame is not None
            assert frame.head.number == 5
        with source.frame("cam01") as frame:
            assert frame is not None
            assert frame.head.number == 7


def test_the_map_and_what_is_said(camera: Camera) -> None:
    with Images("demo") as source:
        camera.publish(PIXELS, MONO12, status=INCOMPLETE, placed=8, fragment_bytes=40)
        camera.maps[camera.published[-1]][0] = 0b11101111
        with source.frame("cam01") as frame:
            assert frame is not None
            assert np.flatnonzero(~frame.arrived()).tolist() == [4]
            assert (frame.head.status, frame.head.fragments, frame.head.placed) == (INCOMPLETE, 10, 8)
            assert frame.head.turn is None
            assert frame.head.published_us is None


@pytest.mark.parametrize("members", [{"flags": 0}, {"pixel_format": 77}, {"height": 99}, {"width": 0}])
def test_a_geometry_that_cannot_be_shows_no_image(camera: Camera, members: dict[str, int]) -> None:
    desk = Desk(Images("demo"))
    camera.publish(PIXELS, **({"pixel_format": MONO12} | members))
    desk.look(0.0)
    assert desk.tiles["cam01"].shot is None
    assert desk.header("cam01", 0.0)[1] == "no geometry"


def test_a_viewer_holds_no_lease_between_two_looks(camera: Camera) -> None:
    desk = Desk(Images("demo"))
    desk.resize(200, 200)
    for number in range(30):
        camera.publish(packed(PIXELS), MONO12P, width=16, number=number)
        desk.look(number / 25)
    assert desk.tiles["cam01"].taken == 30
    held = [slot for slot in camera.published if not camera._lock(slot, 1)]
    assert held == []


def test_the_receiver_ends_and_another_one_comes(root: Path) -> None:
    first = Camera()
    source = Images("demo")
    desk = Desk(source)
    first.close()
    with pytest.raises(ReceiverEnded), source.frame("cam01"):
        pass
    desk.look(0.0)
    assert desk.ended
    assert not source.attach_again()
    second = Camera("cam02")
    desk.look(2 * AGAIN_S)
    assert list(desk.tiles) == ["cam02"]
    assert not desk.ended
    source.close()
    second.close()


def test_without_a_receiver_there_is_no_viewer(root: Path) -> None:
    with pytest.raises(WorkspaceAbsent):
        Images("demo")
