# SPDX-License-Identifier: Apache-2.0
"""What the user of the viewer does, and what is said of cameras: no display."""

from pathlib import Path

import numpy as np
import pytest
from fake_cameras import FakeFrame, FakeSource, fake_frame
from PIL import Image

from ringmaster.viewer.actions import ACTIONS, BY_KEY, help_lines, press
from ringmaster.viewer.desk import AGAIN_S, HEADER, Desk
from ringmaster.viewer.figures import WINDOW_S, Figures, Tally, fitted, words
from ringmaster.viewer.frame import FILLED, INCOMPLETE, Head
from ringmaster.viewer.levels import Levels
from ringmaster.viewer.painting import BESIDE, ppm
from ringmaster.viewer.saving import Kind

FAST_S = 0.04


def plain(value: int, number: int = 1, **more: object) -> FakeFrame:
    """A frame of one value."""
    return fake_frame(np.full((60, 80), value, np.uint16), number, 12, **more)


def desk_of(source: FakeSource, **more: object) -> Desk:
    """A desk of 400 × 320 screen pixels."""
    desk = Desk(source, **more)  # type: ignore[arg-type]
    desk.resize(400, 320)
    return desk


def shown(desk: Desk, name: str) -> int:
    """The value in the middle of a camera's picture."""
    shot = desk.tiles[name].shot
    assert shot is not None
    return int(shot.picture[shot.picture.shape[0] // 2, shot.picture.shape[1] // 2])


def shown_counts(desk: Desk, name: str) -> set[int]:
    """The values that levels and histogram of a camera are of."""
    shot = desk.tiles[name].shot
    assert shot is not None
    return set(np.flatnonzero(shot.seen.of).tolist())


def head(sequence: int, number: int, status: int = 0, published_us: float = 50.0) -> Head:
    """Of a frame without pixels."""
    return Head(sequence, number, 0, 0, "Mono8", 8, status=status, published_us=published_us)


def test_rates_loss_and_latency() -> None:
    tally = Tally()
    for i in range(0, 60, 2):
        tally.take(head(i + 1, 1000 + i + (i >= 20) * 3, published_us=float(i)), i / 50, 5.0 + i / 10)
    figures = tally.figures(1.16)
    assert figures.camera_hz == pytest.approx(50)
    assert figures.shown_hz == pytest.approx(25)
    assert (figures.lost, figures.of) == (3, 61)
    assert figures.published_us == pytest.approx((29, 57.42))
    assert figures.shown_ms is not None
    assert figures.shown_ms[1] > figures.shown_ms[0]
    assert words(figures)[:3] == ["50.0 fps", "lost 3 (4.9 %)", "shown 25.0/s"]


def test_rates_forget_what_is_old_and_end_with_the_frames() -> None:
    tally = Tally()
    for i in range(100):
        tally.take(head(i + 1, i + 1), i / 10, 1.0)
    assert tally.figures(9.9).camera_hz == pytest.approx(10)
    assert len(tally._recent) <= 10 * WINDOW_S + 2
    assert tally.figures(9.9 + 2).camera_hz == 0
    tally.reset()
    assert tally.figures(12) == Figures()


def test_a_camera_that_begins_anew_has_lost_nothing() -> None:
    tally = Tally()
    tally.take(head(7, 900), 0.0, 1.0)
    tally.take(head(8, 1), 0.1, 1.0)
    tally.take(head(9, 2, INCOMPLETE), 0.2, 1.0)
    assert tally.figures(0.2).lost == 0
    assert "incomplete 1" in words(tally.figures(0.2))


def test_every_camera_is_shown_and_no_lease_stays() -> None:
    source = FakeSource({"cam01": [plain(10), plain(11, 2)], "cam02": [plain(20)]})
    desk = desk_of(source)
    desk.look(0.0)
    assert (shown(desk, "cam01"), shown(desk, "cam02")) == (11, 20)
    assert source.leased == set()
    assert desk.stale == {"cam01", "cam02"}
    for name, box in desk.boxes.items():
        assert desk.paint(name).shape == (box.height - HEADER, box.width, 3)
    assert desk.stale == set()
    assert desk.least_shown == 1


def test_freeze_keeps_and_step_goes_one_further() -> None:
    source = FakeSource({"cam01": []})
    desk = desk_of(source)
    frames = source.frames["cam01"]
    frames.append(plain(1, 1))
    desk.look(0.0)
    press(desk, " ", "space")
    frames += [plain(2, 2), plain(3, 3)]
    desk.look(FAST_S)
    assert shown(desk, "cam01") == 3
    frames += [plain(4, 4), plain(5, 5)]
    desk.look(2 * FAST_S)
    assert shown(desk, "cam01") == 3
    assert "frozen" in desk.status()
    press(desk, ".", "period")
    desk.look(3 * FAST_S)
    desk.look(4 * FAST_S)
    assert shown(desk, "cam01") == 4
    press(desk, " ", "space")
    desk.look(5 * FAST_S)
    assert shown(desk, "cam01") == 5
    assert "frozen" not in desk.status()


def test_a_frozen_frame_is_zoomed_at_once_and_a_slow_one_too() -> None:
    source = FakeSource({"cam01": [plain(1)], "cam02": []})
    desk = desk_of(source)
    desk.look(0.0)
    press(desk, "1", "1")
    assert desk.chosen == "cam01"
    press(desk, "+", "plus")
    assert desk.tiles["cam01"].shot is not None
    before = desk.tiles["cam01"].shot.window
    source.frames["cam01"].append(plain(1, 2))
    desk.look(1.0)  # a second later: it is slow, and kept
    kept = desk.tiles["cam01"].shot.window
    assert kept.scale < before.scale
    press(desk, "+", "plus")
    assert desk.tiles["cam01"].shot.window.scale < kept.scale
    press(desk, "w", "w")
    assert desk.tiles["cam01"].shot.window.columns[-1] == 79


def test_the_pointer_tells_pixel_value_and_levels() -> None:
    pixels = np.arange(60 * 80, dtype=np.uint16).reshape(60, 80)
    desk = desk_of(FakeSource({"cam01": [fake_frame(pixels, bits=16)]}))
    desk.look(0.0)
    shot = desk.tiles["cam01"].shot
    assert shot is not None
    desk.pointer = (shot.window.left + 200, HEADER + shot.window.top + 100)
    column, row = int(shot.window.columns[200]), int(shot.window.rows[100])
    assert f"cam01  x {column}  y {row}  value {pixels[row, column]} " in desk.status()
    assert "levels auto" in desk.status()
    desk.pointer = (1, HEADER - 1)
    assert "value" not in desk.status()


def test_a_smaller_picture_says_that_values_are_means() -> None:
    desk = desk_of(FakeSource({"cam01": [fake_frame(np.full((900, 1200), 9, np.uint8))]}))
    desk.look(0.0)
    desk.pointer = (200, 150)
    assert "value 9, mean of 3" in desk.status()


def test_incomplete_frames_are_said_and_hatched() -> None:
    came = np.ones(20, np.bool_)
    came[3:6] = False
    lossy = plain(1, came=came, fragment_bytes=480, status=INCOMPLETE)
    lossy.pixels.reshape(20, -1)[~came] = 0
    source = FakeSource({"cam01": [lossy]})
    desk = desk_of(source)
    desk.look(0.0)
    assert desk.header("cam01", 0.0)[1] == "3 of 20 fragments missing"
    assert shown_counts(desk, "cam01") == {1}
    assert (desk.paint("cam01") == (255, 64, 64)).all(axis=2).any()
    source.frames["cam01"].append(plain(1, 2, came=came, fragment_bytes=480, status=FILLED))
    desk.look(FAST_S)
    assert desk.header("cam01", 0.0)[1].endswith("filled from the frame before")


def test_a_frame_without_geometry_is_said() -> None:
    frame = plain(1)
    frame.head = head(1, 1)
    source = FakeSource({"cam01": [frame]})
    desk = desk_of(source)
    assert desk.header("cam01", 0.0) == ["cam01", "no frame yet"]
    desk.save(Kind.ARRAY)
    desk.look(0.0)
    assert desk.header("cam01", 0.0)[1] == "no geometry"
    assert (desk.paint("cam01") == BESIDE).all()
    assert "geometry is unknown" in desk.message
    for after in (plain(7, 2), frame):
        frame.head = head(3, 3)
        source.frames["cam01"].append(after)
        desk.look(FAST_S)
    assert desk.header("cam01", 0.0)[1] == "no geometry, picture of frame 2"
    assert shown(desk, "cam01") == 7


def test_another_geometry_in_mid_stream() -> None:
    source = FakeSource({"cam01": [plain(1)]})
    desk = desk_of(source)
    desk.look(0.0)
    press(desk, "o", "o")
    source.frames["cam01"].append(fake_frame(np.full((5, 3000), 7, np.uint8), 2))
    desk.look(FAST_S)
    assert shown(desk, "cam01") == 7
    desk.paint("cam01")


def test_a_window_that_shrinks_paints_what_it_has() -> None:
    source = FakeSource({"cam01": [plain(1), plain(1, 2)]})
    desk = desk_of(source)
    desk.look(0.0)
    for size in ((150, 130), (20, 21), (1, 1), (900, 700)):
        desk.resize(*size)
        assert desk.paint("cam01").shape[1] == size[0]


def test_saved_files_have_the_pixels(tmp_path: Path) -> None:
    pixels = np.arange(60 * 80, dtype=np.uint16).reshape(60, 80) % 4096
    source = FakeSource({"cam/01": [fake_frame(pixels, 42, 12)]})
    desk = desk_of(source, folder=tmp_path)
    for key in "sSn":
        press(desk, key, key)
    desk.look(0.0)
    array, picture, image = sorted(tmp_path.iterdir(), key=lambda path: (path.suffix, -len(path.stem)))
    assert array.name == "cam_01-00000042.npy"
    assert np.array_equal(np.load(array), pixels)
    assert (picture.name, image.name) == ("cam_01-00000042-picture.png", "cam_01-00000042.png")
    with Image.open(image) as read:
        assert np.array_equal(np.asarray(read), pixels)
    with Image.open(picture) as read:
        assert np.array_equal(np.asarray(read), desk.tiles["cam/01"].picture(desk.style))


def test_saving_again_overwrites_nothing_and_says_what_failed(tmp_path: Path) -> None:
    source = FakeSource({"cam01": [plain(5, 7)]})
    desk = desk_of(source, folder=tmp_path)
    press(desk, " ", "space")
    desk.look(0.0)
    for _ in range(2):
        press(desk, "n", "n")
    assert {path.name for path in tmp_path.iterdir()} == {"cam01-00000007.npy", "cam01-00000007-2.npy"}
    desk._folder = tmp_path / "gone"
    press(desk, "n", "n")
    assert "not saved" in desk.status()


def test_pixels_of_eight_bits_stay_eight(tmp_path: Path) -> None:
    desk = desk_of(FakeSource({"cam01": [fake_frame(np.full((6, 9), 200, np.uint8))]}), folder=tmp_path)
    press(desk, "S", "S")
    desk.look(0.0)
    with Image.open(tmp_path / "cam01-00000001.png") as read:
        assert (read.mode, read.size, read.getpixel((0, 0))) == ("L", (9, 6), 200)


def test_when_the_receiver_ends_the_desk_waits_and_goes_on() -> None:
    source = FakeSource({"cam01": [plain(1)]})
    desk = desk_of(source)
    desk.look(0.0)
    source.lives = False
    desk.look(1.0)
    assert "the receiver has ended" in desk.status()
    assert shown(desk, "cam01") == 1
    desk.look(1.0 + 2 * AGAIN_S)
    source.lives = True
    source.frames = {"cam01": [plain(8)], "cam02": [plain(9)]}
    desk.look(1.0 + 2.5 * AGAIN_S)
    assert desk.ended
    desk.look(1.0 + 4 * AGAIN_S)
    assert (shown(desk, "cam01"), shown(desk, "cam02")) == (8, 9)
    assert "ended" not in desk.status()


def test_levels_are_fixed_for_each_camera() -> None:
    source = FakeSource({"cam01": [plain(100)], "cam02": [plain(3000)]})
    desk = desk_of(source)
    desk.look(0.0)
    press(desk, "f")
    assert desk.style.mode.value == "fixed"
    assert [desk.tiles[name].levels(desk.style).black for name in desk.tiles] == [100, 3000]


def test_levels_go_round_and_the_last_ones_are_fixed() -> None:
    desk = desk_of(FakeSource({"cam01": [plain(100)]}))
    desk.look(0.0)
    modes = []
    for _ in range(5):
        press(desk, "l")
        modes.append(desk.style.mode.value)
    assert modes == ["min-max", "full", "fixed", "auto", "min-max"]
    assert desk.tiles["cam01"].fixed == Levels(0, 4095)


def test_every_key_does_something_and_none_twice() -> None:
    assert len(BY_KEY) == sum(len(action.keys) for action in ACTIONS)
    assert len(help_lines()) >= len(ACTIONS)
    desk = desk_of(FakeSource({"cam01": [plain(1)], "cam02": [plain(1)]}))
    desk.look(0.0)
    for key in BY_KEY:
        if key not in "sSn":
            assert press(desk, key, key)
    assert desk.ends
    assert not press(desk, "", "F12")
    assert not press(desk, "9", "9")


def test_cameras_are_chosen_and_left() -> None:
    desk = desk_of(FakeSource({name: [plain(1)] for name in ("cam01", "cam02")}))
    press(desk, "\t", "Tab")
    assert list(desk.boxes) == ["cam01"]
    press(desk, "2", "2")
    assert list(desk.boxes) == ["cam02"]
    press(desk, "?", "question")
    press(desk, "\x1b", "Escape")
    assert not desk.help
    assert desk.chosen == "cam02"
    press(desk, "\x1b", "Escape")
    assert list(desk.boxes) == ["cam01", "cam02"]


def test_a_drag_moves_only_the_picture_under_it() -> None:
    desk = desk_of(FakeSource({"cam01": [plain(1)], "cam02": [plain(1)]}))
    desk.look(0.0)
    box = desk.boxes["cam02"]
    desk.pointer = (box.x + 50, box.y + 50)
    press(desk, "o", "o")
    desk.zoom(4)
    before = desk.tiles["cam02"].view
    desk.drag(10, 5)
    assert desk.tiles["cam02"].view != before
    assert desk.tiles["cam01"].view.zoom == 1


def test_words_are_left_out_whole_where_there_is_no_room() -> None:
    said = ["cam01", "30.0 fps", "lost 0"]
    assert fitted(said, 100, len) == "cam01   30.0 fps   lost 0"
    assert fitted(said, 17, len) == "cam01   30.0 fps"
    assert fitted(said, 1, len) == "cam01"


def test_pictures_for_tk() -> None:
    assert ppm(np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)) == b"P6 2 1 255\n\x01\x02\x03\x04\x05\x06"
