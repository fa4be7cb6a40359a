# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras through the recorder and out of the archive: bit for bit, in a workspace without a server."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pytest
from harness import kill_at_once, terminate, unique_name, wait_for
from numpy.typing import NDArray

from ringmaster import Archive
from ringmaster.archive.archive import MarkReason
from ringmaster.archive.images import StoredFrame
from ringmaster.errors import ArchiveError
from ringmaster.fabric.layout import ImageStatus
from ringmaster.programs.program import Program

PUBLISH = Path(__file__).parents[2] / "build/tests/images/publish_images"
CAMERAS = (("cam01", "Mono12p", 64, 48), ("cam02", "BayerRG8", 50, 40), ("cam03", "RAW10", 64, 33))
FRAGMENT_BYTES = 1000
SLOTS = 16


class Publisher:
    """Cameras that publish what they are asked to."""

    def __init__(self, workspace: str) -> None:
        words = [f"{name}:{pixel_format}:{width}x{height}" for name, pixel_format, width, height in CAMERAS]
        self._process = subprocess.Popen(
            [PUBLISH, workspace, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def publish(self, camera: int, frames: int, how: str = "") -> int:
        """The newest number then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{camera} {frames} {how}\n")
        self._process.stdin.flush()
        index, number = self._process.stdout.readline().split()
        assert int(index) == camera
        return int(number)


@dataclass
class Site:
    """A workspace of cameras, and the file of a recorder."""

    workspace: str
    record: Path
    archive: Path

    def recorder(self) -> Program:
        """One that runs by the file."""
        return Program("ringmaster-record", "run", self.record, "--json")

    def recorded(self, camera: str = "cam01") -> list[StoredFrame]:
        """What is in the archive now."""
        try:
            archive = Archive(self.archive)
        except ArchiveError:
            return []
        return list(archive.images(camera)) if any(one.name == camera for one in archive.cameras) else []

    def lost(self, camera: str = "cam01") -> int:
        """Frames that marks tell of."""
        return sum(mark.records for mark in Archive(self.archive).marks if mark.name == camera)


@pytest.fixture(params=["none", "zstd"])
def compress(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def site(root: Path, tmp_path: Path, compress: str) -> Iterator[Site]:
    name, record, archive = unique_name("images"), tmp_path / "record.yaml", tmp_path / "archive"
    record.write_text(
        f"workspace: {name}\ndirectory: {archive}\nquota: 200 MB\n"
        f"images: [{{name: frames, cameras: ['cam*'], compress: {compress}}}]\n"
    )
    yield Site(name, record, archive)
    shutil.rmtree(root / name, ignore_errors=True)


def bytes_of(camera: int, frame: StoredFrame) -> NDArray[np.uint8]:
    """What publish_images.c has put there."""
    i = np.arange(len(frame.bytes))
    known: NDArray[np.uint8] = (31 * frame.number + 17 * camera + 7 * i + i // 256).astype(np.uint8)
    known[np.repeat(frame.missing, FRAGMENT_BYTES)[: len(known)]] = 0
    return known


def assert_frames(camera: int, frames: list[StoredFrame], incomplete: int = -1) -> None:
    _, pixel_format, width, height = CAMERAS[camera]
    for frame in frames:
        assert frame.geometry is not None
        assert frame.geometry.pixel_format == pixel_format
        assert frame.unpacked().shape == (height, width)
        assert (frame.bytes == bytes_of(camera, frame)).all()
        assert (frame.turn, frame.device_time) == (100 * frame.number, 1000 * frame.number)
        whole = frame.number != incomplete
        assert frame.status == (ImageStatus.WHOLE if whole else ImageStatus.INCOMPLETE)
        assert list(frame.missing) == [not whole and i == frame.fragments - 1 for i in range(frame.fragments)]


def test_every_frame_comes_back_bit_for_bit(site: Site, compress: str) -> None:
    with Publisher(site.workspace) as cameras, site.recorder() as recorder:
        wait_for_begin(site, cameras)
        numbers = [0, 0, 0]
        for round_ in range(4):  # no more frames at a time than a camera has slots
            for camera in range(len(CAMERAS)):
                numbers[camera] = cameras.publish(camera, SLOTS // 2 - 1)
            numbers[1] = cameras.publish(1, 1, "incomplete" if round_ == 3 else "")
            wait_for(lambda: [last_of(site, name) for name, *_ in CAMERAS] == numbers, "the frames of a round")
        assert terminate(recorder) == 0, recorder.words
        summary = json.loads(recorder.words.splitlines()[-1])["logs"]["frames"]
    for camera, (name, *_) in enumerate(CAMERAS):
        frames = site.recorded(name)
        first = frames[0].number
        assert [frame.number for frame in frames] == list(range(first, numbers[camera] + 1))
        assert [frame.sequence for frame in frames] == [frame.number for frame in frames]
        assert_frames(camera, frames, numbers[1] if camera == 1 else -1)
        assert site.lost(name) == 0
    assert summary["lost"] == 0
    assert summary["records"] == sum(len(site.recorded(name)) for name, *_ in CAMERAS)
    archive = Archive(site.archive)
    assert archive.damages == ()
    assert set(archive.camera("cam01").blocks["codec"]) == {0 if compress == "none" else 2}
    assert all(file.sealed for file in archive.files)


def wait_for_begin(site: Site, cameras: Publisher) -> None:
    """Until the recorder has a frame of each camera: it begins with the next one."""
    for camera, (name, *_) in enumerate(CAMERAS):

        def begun(camera: int = camera, name: str = name) -> bool:
            cameras.publish(camera, 1)
            return bool(site.recorded(name))

        wait_for(begun, f"the recorder at {name}")


def last_of(site: Site, camera: str) -> int:
    frames = site.recorded(camera)
    return frames[-1].number if frames else 0


@pytest.mark.parametrize("compress", ["none"], indirect=True)
def test_a_recorder_that_is_lapped_counts_what_it_lost(site: Site) -> None:
    with Publisher(site.workspace) as cameras, site.recorder() as recorder:
        wait_for_begin(site, cameras)
        before = cameras.publish(0, 1)
        wait_for(lambda: last_of(site, "cam01") == before, "a frame")
        os.kill(recorder.pid, signal.SIGSTOP)
        cameras.publish(0, 100)
        os.kill(recorder.pid, signal.SIGCONT)
        last = cameras.publish(0, 1)
        wait_for(lambda: last_of(site, "cam01") == last, "the newest frame")
        assert terminate(recorder) == 0, recorder.words
        summary = json.loads(recorder.words.splitlines()[-1])["logs"]["frames"]
    frames = site.recorded()
    lost = summary["lost"]
    assert 100 - SLOTS <= lost <= 100
    assert sum(frame.passed_over for frame in frames) == lost
    assert site.lost() == lost
    assert len(frames) + lost == last - frames[0].number + 1
    assert_frames(0, frames)
    told = [event.what for event in Archive(site.archive).events() if event.what.get("camera") == "cam01"]
    assert sum(event["count"] for event in told) == lost
    assert {event["reason"] for event in told} == {"lapped"}


@pytest.mark.parametrize("compress", ["none"], indirect=True)
def test_frames_that_were_written_outlive_a_killed_recorder(site: Site) -> None:
    with Publisher(site.workspace) as cameras:
        with site.recorder() as recorder:
            wait_for_begin(site, cameras)
            before = cameras.publish(0, 5)
            wait_for(lambda: last_of(site, "cam01") == before, "the frames")
            kill_at_once(recorder.pid)
        kept = site.recorded()
        assert kept[-1].number == before
        with site.recorder() as recorder:
            # What reads a file while its end is cut off gets a SIGBUS: the recorder does so before it says this.
            wait_for(lambda: "recording workspace" in recorder.words, "the next recorder")
            wait_for_begin(site, cameras)
            last = cameras.publish(0, 1)
            wait_for(lambda: last_of(site, "cam01") == last, "a frame of the next recorder")
            assert terminate(recorder) == 0, recorder.words
    frames = site.recorded()
    assert [frame.number for frame in frames[: len(kept)]] == [frame.number for frame in kept]
    assert_frames(0, frames)


@pytest.mark.parametrize("compress", ["none"], indirect=True)
def test_cameras_that_come_again_are_recorded_again(site: Site) -> None:
    with site.recorder() as recorder:
        for times in range(2):
            with Publisher(site.workspace) as cameras:
                had = len(site.recorded())
                wait_for_begin_again(site, cameras, had)

            def told(before: int = times) -> bool:
                return ends_of(site) > before

            wait_for(told, "the mark of their end")
        assert terminate(recorder) == 0, recorder.words
    assert_frames(0, site.recorded())


def ends_of(site: Site) -> int:
    """How often it is marked that the owner of a camera has ended."""
    return sum(mark.reason == MarkReason.OWNER_GONE and mark.name == "cam01" for mark in Archive(site.archive).marks)


def wait_for_begin_again(site: Site, cameras: Publisher, had: int) -> None:
    """Until there is one more frame than there were."""

    def more() -> bool:
        cameras.publish(0, 1)
        return len(site.recorded()) > had

    wait_for(more, "frames of cameras that came again")
