# SPDX-License-Identifier: Apache-2.0
"""The window of `ringmaster view` on a screen of its own, before cameras that the test sends, through a receiver."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from fragments import FragmentCamera
from harness import TIMEOUT_S, command_line, free_udp_port, kill_at_once, terminate, unique_name, wait_for
from numpy.typing import NDArray
from PIL import Image
from screens import screen

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.images import camera_names, frames
from ringmaster.programs.program import Program
from ringmaster.viewer.desk import Desk
from ringmaster.viewer.images import Images

WIDTH, HEIGHT = 160, 120
WINDOW = (640, 520)
BESIDE = (32, 36, 40)
HATCH = (255, 64, 64)
AGAIN_S = 5.0
"""A frame that was not published by then was lost, on a host that is starved: the next one goes."""
Pixels = NDArray[Any]


@pytest.fixture(autouse=True)
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen, for this process and those that it starts."""
    with screen() as name:
        monkeypatch.setenv("DISPLAY", name)
        yield


class Receiver:
    """The receiver of one camera, which is killed and started again. It delivers whole frames, or what is there after
    a second.
    """

    def __init__(self, folder: Path, incomplete: str = "drop") -> None:
        self.udp_port, self.workspace = free_udp_port(), unique_name("view")
        self._file = folder / "cameras.yaml"
        self._file.write_text(
            f"workspace: {self.workspace}\nturn_rate_hz: 1000000\npolling: {{naps: true}}\n"
            f"ports:\n  - {{name: cameras, kind: udp, address: '127.0.0.1:{self.udp_port}'}}\n"
            "cameras:\n  - {name: cam01, port: cameras, format: fragments, id: 1, frame_bytes: 65536,"
            f" deadline_ms: 1000, incomplete: {incomplete}}}\n"
        )
        self.program: Program | None = None

    def start(self) -> None:
        """Runs until it is ready."""
        self.program = Program("ringmaster-cameras", self._file)
        wait_for(self._is_there, "the receiver")

    def kill(self) -> None:
        """As by `kill -9`."""
        assert self.program is not None
        kill_at_once(self.program.pid)
        self.program.__exit__(None, None, None)
        self.program = None

    def _is_there(self) -> bool:
        try:
            frames("cam01", self.workspace).newest(0)
        except WorkspaceError:
            return False
        return camera_names(self.workspace) == ["cam01"]


@pytest.fixture
def incomplete() -> str:
    """What becomes of frames that are not whole."""
    return "drop"


@pytest.fixture
def receiver(root: Path, tmp_path: Path, incomplete: str) -> Iterator[Receiver]:
    """It runs."""
    made = Receiver(tmp_path, incomplete)
    made.start()
    yield made
    if made.program is not None:
        terminate(made.program)
        made.program.__exit__(None, None, None)


class PacedCamera:
    """What the receiver hears: a frame when the one before was published, so that nothing overflows."""

    def __init__(self, receiver: Receiver) -> None:
        self._camera = FragmentCamera(receiver.udp_port)
        self._workspace = receiver.workspace
        self.begin()

    def begin(self) -> None:
        """Before a receiver that has just started."""
        self._reader = frames("cam01", self._workspace)
        self._again_s = 0.0

    def send(self, pixels: Pixels, without: tuple[int, ...] = ()) -> None:
        """Sends a frame, where its turn has come."""
        if self._reader.newest(0) is not None or monotonic() > self._again_s:
            self._again_s = monotonic() + AGAIN_S
            self._camera.send(pixels, without)

    def close(self) -> None:
        """Sends no more."""
        self._camera.close()


@pytest.fixture
def camera(receiver: Receiver) -> Iterator[PacedCamera]:
    """It sends when it is told."""
    made = PacedCamera(receiver)
    yield made
    made.close()


def pattern(seed: int, most: int = 256) -> Pixels:
    """Blocks of many values, no line like another."""
    line, column = np.mgrid[:HEIGHT, :WIDTH]
    values = (line * 5 + column * 3 + seed * 37) % most
    return np.asarray(values, np.uint8 if most <= 256 else np.uint16)


def picture_in(capture: Path) -> Pixels:
    """The picture in a window: from its middle on as far as it goes, [row, column, colour]."""
    with Image.open(capture) as read:
        window = np.asarray(read.convert("RGB"))
    inside = (window != BESIDE).any(axis=2)
    middle = window.shape[0] // 2, window.shape[1] // 2
    rows, columns = (
        reach(line, at) for line, at in ((inside[:, middle[1]], middle[0]), (inside[middle[0]], middle[1]))
    )
    return window[rows, columns]


def reach(line: NDArray[np.bool_], at: int) -> slice:
    """The run of trues around a place."""
    gaps = np.flatnonzero(~line)
    before, after = gaps[gaps < at], gaps[gaps > at]
    return slice(int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else line.size)


def enlarged(pixels: Pixels, like: Pixels) -> Pixels:
    """An image as large as a picture, whose pixels are each so many of the screen."""
    rows, columns = (
        ((np.arange(shown) + 0.5) * there / shown).astype(int)
        for shown, there in zip(like.shape[:2], pixels.shape, strict=True)
    )
    return pixels[np.ix_(rows, columns)]


def view_until_it_ends(camera: PacedCamera, pixels: Pixels, *options: str, without: tuple[int, ...] = ()) -> str:
    """Runs the command while frames go to it; returns what it said."""
    size = f"{WINDOW[0]}x{WINDOW[1]}"
    command = command_line("view", "--size", size, *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as viewer:

        def has_ended() -> bool:
            camera.send(pixels, without)
            return viewer.poll() is not None

        try:
            wait_for(has_ended, "the viewer to end")
        finally:
            viewer.kill()
        assert viewer.stdout is not None
        said = viewer.stdout.read()
    assert viewer.returncode == 0, said
    return said


@pytest.mark.parametrize("most", [256, 4096])
def test_a_capture_has_the_pixels_that_were_sent(
    receiver: Receiver, camera: PacedCamera, tmp_path: Path, most: int
) -> None:
    pixels, capture = pattern(1, most), tmp_path / "window.png"
    view_until_it_ends(
        camera,
        pixels,
        "-w",
        receiver.workspace,
        "--keys",
        "lln",
        "--folder",
        str(tmp_path),
        "--save-window",
        str(capture),
    )
    shown = picture_in(capture)
    assert min(shown.shape[:2]) >= 2 * HEIGHT
    levels = np.rint(pixels.astype(np.float32) / (most - 1) * 255).astype(np.uint8)
    assert np.array_equal(shown, enlarged(levels, shown)[..., None].repeat(3, axis=2))
    (saved,) = tmp_path.glob("*.npy")
    assert np.array_equal(np.load(saved), pixels)


@pytest.mark.parametrize("incomplete", ["deliver"])
def test_what_did_not_come_is_hatched(receiver: Receiver, camera: PacedCamera, tmp_path: Path) -> None:
    pixels, capture = pattern(2), tmp_path / "window.png"
    options = ("-w", receiver.workspace, "--keys", "ll", "--save-window", str(capture), "--frames", "2")
    view_until_it_ends(camera, pixels, *options, without=(4, 5))
    shown = picture_in(capture)
    marked = (shown == HATCH).all(axis=2)
    place = np.arange(pixels.size).reshape(pixels.shape) // 1408
    lacks = enlarged(np.isin(place, (4, 5)), shown)
    assert marked[lacks].any()
    assert not marked[~lacks].any()
    grey = enlarged(pixels, shown)[..., None]
    assert (shown == grey)[~lacks].all()
    assert not shown[lacks & ~marked].any()


class Looking:
    """A window in this process, and what the test does while it runs."""

    def __init__(self, source: Images, folder: Path) -> None:
        from ringmaster.viewer.window import ViewerWindow

        self.desk = Desk(source, folder=folder)
        self._folder = folder
        self.window = ViewerWindow(self.desk, "test", *WINDOW)
        self.press("l")
        self.press("l")

    def press(self, key: str) -> None:
        """A key on the keyboard."""
        self.window.press(key)

    def until(self, there: Callable[[], object], what: str) -> None:
        """Shows frames until something is so."""
        give_up, so = monotonic() + TIMEOUT_S, False

        def ends() -> bool:
            nonlocal so
            so = bool(there())
            return so or monotonic() > give_up

        self.window.run(ends)
        assert so, f"waited in vain for {what}"

    def picture(self) -> Pixels:
        """What the screen shows."""
        capture = self._folder / "window.png"
        self.window.capture(capture)
        return picture_in(capture)

    def shows(self, pixels: Pixels) -> bool:
        """Whether it is this image."""
        shown = self.picture()
        return bool((shown == enlarged(pixels, shown)[..., None]).all())


def test_freeze_step_save_and_a_receiver_that_is_killed(
    receiver: Receiver, camera: PacedCamera, tmp_path: Path
) -> None:
    first, second, third = map(pattern, (3, 4, 5))
    with Images(receiver.workspace) as source:
        looking = Looking(source, tmp_path)
        tile = looking.desk.tiles["cam01"]

        def sent(pixels: Pixels, more: int) -> Callable[[], bool]:
            """Sends it, until so many more frames were taken than now."""
            taken = tile.taken + more

            def there() -> bool:
                if tile.taken < taken:
                    camera.send(pixels)
                return tile.taken >= taken

            return there

        try:
            looking.until(sent(first, 2), "frames")
            assert looking.shows(first)
            looking.press("space")
            looking.until(sent(first, 1), "the frame that is kept")
            frozen = tile.head
            other = frames("cam01", receiver.workspace)

            def has_another() -> bool:
                camera.send(second)
                return other.newest(0) is not None

            looking.until(has_another, "a frame that another reader has")
            assert looking.shows(first)
            assert tile.head == frozen
            looking.press("n")
            assert frozen is not None
            assert np.array_equal(np.load(tmp_path / f"cam01-{frozen.number:08d}.npy"), first)
            looking.press(".")
            looking.until(lambda: tile.head != frozen, "the next frame")
            receiver.kill()
            looking.press("space")
            looking.until(lambda: looking.desk.ended, "the end of the receiver")
            assert "the receiver has ended" in looking.desk.status()
            receiver.start()
            camera.begin()
            looking.until(sent(third, 2), "frames of the next receiver")
            assert looking.shows(third)
            assert "ended" not in looking.desk.status()
        finally:
            looking.window.close()


def test_a_killed_viewer_holds_nothing(receiver: Receiver, camera: PacedCamera) -> None:
    pixels, reader = pattern(6), frames("cam01", receiver.workspace)
    with subprocess.Popen(command_line("view", "-w", receiver.workspace)) as viewer:
        files = Path("/proc") / str(viewer.pid) / "fd"

        def reads() -> bool:
            camera.send(pixels)
            with suppress(FileNotFoundError):  # of one that is closed just now
                return any(path.readlink().name == "cameras.leases" for path in files.iterdir())
            return False

        try:
            wait_for(reads, "the viewer to read")
        finally:
            viewer.kill()
    seen = reader.newest(0)
    last = seen.sequence if seen else 0
    del seen

    def goes_on() -> bool:
        camera.send(pixels)
        frame = reader.newest(0)
        return frame is not None and frame.sequence > last + 20

    wait_for(goes_on, "frames after the viewer was killed")


def test_what_is_missing_is_said(root: Path, receiver: Receiver) -> None:
    for words, text in (
        (("-w", receiver.workspace, "--camera", "cam09"), "no camera 'cam09'; there are cam01"),
        (("-w", "nowhere"), "nowhere"),
    ):
        done = subprocess.run(
            command_line("view", *words), capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
        assert done.returncode in (3, 7)
        assert text in done.stderr
        assert done.stderr.count("\n") == 1


def test_without_a_display_it_says_so(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    command = command_line("view", "-w", receiver.workspace)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1
    assert "xvfb-run" in done.stderr
