# SPDX-License-Identifier: Apache-2.0
"""Aravis finds, sets and receives virtual cameras, bit for bit; and gets again what they lose."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from aravis_camera import Camera, Frame
from harness import free_udp_port, ringmaster, wait_for
from numpy.typing import NDArray

from ringmaster.programs.program import Program

WIDTH, HEIGHT = 320, 200
PICTURES = 4
SEARCHED_FOR = 40
"""Most frames that a test takes until it has seen what it wants: a starved host loses some."""


def address(number: int) -> str:
    """One on the loopback interface that no other test has."""
    return f"127.{1 + os.getpid() // 250 % 250}.{1 + os.getpid() % 250}.{number}"


@contextmanager
def virtual_cameras(folder: Path, entries: str) -> Iterator[Program]:
    """Two controlled cameras that run, with these entries in their overlay."""
    machine, overlay = folder / "machine.yaml", folder / "overlay.yaml"
    machine.write_text(
        "workspace: virtual-cameras\n"
        f"ports: [{{name: cameras, kind: udp, address: '127.0.0.1:{free_udp_port()}'}}]\n"
        f"cameras: [{{name: cam01, port: cameras, address: {address(11)}}},\n"
        f"  {{name: cam02, port: cameras, address: {address(12)}}}]\n"
    )
    overlay.write_text(f"cameras: [{{control: true, width: {WIDTH}, height: {HEIGHT}, {entries}}}]\n")
    with Program("ringmaster-virtual-cameras", "run", machine, overlay, "--json") as program:
        yield program


def opened(number: int) -> Camera:
    """A camera that has begun to listen, maybe later than we ask."""
    found: list[Camera] = []

    def look() -> bool:
        try:
            found.append(Camera(address(number)))
        except OSError:
            return False
        return True

    wait_for(look, "Aravis opens the camera")
    return found[0]


def counter_picture(frame: Frame, width: int, height: int, bits: int) -> NDArray[np.int64]:
    """What pattern `counter` shows in that frame; numbers begin with 1."""
    values = np.arange(width * height) + (frame.number - 1) % PICTURES
    return values & ((1 << bits) - 1)


def whole_frames(camera: Camera, wanted: int) -> list[Frame]:
    """So many that came whole."""
    good: list[Frame] = []
    for _ in range(SEARCHED_FOR):
        frame = camera.frame()
        if frame.status == 0:
            good.append(frame)
        if len(good) == wanted:
            return good
    raise AssertionError(f"of {SEARCHED_FOR} frames {len(good)} came whole, expected {wanted}")


def test_aravis_finds_and_sets_a_camera(tmp_path: Path) -> None:
    with virtual_cameras(tmp_path, "pixel_format: Mono12p"), opened(11) as camera:
        assert camera.text("DeviceVendorName") == "Ringmaster"
        assert camera.text("DeviceUserID") == "cam01"
        assert (camera.whole("Width"), camera.whole("Height")) == (WIDTH, HEIGHT)
        assert camera.whole("PayloadSize") == WIDTH * HEIGHT * 3 // 2
        camera.put("PixelFormat", "Mono16")
        camera.put("Width", WIDTH // 2)
        camera.put("AcquisitionFrameRate", 12.5)
        camera.put("ExposureTime", 250.0)
        assert camera.text("PixelFormat") == "Mono16"
        assert camera.whole("PayloadSize") == WIDTH // 2 * HEIGHT * 2
        assert (camera.number("AcquisitionFrameRate"), camera.number("ExposureTime")) == (12.5, 250.0)
        with pytest.raises(OSError, match="Width"):
            camera.put("Width", WIDTH + 1)
        with opened(12) as other:
            assert other.text("DeviceUserID") == "cam02"


@pytest.mark.parametrize("extended", ["false", "true"], ids=["short-ids", "extended-ids"])
def test_aravis_receives_frames_bit_for_bit(tmp_path: Path, extended: str) -> None:
    entries = f"pattern: counter, pixel_format: Mono16, rate_hz: 20, extended_ids: {extended}"
    with virtual_cameras(tmp_path, entries), opened(11) as camera:
        camera.start()
        for frame in whole_frames(camera, 6):
            seen = np.frombuffer(frame.data, "<u2")
            np.testing.assert_array_equal(seen, counter_picture(frame, WIDTH, HEIGHT, 16))
        camera.stop()
        camera.put("PixelFormat", "Mono8")
        assert camera.whole("PayloadSize") == WIDTH * HEIGHT


def test_a_stream_goes_on_with_other_settings(tmp_path: Path) -> None:
    with virtual_cameras(tmp_path, "pattern: counter, rate_hz: 20"):
        for width in (WIDTH, WIDTH // 2):
            with opened(11) as camera:
                camera.put("Width", width)
                camera.start()
                for frame in whole_frames(camera, 2):
                    seen = np.frombuffer(frame.data, np.uint8)
                    wanted = counter_picture(frame, width, HEIGHT, 8)
                    np.testing.assert_array_equal(seen, wanted)
                camera.stop()


def test_what_is_lost_is_sent_again(tmp_path: Path) -> None:
    entries = "pattern: counter, rate_hz: 10, faults: [{kind: lose, every: 7}]"
    with virtual_cameras(tmp_path, entries) as program:
        with opened(11) as camera:
            camera.start()
            for frame in whole_frames(camera, 8):
                seen = np.frombuffer(frame.data, np.uint8)
                np.testing.assert_array_equal(seen, counter_picture(frame, WIDTH, HEIGHT, 8))
            camera.stop()
        program.stop()
        counts = json.loads(program.words)["cameras"]["cam01"]
    assert counts["faults"]["lose"] > 8
    assert counts["resent"] > 8


def test_the_command_says_what_it_would_send(tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    machine.write_text(
        "workspace: check\nports: [{name: p, kind: udp, address: '127.0.0.1:20001'}]\n"
        "cameras: [{name: cam01, port: p, address: 127.0.0.11, format: fragments, pixel_format: Mono12p}]\n"
    )
    said = ringmaster("cameras", "virtual", machine, "--check").stdout
    assert said.startswith("cam01: fragments, Mono12p 640 × 480, 10 Hz, 329 packets of 1408 bytes a frame")
    assert "to 127.0.0.1:20001" in said


def test_the_overlay_that_ships_fits_the_machine_that_ships() -> None:
    done = ringmaster(
        "cameras", "virtual", "configs/cameras.yaml", "--cameras", "configs/virtual-cameras.yaml", "--check"
    )
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["cam01", "cam02", "cam03"]
