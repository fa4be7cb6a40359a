# SPDX-License-Identifier: Apache-2.0
"""Archives that another program wrote (archive_writer.py), read by turn and by time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from archive_writer import EVENTS, ArchiveWriter, Description
from archives import BEGIN_NS, STREAM, TURN_NS, add, simple

import ringmaster
from ringmaster.archive.archive import MarkReason
from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.window import ReadResult


@pytest.fixture(params=[True, False], ids=["sealed", "growing"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return simple(tmp_path / "archive", sealed=request.param)


def test_a_window_by_turn_has_what_was_recorded(path: Path) -> None:
    window = ringmaster.Archive(path)["bpm01/turn"][1100:1400]
    assert list(window.turn) == list(range(1100, 1400))
    assert window.ok.all()
    assert (window["x1"] == 7 * window.turn.astype(np.int64)).all()
    assert (window.values("sum") == window.turn / 2).all()
    assert set(window.status) == {5}


def test_what_was_lost_is_told_from_what_was_not_recorded(path: Path) -> None:
    stream = ringmaster.Archive(path)["bpm01/turn"]
    window = stream[:]
    assert len(window) == 1000
    wanted = np.where(window.turn == 1003, ReadResult.MISSING, ReadResult.OK)
    wanted[500:600] = ReadResult.NOT_RECORDED
    assert (window.result == wanted).all()
    assert np.isnan(window.values("x1")[~window.ok]).all()


def test_a_gap_has_its_mark(path: Path) -> None:
    (mark,) = ringmaster.Archive(path).marks
    assert (mark.reason.name, mark.name, mark.first_turn, mark.last_turn) == ("DISK_FAILED", "bpm01/turn", 1500, 1599)


def test_turns_outside_the_archive_are_an_empty_window(path: Path) -> None:
    stream = ringmaster.Archive(path)["bpm01/turn"]
    assert [len(stream[a:b]) for a, b in ((0, 1000), (2000, 10**15), (1500, 1500), (1999, 1000))] == [0, 0, 0, 0]
    assert [len(stream[a:b]) for a, b in ((0, 1001), (1999, 10**15), (None, None))] == [1, 1, 1000]
    assert len(stream["1970-01-01":"1970-01-02"]) == 0
    assert len(stream["2200-01-01":]) == 0


@pytest.mark.parametrize("tai_minus_utc_s", [0, 37])
def test_times_are_utc_by_the_offset_of_the_file(tmp_path: Path, tai_minus_utc_s: int) -> None:
    stream = ringmaster.Archive(simple(tmp_path / "archive", tai_minus_utc_s))["bpm01/turn"]
    utc_ns = BEGIN_NS - tai_minus_utc_s * 10**9 + 1100 * TURN_NS
    begin, end = np.datetime64(utc_ns, "ns"), np.datetime64(utc_ns + 50 * TURN_NS, "ns")
    window = stream[begin:end]
    assert list(window.turn) == list(range(1100, 1150))
    assert window.utc[0] == begin
    assert (np.diff(window.utc_ns) == TURN_NS).all()
    assert (window.tai_ns - window.utc_ns == tai_minus_utc_s * 10**9).all()
    assert (stream[f"{begin}Z" : str(end)].turn == window.turn).all()
    assert (stream[f"{begin}+00:00" : f"{end}Z"].turn == window.turn).all()
    second = datetime.fromtimestamp(utc_ns // 10**9, UTC)
    micros = second + timedelta(microseconds=utc_ns % 10**9 // 1000)
    assert (stream[micros : micros + timedelta(microseconds=50)].turn == window.turn).all()
    assert (stream[micros.replace(tzinfo=None) : end].turn == window.turn).all()


def test_turns_that_were_not_recorded_have_times_between_their_neighbours(path: Path) -> None:
    window = ringmaster.Archive(path)["bpm01/turn"][1400:1700]
    assert (np.diff(window.tai_ns.astype(np.int64)) == TURN_NS).all()


def test_questions_that_cannot_be_are_refused_with_words(path: Path) -> None:
    stream = ringmaster.Archive(path)["bpm01/turn"]
    for start, stop in ((1000, "2026-01-01"), ("yesterday", None), (np.datetime64("NaT"), None)):
        with pytest.raises(ringmaster.ArchiveArgument, match="expected|two of a kind"):
            stream.read(start, stop)
    with pytest.raises(ringmaster.ArchiveArgument, match="coarser"):
        stream[1000:2000:10]
    with pytest.raises(ringmaster.ObjectNotFound, match="did you mean 'bpm01/turn'"):
        ringmaster.Archive(path)["bpm1/turn"]
    with pytest.raises(ringmaster.ObjectNotFound, match="there are: 100"):
        stream.reduced(7)
    with pytest.raises(ringmaster.ArchiveAbsent):
        ringmaster.Archive(path / "nowhere")


def test_a_reduction_says_what_became_of_its_turns(path: Path) -> None:
    stream = ringmaster.Archive(path)["bpm01/turn"]
    reduced = stream.reduced(100)[1200:1500]
    assert list(reduced.turn) == [1200, 1300, 1400]
    assert list(reduced.min("x1")) == [8400, 9100, 9800]
    assert list(reduced.max("x1")) == [9093, 9793, 10493]
    assert list(reduced.values("sum")) == [624.75, 674.75, 724.75]
    assert list(reduced.present) == [100] * 3
    plain = stream[1200:1300]
    assert reduced.std("x1")[0] == pytest.approx(plain.values("x1").std(), rel=1e-6)


def test_a_view_takes_the_coarsest_that_has_enough_points(path: Path) -> None:
    stream = ringmaster.Archive(path)["bpm01/turn"]
    assert isinstance(stream.view(points=10), ringmaster.ReducedWindow)
    assert isinstance(stream.view(points=11), ringmaster.ArchiveWindow)
    assert isinstance(stream.view(1150, 1310, points=11), ringmaster.ArchiveWindow)


def test_a_view_of_what_was_not_reduced_is_reduced_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringmaster.archive.stream.MOST_PLAIN", 100)
    monkeypatch.setattr("ringmaster.archive.binned.PIECE_RECORDS", 70)
    archive = ringmaster.Archive(simple(tmp_path / "archive"))
    stream = archive["bpm01/turn"]
    made, recorded = stream.view(points=40), stream.reduced(100)[:]
    assert isinstance(made, ringmaster.ReducedWindow)
    assert (made.period, len(made)) == (25, 40)
    assert list(made.turn) == list(range(1000, 2000, 25))
    plain = stream[1025:1050].values("x1")
    of_step = [f("x1")[1] for f in (made.min, made.values, made.max, made.std)]
    assert of_step == pytest.approx([plain.min(), plain.mean(), plain.max(), plain.std()])
    assert list(made.present[:2]) == [24, 25]
    assert np.isnan(made.values("x1")[20:24]).all()
    assert not made.ok[20:24].any()
    assert made.ok.sum() == 36
    assert made.min("x1")[4] == recorded.min("x1")[1]


def test_a_view_is_of_what_reaches_over_the_span(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path / "archive")
    file = writer.file("turns")
    add(file, file.describe(STREAM), 1900, 100)
    file.seal()
    simple(tmp_path / "archive")  # turn 1000 to 1999, where the log "turns" has been removed since
    (tmp_path / "archive/turns/0000000000000001.rmlog").unlink()
    file.seal()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    assert isinstance(stream.view(points=50), ringmaster.ReducedWindow)
    assert isinstance(stream.view(1900, 2000, points=50), ringmaster.ArchiveWindow)


def test_a_restart_of_the_turn_counter_begins_another_run(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    number = file.describe(STREAM)
    add(file, number, 5000, 100, epoch=3)
    add(file, number, 100, 100, epoch=4, begin_ns=BEGIN_NS + 10**9)
    file.seal()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    assert [(run.turn_epoch, run.first_turn, run.last_turn) for run in stream.runs] == [(3, 5000, 5099), (4, 100, 199)]
    assert len(stream.read(5000, 5100)) == 100
    assert len(stream.read(5000, 5100, turn_epoch=4)) == 0
    both = stream[np.datetime64(BEGIN_NS - 37 * 10**9, "ns") :]
    assert len(both) == 200
    assert list(both.epochs[[0, 99, 100, 199]]) == [3, 3, 4, 4]


def test_events_and_their_time(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("events")
    number = file.describe(Description("events", kind=EVENTS, period=0, lanes=()))
    what = [{"event": "put", "name": "ramp/rate", "value": i, "tai_ns": BEGIN_NS + i} for i in (2, 1)]
    file.events(number, what, (BEGIN_NS, BEGIN_NS + 2))
    file.save()
    archive = ringmaster.Archive(tmp_path / "archive")
    assert [event.what["value"] for event in archive.events()] == [1, 2]
    assert archive.events()[0].utc_ns == BEGIN_NS + 1 - 37 * 10**9
    assert archive.events(start=np.datetime64(BEGIN_NS + 2 - 37 * 10**9, "ns"))[0].what["value"] == 2


def test_a_recorded_calibration_gives_physical_units(tmp_path: Path) -> None:
    values = np.zeros(172)
    values[0], values[2] = 1, 1  # version; the first lane is calibrated
    values[4:8] = (10, 0.5, 0, 0)
    writer = ArchiveWriter(tmp_path / "archive")
    events = writer.file("events")
    number = events.describe(Description("events", kind=EVENTS, period=0, lanes=()))
    texts = {"calibration/bpm01": values.tolist(), "calibration/bpm01/units": "x1\tnm\tum\nsum\t\t\n"}
    what = [{"event": "text", "name": name, "value": value} for name, value in texts.items()]
    events.events(number, what, (BEGIN_NS, BEGIN_NS))
    values[4] = 1000
    later = BEGIN_NS + 1000 * TURN_NS
    events.events(number, [{"name": "calibration/bpm01", "value": values.tolist(), "tai_ns": later}], (later, later))
    events.save()
    file = writer.file("turns")
    number = file.describe(replace(STREAM, calibrated=1))
    add(file, number, 100, 10)
    add(file, number, 1100, 10)
    file.save()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    window = stream.read(100, 110, physical=True)
    assert stream.read(1100, 1101, physical=True).values("x1")[0] == 1000 + 0.5 * 7 * 1100
    assert list(window.values("x1")) == [10 + 0.5 * 7 * turn for turn in range(100, 110)]
    assert window.utc[0] == stream[:].utc[0]
    assert stream.physical_units == {"x1": "um", "sum": ""}


def test_a_calibration_that_was_not_recorded_is_missed(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    add(file, file.describe(replace(STREAM, calibrated=1)), 100, 10)
    file.save()
    with pytest.raises(ringmaster.ObjectNotFound, match="parameter calibration/bpm01"):
        ringmaster.Archive(tmp_path / "archive")["bpm01/turn"].read(physical=True)


def test_an_archive_that_grows_is_followed(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path / "archive")
    file = writer.file("turns")
    number = file.describe(STREAM)
    add(file, number, 0, 100)
    file.save()
    archive = ringmaster.Archive(tmp_path / "archive")
    stream = archive["bpm01/turn"]
    assert len(stream[:]) == 100
    add(file, number, 100, 100)
    whole = bytes(file.data)
    file.path.write_bytes(whole[:-1000])  # the last block is being written
    archive.refresh()
    assert len(stream[:]) == 100
    file.path.write_bytes(whole + bytes(10**6))  # and stands in room that was taken before
    archive.refresh()
    assert len(stream[:]) == 200
    assert not archive.damages
    add(file, number, 200, 100)
    file.seal()
    next_file = writer.file("turns", 2)
    add(next_file, next_file.describe(STREAM), 300, 100)
    next_file.save()
    archive.refresh()
    assert stream[:].ok.sum() == 400
    assert len(archive.streams) == 1
    file.path.unlink()  # its time is over
    archive.refresh()
    assert list(stream[:].turn[[0, -1]]) == [300, 399]
    assert [f.sealed for f in archive.files] == [False]


def test_a_file_that_is_pinned_is_there_once(path: Path) -> None:
    pinned = path / "pinned/event/turns"
    pinned.mkdir(parents=True)
    for file in (path / "turns").iterdir():
        (pinned / file.name).hardlink_to(file)
    archive = ringmaster.Archive(path)
    assert len(archive.files) == 2
    assert archive["bpm01/turn"].records == 900
    assert ringmaster.Archive(pinned.parent)["bpm01/turn"].records == 900
    (one,) = pinned.iterdir()
    assert ringmaster.Archive(one)["bpm01/turn"].records == 900


def test_a_file_that_is_stored_anew_is_read_anew(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path / "archive")
    file = writer.file("turns")
    number = file.describe(STREAM)
    for i in range(3):
        add(file, number, 100 * i, 100)
    file.seal()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    packed = writer.file("turns")
    add(packed, packed.describe(STREAM), 0, 300, codec=1)
    packed.path = packed.path.with_suffix(".rmlog.new")
    packed.seal().rename(file.path)
    window = stream[:]
    assert window.ok.all()
    assert len(window) == 300
    assert len(stream.blocks) == 1


def test_a_run_is_found_again_when_older_ones_are_gone(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path / "archive")
    for number, epoch in ((1, 3), (2, 4)):
        file = writer.file("turns", number)
        add(file, file.describe(STREAM), 0, 100, epoch=epoch, begin_ns=BEGIN_NS + number * 10**9)
        file.seal()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    older, newer = stream.ranges(None, None)
    (tmp_path / "archive/turns/0000000000000001.rmlog").unlink()
    anew = file.path.with_suffix(".new")
    anew.write_bytes(file.path.read_bytes())
    anew.replace(file.path)  # another file of the same name, as a recorder stores one anew
    window = stream.read_window([newer])
    assert window.ok.all()
    assert set(window.epochs) == {4}
    assert len(stream.runs) == 1
    assert older.run == 0


def test_what_is_removed_while_it_is_read_is_not_recorded(tmp_path: Path) -> None:
    path = simple(tmp_path / "archive")
    stream = ringmaster.Archive(path)["bpm01/turn"]
    ranges = stream.ranges(None, None)
    (path / "turns/0000000000000001.rmlog").unlink()
    window = stream.read_window(ranges)
    assert set(window.result) == {ReadResult.NOT_RECORDED}
    assert not stream.runs


def test_tai_that_is_told_to_the_host_within_a_recording_leaves_utc_as_it_was(tmp_path: Path) -> None:
    """TAI jumps by 37 s, and files that begin from then on have the new difference to UTC."""
    archive = ArchiveWriter(tmp_path / "archive")
    for number, (offset_s, first) in enumerate(((0, 0), (37, 100)), 1):
        file = archive.file("turns", number, tai_minus_utc_s=offset_s, tai_ns=BEGIN_NS + offset_s * 10**9)
        add(file, file.describe(STREAM), first, 100, begin_ns=BEGIN_NS + offset_s * 10**9)
        file.save()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    window = stream[0:200]
    assert window.ok.all()
    assert (np.diff(window.utc_ns.astype(np.int64)) == TURN_NS).all()
    assert int(window.tai_ns[100] - window.tai_ns[99]) == 37 * 10**9 + TURN_NS
    by_time = stream[datetimes_of(50) : datetimes_of(150)]
    assert by_time.turn.tolist() == list(range(50, 150))


def test_a_clock_that_was_stepped_back_within_a_recording_hides_no_record(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns", tai_minus_utc_s=0, tai_ns=BEGIN_NS)
    number = file.describe(STREAM)
    add(file, number, 0, 100)
    file.mark(number, MarkReason.CLOCK_STEPPED)
    add(file, number, 100, 100, begin_ns=BEGIN_NS - 50 * TURN_NS)
    file.save()
    archive = ringmaster.Archive(tmp_path / "archive")
    stream = archive["bpm01/turn"]
    assert stream[0:200].ok.all()
    assert [mark.reason for mark in archive.marks] == [MarkReason.CLOCK_STEPPED]
    told = stream[
        datetimes_of(60) : datetimes_of(90)
    ]  # these times were twice: from the first to the last that had one
    assert told.turn.tolist() == list(range(60, 140))


def datetimes_of(turn: int) -> np.datetime64:
    """UTC of a turn before the clock moved, where TAI is UTC."""
    return np.datetime64(BEGIN_NS + turn * TURN_NS, "ns")


def test_a_stream_tells_its_delays(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    what = replace(STREAM, filter="low_latency", group_delay_turns=11.0, closing_delay_turns=11.5)
    add(file, file.describe(what), 0, 10)
    file.save()
    stream = ringmaster.Archive(tmp_path / "archive")["bpm01/turn"]
    assert (stream.group_delay_turns, stream.closing_delay_turns, stream.gain) == (11.0, 11.5, 1.0)
    assert stream.delay_turns == 0.0


def test_records_of_a_window_are_of_turns_before_theirs(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    what = replace(STREAM, instrument_kind=InstrumentKind.APPLICATION, group_delay_turns=4095.5)
    add(file, file.describe(what), 0, 10)
    file.save()
    assert ringmaster.Archive(tmp_path / "archive")["bpm01/turn"].delay_turns == 4095.5
