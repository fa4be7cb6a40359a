# SPDX-License-Identifier: Apache-2.0
"""From a frame to its picture: geometry, reduction, levels, colours, marks. No display."""

from math import inf
from typing import Any

import numpy as np
import pytest
from fake_cameras import fake_frame
from numpy.typing import NDArray

from ringmaster.viewer.colours import NAMES, table
from ringmaster.viewer.frame import INCOMPLETE, Still
from ringmaster.viewer.geometry import CLOSEST, View, tiles
from ringmaster.viewer.levels import Levels, Mode, counts, levels, ramp
from ringmaster.viewer.painting import HATCH, HISTOGRAM_BAR, HISTOGRAM_MARK, LIFTED, add_histogram, hatch, painted
from ringmaster.viewer.reduction import missing, reduced

IMAGE = (2448, 2048)
RANDOM = np.random.default_rng(23)


@pytest.mark.parametrize("count", range(1, 18))
def test_tiles_lie_beside_each_other_and_inside(count: int) -> None:
    boxes = tiles(count, 1000, 700)
    covered = np.zeros((700, 1000), int)
    for box in boxes:
        assert box.x + box.width <= 1000
        assert box.y + box.height <= 700
        covered[box.y : box.y + box.height, box.x : box.x + box.width] += 1
    assert len(boxes) == count
    assert covered.max() == 1
    assert not tiles(0, 1000, 700)


def test_eight_wide_tiles_stand_in_three_columns() -> None:
    assert len({box.x for box in tiles(8, 1200, 900)}) == 3


def test_the_whole_image_is_shown_with_its_aspect() -> None:
    window = View().window((1000, 700), IMAGE)
    assert window.scale == pytest.approx(2048 / 700)
    assert (window.rows.size, window.columns.size) == (700, round(2448 / window.scale))
    assert window.top == 0
    assert window.left == (1000 - window.columns.size) // 2
    assert window.columns[0] in (0, 1)
    assert window.columns[-1] in (IMAGE[0] - 2, IMAGE[0] - 1)
    assert (np.diff(window.rows) > 0).all()


def test_a_place_on_the_screen_is_its_pixel() -> None:
    window = View().window((100, 50), (10, 10))
    assert window.pixel_at(window.left, 0) == (0, 0)
    assert window.pixel_at(window.left + 49, 49) == (49, 49)
    assert window.columns[49] == 9
    assert window.pixel_at(window.left - 1, 0) is None
    assert window.pixel_at(window.left + 50, 0) is None
    assert window.pixel_at(window.left, 50) is None


def test_zoom_keeps_the_pixel_under_the_pointer() -> None:
    tile, view, at = (1000, 700), View(zoom=2), (312, 455)
    window = view.window(tile, IMAGE)
    column, row = window.columns[at[0] - window.left], window.rows[at[1]]
    for _ in range(12):
        view = view.zoomed(1.25, at, tile, IMAGE)
        window = view.window(tile, IMAGE)
        assert abs(int(window.columns[at[0] - window.left]) - int(column)) <= window.scale + 1
        assert abs(int(window.rows[at[1] - window.top]) - int(row)) <= window.scale + 1
    assert view.zoomed(1e-9, at, tile, IMAGE) == View()
    closest = View().zoomed(1e9, at, tile, IMAGE)
    assert closest.window(tile, IMAGE).scale == pytest.approx(1 / CLOSEST)


def test_one_to_one_is_that_and_pan_stops_at_the_edges() -> None:
    tile = (1000, 700)
    view = View().at_scale(1, tile, IMAGE)
    assert (np.diff(view.window(tile, IMAGE).columns) == 1).all()
    moved = view.panned(-10, 0, tile, IMAGE)
    assert int(moved.window(tile, IMAGE).columns[0]) - int(view.window(tile, IMAGE).columns[0]) == 10
    far = view.panned(-1e6, 1e6, tile, IMAGE).window(tile, IMAGE)
    assert far.columns[-1] == IMAGE[0] - 1
    assert far.rows[0] == 0
    assert view.at_scale(inf, tile, IMAGE) == View()


def test_a_view_holds_when_the_image_changes() -> None:
    view = View().at_scale(0.5, (100, 100), (200, 200))
    window = view.window((100, 100), (3, 1))
    assert window.columns.max() <= 2
    assert set(window.rows) == {0}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_smaller_picture_has_means_of_lines_that_it_reads_alone(dtype: type) -> None:
    pixels: NDArray[Any] = RANDOM.integers(0, np.iinfo(dtype).max, (600, 900)).astype(dtype)
    frame = fake_frame(pixels)
    window = View().window((300, 200), (900, 600))
    picture = reduced(frame, window)
    assert picture.dtype == dtype
    assert np.array_equal(frame.read[0], np.arange(1, 600, 3))
    expected = pixels[1::3].astype(int).reshape(200, 300, 3).sum(axis=2) // 3
    assert np.array_equal(picture, expected)


def test_a_closer_picture_has_the_values_themselves() -> None:
    pixels = RANDOM.integers(0, 4096, (50, 80)).astype(np.uint16)
    frame = fake_frame(pixels, bits=12)
    window = View(zoom=4).window((320, 200), (80, 50))
    picture = reduced(frame, window)
    assert np.array_equal(picture, pixels[np.ix_(window.rows, window.columns)])
    assert frame.read[0].size == len(set(window.rows))


@pytest.mark.parametrize("pattern", ["GR", "RG", "GB", "BG"])
def test_colours_are_those_of_the_squares(pattern: str) -> None:
    red, green, blue = 200, 101, 7
    lines = {"GR": ("GR", "BG"), "RG": ("RG", "GB"), "GB": ("GB", "RG"), "BG": ("BG", "GR")}[pattern]
    value = {"R": red, "G": green, "B": blue}
    square = np.array([[value[colour] for colour in line] for line in lines], np.uint8)
    frame = fake_frame(np.tile(square, (33, 40)), pattern=pattern)
    for size in ((40, 33), (800, 660)):
        picture = reduced(frame, View().window(size, (80, 66)))
        assert (picture == (red, green, blue)).all()
    assert reduced(frame, View().window((80, 66), (80, 66)), coloured=False).ndim == 2


def test_odd_images_with_colours_have_no_square_beyond_their_edge() -> None:
    frame = fake_frame(np.zeros((3, 5), np.uint8), pattern="RG")
    assert reduced(frame, View().window((50, 30), (5, 3))).shape == (30, 50, 3)
    line = fake_frame(np.zeros((1, 5), np.uint8), pattern="RG")
    assert reduced(line, View().window((50, 10), (5, 1))).ndim == 2


def test_missing_fragments_are_where_their_bytes_would_be() -> None:
    came = np.array([True, False, True, True])
    frame = fake_frame(np.zeros((8, 10), np.uint16), came=came, fragment_bytes=48, status=INCOMPLETE)
    window = View().window((10, 8), (10, 8))
    lacks = missing(frame, window)
    assert lacks is not None
    expected = (np.arange(160) // 48 == 1).reshape(8, 20)[:, ::2]
    assert np.array_equal(lacks, expected)
    whole = fake_frame(np.zeros((8, 10), np.uint16), came=np.ones(4, np.bool_), fragment_bytes=48)
    assert missing(whole, window) is None


def test_missing_pixels_of_packed_lines_are_found_by_their_bits() -> None:
    frame = fake_frame(np.zeros((2, 16), np.uint16), came=np.array([True, False]), fragment_bytes=24)
    frame.head = type(frame.head)(**{**frame.head.__dict__, "line_bytes": 24, "pixel_bits": 12})
    lacks = missing(frame, View().window((16, 2), (16, 2)))
    assert lacks is not None
    assert lacks.tolist() == [[False] * 16, [True] * 16]


def test_a_missing_fragment_shows_however_small_the_picture_is() -> None:
    pixels = np.zeros((2048, 2448), np.uint8)
    for number in (1, 1777, 3500):
        came = np.ones(3502, np.bool_)
        came[number] = False
        lacks = missing(fake_frame(pixels, came=came, fragment_bytes=1432), View().window((300, 240), IMAGE))
        assert lacks is not None
        assert np.flatnonzero(lacks.any(axis=1))[0] == pytest.approx(number * 1432 / 2448 / 2048 * 240, abs=1.5)
        assert 0.5 < lacks.sum() / (1432 * 240 / 2048) < 12
    nothing = fake_frame(pixels, came=np.zeros(3502, np.bool_), fragment_bytes=1432)
    lacks = missing(nothing, View().window((9, 9), IMAGE))
    assert lacks is not None
    assert lacks.all()


def test_a_still_needs_its_frame_no_more() -> None:
    frame = fake_frame(np.full((4, 6), 7, np.uint8), came=np.ones(2, np.bool_))
    still = Still(frame)
    frame.pixels[:] = 0
    frame.came[:] = False
    assert (still.lines(np.array([1, 3])) == 7).all()
    assert still.arrived().all()


def test_levels_by_mode() -> None:
    picture = np.repeat(np.arange(1000, dtype=np.uint16), 10)
    picture[0], picture[-1] = 0, 4000
    seen = counts(picture)
    assert levels(Mode.FULL, seen, 12) == Levels(0, 4095)
    assert levels(Mode.EXTREMES, seen, 12) == Levels(0, 4000)
    auto = levels(Mode.AUTO, seen, 12)
    assert abs(auto.black - 5) <= 1
    assert auto.white == 999
    assert levels(Mode.FIXED, seen, 12, Levels(3, 9)) == Levels(3, 9)
    assert levels(Mode.FIXED, seen, 12) == auto


def test_ramps_are_linear_between_the_levels() -> None:
    steps = ramp(Levels(100, 355), 12)
    assert steps.size == 4096
    assert steps[:101].max() == 0
    assert np.array_equal(steps[100:356], np.arange(256))
    assert steps[355:].min() == 255
    assert ramp(Levels(9, 9), 8)[9:11].tolist() == [0, 255]


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
def test_histograms_have_every_pixel(bits: int) -> None:
    picture = RANDOM.integers(0, 1 << bits, (40, 50)).astype(np.uint16)
    bins = counts(picture).binned(bits)
    assert bins.sum() == picture.size
    assert bins.size == 256
    assert bins[3] == ((picture >> (bits - 8)) == 3).sum()


def test_colours() -> None:
    assert table("grey").tolist() == [[i] * 3 for i in range(256)]
    for name in NAMES:
        assert table(name).shape == (256, 3)
    exposure = table("exposure")
    assert exposure[0].tolist() == [0, 0, 255]
    assert exposure[255].tolist() == [255, 0, 0]
    assert exposure[128].tolist() == [128] * 3
    picture = np.array([[0, 2048, 4095]], np.uint16)
    assert painted(picture, Levels(0, 4095), 12, "viridis")[0, 0].tolist() == [0x44, 0x01, 0x54]
    coloured = painted(np.array([[[0, 128, 255]]], np.uint8), Levels(0, 255), 8, "viridis")
    assert coloured.tolist() == [[[0, 128, 255]]]


def test_hatches_mark_what_is_missing_and_nothing_else() -> None:
    picture = np.zeros((32, 32, 3), np.uint8)
    lacks = np.zeros((32, 32), np.bool_)
    lacks[8:24] = True
    hatch(picture, lacks)
    marked = (picture == HATCH).all(axis=2)
    assert not marked[~lacks].any()
    assert 0.1 < marked[lacks].mean() < 0.5


def test_histogram_bars_stand_on_their_values() -> None:
    picture = np.zeros((200, 300, 3), np.uint8)
    bins = np.zeros(256, np.intp)
    bins[100] = 5000
    add_histogram(picture, bins, Levels(10, 200), 8)
    column = picture[:, 4 + 100]
    assert (column == HISTOGRAM_BAR).all(axis=1).sum() == 64
    assert (picture[-5, 4 + 10] == HISTOGRAM_MARK).all()
    assert (picture[-60:-4, 4 + 101] == LIFTED).all()
    small = np.zeros((10, 10, 3), np.uint8)
    add_histogram(small, bins, Levels(10, 200), 8)
    assert not small.any()
