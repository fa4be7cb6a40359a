# SPDX-License-Identifier: Apache-2.0
"""What the fast-archiver gateway gives of an archive, whose every value follows from its frame."""

import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from fast_archiver import Gateway, exactly, frames_of, gateway
from numpy.typing import NDArray

from ringmaster.archive.write import Described, LogFile
from ringmaster.fabric.layout import LaneType
from ringmaster.fabric.stream import Lane

PERIOD, FRAME_RATE_HZ = 12, 1000
BEGIN_US = 1_790_000_000_000_000
"""UTC of frame 0."""
FIRST, GAP, BEHIND, END = 1000, 3050, 4001, 5000
"""Frames 1000–3049 and 4001–4999 are recorded, after which the turn counter restarts: frames 100–599."""
RESTARTED, RESTARTED_END = 100, 600
BLOCK = {"F": 128, "D": 16, "DD": 1}
D, DD = 8, 32
OFFSETS_S = (0, 37)
MARK = 500_000
"""What steps of the reduction have besides, so that they are known from records."""


def x_of(frame: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """X of instrument ``number``, in nm; Y is its negative."""
    return 7 * frame + 1000 * number


def lanes(number: int) -> list[Lane]:
    """Of the second instrument in µm, as a float."""
    unit, kind = ("nm", LaneType.I32) if number == 1 else ("µm", LaneType.F32)
    return [Lane(name, unit, kind) for name in ("x1", "y1")]


def tai_ns(frame: int, offset_s: int) -> int:
    return (BEGIN_US + frame * 1000) * 1000 + offset_s * 10**9


def records(number: int, first: int, count: int) -> NDArray[np.void]:
    found = np.zeros(count, [("turn", "<u8"), ("tag", "<u8"), ("lane", "<u4", (12,))])
    frames = first + np.arange(count)
    found["turn"] = frames * PERIOD
    for lane, sign in enumerate((1, -1)):
        value = sign * x_of(frames, number)
        words = value.astype("<i4") if number == 1 else (value / 1000).astype("<f4")
        found["lane"][:, lane] = words.view("<u4")
    return found


def steps(number: int, first: int, count: int, frames: int) -> NDArray[np.void]:
    """Steps of ``frames`` frames from ``first`` on, MARK too high."""
    kind = [("turn", "<u8"), ("present", "<u4"), ("missing", "<u4"), ("lane", "<f4", (2, 4))]
    found = np.zeros(count, kind)
    begin = first + frames * np.arange(count)
    found["turn"], found["present"] = begin * PERIOD, frames
    values = x_of(begin[:, None] + np.arange(frames), number) + MARK
    summary = [values.min(axis=1), values.mean(axis=1), values.max(axis=1), values.std(axis=1)]
    found["lane"][:, 0] = np.stack(summary, axis=1) / (1 if number == 1 else 1000)
    return found


def write(archive: Path, offset_s: int, reduced: bool) -> None:
    stretches = ((FIRST, GAP, FIRST), (BEHIND, END, BEHIND), (RESTARTED, RESTARTED_END, END))
    for first, end, place in stretches:  # the last one goes on in time where the one before ended
        with LogFile(archive, "loop", PERIOD * FRAME_RATE_HZ, offset_s, tai_ns(place, offset_s)) as file:
            for number in (1, 2):
                what = Described(f"bpm0{number}/loop", lanes(number), PERIOD)
                times = tai_ns(place, offset_s), tai_ns(place + end - first - 1, offset_s)
                file.append(file.describe(what), what, records(number, first, end - first), first * PERIOD, times)
    if reduced:
        with LogFile(archive, "loop-8", PERIOD * FRAME_RATE_HZ, offset_s, tai_ns(FIRST, offset_s)) as file:
            what = Described("bpm01/loop", lanes(1), PERIOD * D, reduced=True)
            count = (GAP - FIRST) // D
            times = tai_ns(FIRST, offset_s), tai_ns(FIRST + (count - 1) * D, offset_s)
            file.append(file.describe(what), what, steps(1, FIRST, count, D), FIRST * PERIOD, times)


@pytest.fixture(scope="module", params=OFFSETS_S)
def asked(request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway of an archive whose TAI − UTC is 0, or 37 s; there is no server."""
    folder = tmp_path_factory.mktemp("archive")
    write(folder / "archive", request.param, reduced=False)
    with _gateway(folder) as found:
        yield found


@pytest.fixture
def reduced(root: Path, tmp_path: Path) -> Iterator[Gateway]:
    """The same of an archive that has steps of one stream."""
    write(tmp_path / "archive", 37, reduced=True)
    with _gateway(tmp_path) as found:
        yield found


def _gateway(folder: Path) -> AbstractContextManager[Gateway]:
    keys = f"archive: {folder / 'archive'}\nfirst_decimation: {D}\nsecond_decimation: {DD // D}\nname: test\n"
    ids = "ids:\n  - {id: 1, instrument: bpm, count: 2}\n  - {id: 9, instrument: lost}\n"
    return gateway(folder, "nowhere", keys, ids)


def seconds(frame: int) -> str:
    us = BEGIN_US + frame * 1000
    return f"S{us // 1_000_000}.{us % 1_000_000:06d}"


def date(frame: int) -> str:
    return "T" + datetime.fromtimestamp((BEGIN_US + frame * 1000) / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def assert_positions(found: NDArray[np.int32], numbers: tuple[int, ...], frames: NDArray[np.int64]) -> None:
    for column, number in enumerate(numbers):
        assert np.abs(found[:, column, 0, 0] - x_of(frames, number)).max() <= number - 1  # µm as a float: 1 nm
        assert (found[:, column, 0, 1] == -found[:, column, 0, 0]).all()


def test_frames_by_count_with_their_time_and_counter(asked: Gateway) -> None:
    answer = asked.ask(f"RFM0-2{seconds(1500)}N300NTZ")
    assert struct.unpack("<BQQI", answer[:21]) == (0, 300, BEGIN_US + 1_500_000, 1500)
    found = frames_of(answer[21:], 3)
    frames = 1500 + np.arange(300)
    assert (found[:, 0, 0, 0] == frames).all()
    assert not found[:, 0, 0, 1].any()
    assert_positions(found[:, 1:], (1, 2), frames)


def test_frames_by_their_end(asked: Gateway) -> None:
    for start, end in ((seconds(1500), seconds(1600)), (date(1500), date(1600))):
        answer = asked.ask(f"RFM1{start}E{end}N")
        assert struct.unpack("<BQ", answer[:9]) == (0, 100)
        assert_positions(frames_of(answer[9:], 1), (1,), 1500 + np.arange(100))
    assert asked.ask(f"RFMR{'0' * 63}2{seconds(1500)}N1") == asked.ask(f"RFM1{seconds(1500)}N1")


@pytest.mark.parametrize(("start", "end"), [(1500, 1800), (FIRST, 1300), (GAP - 200, GAP)])
def test_times_of_blocks(asked: Gateway, start: int, end: int) -> None:
    """Also of those that begin before what was recorded, and of those that end behind it."""
    answer = asked.ask(f"RFM2{seconds(start)}N{end - start}NTEZ")
    assert struct.unpack("<BQII", answer[:17]) == (0, end - start, 128, start % 128)
    at, frame = 17, start
    while frame < end:
        begin = frame - frame % 128
        until = min(begin + 128, end)
        time_us, duration_us, id0 = struct.unpack("<QII", answer[at : at + 16])
        assert abs(time_us - BEGIN_US - begin * 1000) <= 1
        assert id0 == begin
        assert abs(duration_us - 128_000) <= 2
        at += 16
        assert_positions(frames_of(answer[at : at + 8 * (until - frame)], 1), (2,), np.arange(frame, until))
        at, frame = at + 8 * (until - frame), until
    assert at == len(answer)


def test_times_at_the_end(asked: Gateway) -> None:
    blocks = asked.ask(f"RFM1{seconds(1500)}N300TEZ")
    for option, counters in (("TAZ", True), ("TA", False)):
        answer = asked.ask(f"RFM1{seconds(1500)}N300{option}")
        assert answer[:9] == blocks[:9]
        assert_positions(frames_of(answer[9 : 9 + 2400], 1), (1,), 1500 + np.arange(300))
        (count,) = struct.unpack("<I", answer[2409:2413])
        assert count == 4
        times = struct.unpack("<4Q4I" + ("4I" if counters else ""), answer[2413:])
        assert times[:4] == tuple(BEGIN_US + 1000 * begin for begin in (1408, 1536, 1664, 1792))
        assert all(abs(duration - 128_000) <= 1 for duration in times[4:8])
        assert times[8:] == ((1408, 1536, 1664, 1792) if counters else ())


@pytest.mark.parametrize(("source", "frames"), [("D", D), ("DD", DD)])
@pytest.mark.parametrize("fields", [0, 1, 6, 10, 15])
def test_decimated_samples_are_what_their_frames_come_to(asked: Gateway, source: str, frames: int, fields: int) -> None:
    first = 1504  # a multiple of all
    mask = f"F{fields}" if fields else ""
    answer = asked.ask(f"R{source}{mask}M0-1{seconds(first)}N12NT")
    assert struct.unpack("<BQQ", answer[:17]) == (0, 12, BEGIN_US + first * 1000)
    wanted = fields or 15
    found = frames_of(answer[17:], 2, wanted.bit_count())
    covered = (first + np.arange(12 * frames)).reshape(12, frames)
    for column, values in enumerate((covered, x_of(covered, 1))):
        summary = [values.mean(axis=1), values.min(axis=1), values.max(axis=1), values.std(axis=1)]
        expected = np.stack([one for i, one in enumerate(summary) if wanted >> i & 1], axis=1)
        assert np.abs(found[:, column, :, 0] - expected).max() <= 0.5
    assert not found[:, 0, :, 1].any()


def test_decimated_samples_are_of_the_recorders_steps_where_it_has_them(reduced: Gateway) -> None:
    for source, frames in (("D", D), ("DD", DD)):
        answer = reduced.ask(f"R{source}M1-2{seconds(1504)}N12")
        found = frames_of(answer[1:], 2, 4)
        covered = x_of((1504 + np.arange(12 * frames)).reshape(12, frames), 1)
        summary = [covered.mean(axis=1) + MARK, covered.min(axis=1) + MARK, covered.max(axis=1) + MARK]
        assert np.abs(found[:, 0, :3, 0] - np.stack(summary, axis=1)).max() <= 0.5
        assert np.abs(found[:, 0, 3, 0] - covered.std(axis=1)).max() <= 0.5
        assert (found[:, 1, 0, 0] < MARK).all()  # of the other one it has records alone
    answer = reduced.ask(f"RFM1{seconds(1504)}N12")
    assert_positions(frames_of(answer[1:], 1), (1,), 1504 + np.arange(12))


def test_a_gap_stands_between_two_blocks(asked: Gateway) -> None:
    answer = asked.ask(f"RFM0,1{seconds(3000)}E{seconds(4100)}NTEZ")
    _, count, block, offset = struct.unpack("<BQII", answer[:17])
    frames = np.r_[3000:3072, 3968:4100]  # whole blocks of 128 around the gap, which is 3050 to 4000
    assert (count, block, offset) == (len(frames), 128, 3000 % 128)
    at, found, begins = 17, [], []
    while at < len(answer):
        (_, _, id0), at = struct.unpack("<QII", answer[at : at + 16]), at + 16
        begins.append(id0)
        part = min(16 * (128 - (offset if len(begins) == 1 else 0)), len(answer) - at)
        found.append(frames_of(answer[at : at + part], 2))
        at += part
    assert begins == [2944, 3968, 4096]
    values = np.concatenate(found)
    assert (values[:, 0, 0, 0] == frames).all()
    is_there = (frames < GAP) | (frames >= BEHIND)
    assert_positions(values[is_there][:, 1:], (1,), frames[is_there])
    assert not values[~is_there][:, 1].any()


def test_what_must_be_contiguous_is_refused_at_a_gap(asked: Gateway) -> None:
    assert asked.words(f"RFM1{seconds(3000)}N51C") == ["Only 50 contiguous samples available"]
    assert asked.words(f"RFM1{seconds(3000)}E{seconds(4100)}C") == ["Only 50 contiguous samples available"]
    assert asked.ask(f"RFM1{seconds(3000)}N50C")[:1] == b"\0"
    # The restart of the turn counter is a gap of the frame counter alone.
    across = f"RFM0{seconds(4900)}N300"
    assert asked.ask(f"{across}C")[:1] == b"\0"
    assert asked.words(f"{across}CZ") == ["Only 100 contiguous samples available"]
    counters = frames_of(asked.ask(f"{across}C")[1:], 1)[:, 0, 0, 0]
    assert counters[0] == 4900
    assert counters[-1] < RESTARTED_END


def test_what_is_not_there_is_refused_or_left_out(asked: Gateway) -> None:
    refused = {
        f"RFM1{seconds(900)}N10": "Start time too early",
        f"RFM1{seconds(9000)}N10": "Start time too late",
        f"RFM1{seconds(1500)}E{seconds(9000)}": "End time too late",
        f"RFM1{seconds(1500)}E{seconds(1500)}": "Time range runs backwards",
        f"RFM5{seconds(1500)}N10": "BPM 5 not in archive",
        f"RFM9{seconds(1500)}N10": "BPM 9 not in archive",
        f"RFM1{seconds(3060)}E{seconds(3070)}": "No samples in selected range",
        f"RFM1{seconds(5400)}N101": "Only 100 samples of 101 requested available",
        f"RDM1{seconds(1500)}E{seconds(1503)}": "No samples in selected range",
    }
    assert {line: asked.words(line) for line in refused} == {line: [text] for line, text in refused.items()}
    assert struct.unpack("<BQ", asked.ask(f"RFM1{seconds(5400)}N101NA")[:9]) == (0, 100)
    assert struct.unpack("<BQQ", asked.ask(f"RFM1{seconds(0)}N10NAT")[:17]) == (0, 10, BEGIN_US + FIRST * 1000)


def test_what_the_archive_has(asked: Gateway) -> None:
    newest = END + RESTARTED_END - RESTARTED - 1
    assert asked.words("CTUM") == [
        *(f"{(BEGIN_US + frame * 1000) // 10**6}.{(BEGIN_US + frame * 1000) % 10**6:06d}" for frame in (FIRST, newest)),
        "0" * 63 + "7",
    ]
    assert asked.words("CLdDCN") == [
        "*0 id0 zero FRAME-COUNTER",
        "*1 bpm01/loop/x1 bpm01/loop/y1 bpm01/x1",
        "*2 bpm02/loop/x1 bpm02/loop/y1 bpm02/x1",
        " 9 lost/loop/x1 lost/loop/y1 lost/x1",
        "8",
        "4",
        "0",
        "test",
    ]
    assert float(asked.words("CF")[0]) == FRAME_RATE_HZ
    assert asked.words("CS") == ["0 1023 0 0 0 0 0 0"]
    assert asked.words("S1") == ["No data currently available"]
    assert asked.words("S1D") == ["Error parsing subscription: Decimated data not available"]


def test_a_client_that_takes_nothing_keeps_no_other_from_the_archive(asked: Gateway) -> None:
    line = f"RFM0-2{seconds(FIRST)}N2000\n"
    with asked.connect(line) as slow:
        assert len(asked.ask(line.strip())) == 1 + 2000 * 24
        assert len(exactly(slow, 1 + 2000 * 24)) == 1 + 2000 * 24
