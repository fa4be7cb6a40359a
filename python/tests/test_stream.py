# SPDX-License-Identifier: Apache-2.0
"""Streams: what is read is whole and in its place, or masked with the reason."""

import struct
from threading import Timer

import fabric
import numpy as np
import pytest
from conftest import MakeOwner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ringmaster
from ringmaster.fabric import layout
from ringmaster.fabric.layout import LaneType
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import ReadResult, Window

NAME = "bpm01/turn"
Setup = tuple[fabric.Owner, Stream]


@pytest.fixture
def ring(make_owner: MakeOwner) -> Setup:
    """An empty stream of 64 records, of which the writer keeps 8 to itself."""
    owner = make_owner([fabric.stream(NAME)])
    with ringmaster.attach("demo") as ws:
        return owner, ws.streams[NAME]


def results(window: Window) -> list[ReadResult]:
    return [ReadResult(result) for result in window.result]


def test_a_stream_tells_what_it_is(make_owner: MakeOwner) -> None:
    lanes = (("x", "mm", LaneType.F32), ("", "", LaneType.UNUSED), ("q", "", LaneType.I32))
    make_owner([fabric.stream("bpm01/fast", period=12, group_delay_turns=107.0, gain=1.0, lanes=lanes)])
    with ringmaster.attach("demo") as ws:
        stream = ws.streams["bpm01/fast"]
    assert (stream.instrument, stream.rate, stream.period, stream.capacity) == ("bpm01", "fast", 12, 64)
    assert (stream.group_delay_turns, stream.gain, stream.filter) == (107.0, 1.0, "sharp")
    assert stream.delay_turns == 0.0
    assert (stream.source, stream.instrument_id, stream.instrument_kind.name) == ("10.0.0.1", 7, "BPM")
    assert stream.lanes == lanes
    assert stream.record_type.names == ("turn", "tag", "x", "q")
    assert stream.record_type.fields is not None
    assert stream.record_type.fields["q"] == (np.dtype("<i4"), 24)


def test_an_empty_stream_has_no_head_and_nothing_to_read(ring: Setup) -> None:
    _, stream = ring
    assert stream.head is None
    assert stream.first is None
    assert stream.oldest() is None
    assert len(stream.latest(10)) == 0
    assert results(stream.read(0, 2)) == [ReadResult.BEFORE] * 2


def test_a_window_holds_lanes_status_and_turns(ring: Setup) -> None:
    owner, stream = ring
    owner.set_word(f"stream/{NAME}", layout.STREAM, "published_tsc", (7 << 48) + 5000)
    for turn in (100, 101):
        owner.store(NAME, turn, struct.pack("<ii", turn, -turn), tag=(turn << 48) | 4000 + turn)
    owner.publish(NAME, 101, first=100)
    window = stream.read(100, 2)
    assert window.ok.all()
    assert window["x1"].dtype == np.int32
    assert window["x1"].tolist() == [100, 101]
    assert window["y1"].tolist() == [-100, -101]
    assert window.turn.tolist() == [100, 101]
    assert window.status.tolist() == [100, 101]
    assert window.tsc.tolist() == [(7 << 48) + 4100, (7 << 48) + 4101]
    assert window.missing.tolist() == [0, 0]


@pytest.mark.parametrize("offset", [-1, 0, 1, 1000])
def test_the_tsc_is_whole_on_both_sides_of_a_wrap_of_its_48_bits(ring: Setup, offset: int) -> None:
    owner, stream = ring
    published = (3 << 48) + 2
    owner.set_word(f"stream/{NAME}", layout.STREAM, "published_tsc", published)
    for turn, tsc in ((0, published - 4), (1, published + offset)):
        owner.store(NAME, turn, tag=tsc & ((1 << 48) - 1))
    owner.publish(NAME, 1, first=0)
    assert stream.read(0, 2).tsc.tolist() == [published - 4, published + offset]


def test_a_decimated_record_counts_its_missing_inputs(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.stream("bpm01/fast", period=12)])
    tsc = 0x123456789ABC
    owner.store("bpm01/fast", 24, tag=5 << 48 | (tsc & ~0xFFFF) | 3)
    owner.set_word("stream/bpm01/fast", layout.STREAM, "published_tsc", tsc)
    owner.publish("bpm01/fast", 24, first=0)
    with ringmaster.attach("demo") as ws:
        window = ws.streams["bpm01/fast"].read(12, 2)
    assert window.turn.tolist() == [12, 24]
    assert results(window) == [ReadResult.MISSING, ReadResult.OK]
    assert window.missing.tolist() == [0, 3]
    assert window.status.tolist() == [0, 5]
    assert window.tsc.tolist() == [0, tsc & ~0xFFFF]


def test_lost_turns_are_masked_and_late_ones_come_back(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 0, 9)
    owner.store(NAME, layout.TURN_NONE, at_turn=4)
    window = stream.read(0, 10)
    assert np.flatnonzero(~window.ok).tolist() == [4]
    assert results(window)[4] == ReadResult.MISSING
    assert window["x1"][4] == 0
    assert np.isnan(window.values("x1")[4])
    assert window.values("x1")[5] == 5.0
    owner.store(NAME, 4, struct.pack("<ii", 44, -44))
    assert stream.read(0, 10)["x1"][4] == 44


def test_turns_outside_are_reported_apart(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 1000, 1003)
    assert results(stream.read(998, 8)) == [
        *[ReadResult.BEFORE] * 2,
        *[ReadResult.OK] * 4,
        *[ReadResult.NOT_YET] * 2,
    ]


def test_records_within_the_writers_margin_are_lapped(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 0, 200)
    oldest = 200 - (64 - 8) + 1
    assert stream.oldest() == oldest
    assert stream.oldest(slack=10) == oldest + 10
    window = stream.read(oldest - 2, 4)
    assert results(window) == [ReadResult.LAPPED] * 2 + [ReadResult.OK] * 2
    assert window["x1"].tolist() == [0, 0, oldest, oldest + 1]
    assert stream.latest(1000).turn.tolist() == list(range(oldest, 201))
    assert stream.latest(1000).ok.all()


def test_a_window_around_the_rings_end_is_in_turn_order(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 0, 150)
    window = stream.read(120, 20)
    assert window.ok.all()
    assert window["x1"].tolist() == list(range(120, 140))


@pytest.mark.parametrize(("first", "count", "message"), [(-1, 1, "multiple"), (0, 65, "holds 64"), (0, -1, "holds 64")])
def test_impossible_windows_are_refused(ring: Setup, first: int, count: int, message: str) -> None:
    _, stream = ring
    with pytest.raises(ValueError, match=message):
        stream.read(first, count)
    with pytest.raises(ValueError, match=message):
        stream.view(first, count)


def test_a_turn_between_decimated_records_is_refused(make_owner: MakeOwner) -> None:
    make_owner([fabric.stream("bpm01/fast", period=12)])
    with ringmaster.attach("demo") as ws, pytest.raises(ValueError, match="turn 13 is no multiple .* 12 turns"):
        ws.streams["bpm01/fast"].read(13, 1)


def test_a_view_looks_into_the_ring_itself(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 0, 150)
    view = stream.view(120, 20)
    assert len(view) == 20
    assert [len(piece) for piece in view.pieces] == [8, 12]
    assert np.concatenate([piece["x1"] for piece in view.pieces]).tolist() == list(range(120, 140))
    assert view.ok.all()
    assert view.still_valid()
    owner.store(NAME, 125, struct.pack("<ii", 7, 7))
    assert view.pieces[0]["x1"][5] == 7
    with pytest.raises(ValueError, match="read-only"):
        view.pieces[0]["x1"][0] = 1


def test_a_view_says_when_it_is_no_longer_valid(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 0, 63)
    view = stream.view(20, 10)
    owner.publish(NAME, 20 + 64 - 8 - 1)
    assert view.still_valid()
    owner.publish(NAME, 20 + 64 - 8)
    assert not view.still_valid()


def test_a_view_is_not_valid_over_a_restart(ring: Setup) -> None:
    owner, stream = ring
    owner.fill(NAME, 0, 63)
    view = stream.view(20, 10)
    owner.publish(NAME, 63, turn_epoch=1)
    assert not view.still_valid()


def test_wait_returns_when_the_turn_is_published_and_gives_up_in_time(ring: Setup) -> None:
    owner, stream = ring
    assert not stream.wait(5, timeout=0.01)
    timer = Timer(0.02, lambda: owner.fill(NAME, 0, 5))
    timer.start()
    assert stream.wait(5, timeout=60)
    timer.join()


@pytest.mark.parametrize("members", [{"capacity": 65}, {"capacity": 1 << 20}, {"period": 0}])
def test_a_stream_that_contradicts_itself_is_damaged(make_owner: MakeOwner, members: dict[str, int]) -> None:
    spec = fabric.stream(NAME)
    head = np.frombuffer(bytearray(spec.content), layout.STREAM, 1)
    for member, value in members.items():
        head[0][member] = value
    spec.content = head.tobytes() + spec.content[layout.STREAM.itemsize :]
    make_owner([spec])
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="contradicts itself"):
        ws.streams[NAME]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(head=st.integers(0, 400), lost=st.sets(st.integers(0, 400)), first=st.integers(0, 420), count=st.integers(0, 64))
def test_every_record_is_right_or_refused(ring: Setup, head: int, lost: set[int], first: int, count: int) -> None:
    owner, stream = ring
    for turn in range(max(0, head - 63), head + 1):
        kept = layout.TURN_NONE if turn in lost else turn
        owner.store(NAME, kept, struct.pack("<ii", turn, -turn), at_turn=turn)
    owner.publish(NAME, head, first=0)
    window = stream.read(first, count)
    for turn, result, x in zip(range(first, first + count), results(window), window["x1"].tolist(), strict=True):
        if turn > head:
            assert result == ReadResult.NOT_YET
        elif turn <= head - (64 - 8):
            assert result == ReadResult.LAPPED
        elif turn in lost:
            assert (result, x) == (ReadResult.MISSING, 0)
        else:
            assert (result, x) == (ReadResult.OK, turn)
