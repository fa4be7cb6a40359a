# SPDX-License-Identifier: Apache-2.0
"""Parameters, counters, the clock, histograms and texts."""

import fabric
import numpy as np
import pytest
from conftest import MakeOwner
from hypothesis import given, settings
from hypothesis import strategies as st

import ringmaster
from ringmaster.fabric import layout
from ringmaster.fabric.counters import lost, refused
from ringmaster.fabric.histogram import bucket_floor
from ringmaster.fabric.layout import ElementType, Severity

TURN_RATE = fabric.parameter(
    "server/turn_rate_hz", np.array([1157000.0]), "Hz", ElementType.F64, {"minor_low": 1e6}, severity=Severity.MINOR
)


def test_a_parameter_has_value_unit_limits_and_time(make_owner: MakeOwner) -> None:
    owner = make_owner([TURN_RATE])
    for member, value in (("timestamp_tai_ns", 10**18), ("turn", 77), ("sequence", 6)):
        owner.set_word("server/turn_rate_hz", layout.PARAMETER, member, value)
    with ringmaster.attach("demo") as ws:
        rate = ws.parameters["server/turn_rate_hz"]
        assert (rate.value, rate.unit, rate.owner) == (1157000.0, "Hz", "server")
        assert (rate.limits.minor_low, rate.limits.minor_high) == (1e6, None)
        reading = rate.read()
    assert (reading.timestamp_tai_ns, reading.turn, reading.changes) == (10**18, 77, 3)
    assert reading.severity == Severity.MINOR


def test_parameters_are_arrays_matrices_and_texts_too(make_owner: MakeOwner) -> None:
    matrix = np.arange(6, dtype="<i4").reshape(2, 3)
    make_owner(
        [
            fabric.parameter("a", np.array([1, 2, 3], "<u4"), "", ElementType.U32),
            fabric.parameter("m", matrix, "mm", ElementType.I32),
            fabric.parameter("t", np.frombuffer("0.1 µ\0\0".encode(), "u1"), "utf-8", ElementType.U8),
        ]
    )
    with ringmaster.attach("demo") as ws:
        assert ws.parameters["a"].value.tolist() == [1, 2, 3]  # type: ignore[union-attr]
        assert np.array_equal(ws.parameters["m"].value, matrix)
        assert ws.parameters["t"].value == "0.1 µ"
        assert ws.parameters["a"].read().turn is None


def test_a_value_whose_writer_was_killed_is_damaged(make_owner: MakeOwner) -> None:
    owner = make_owner([TURN_RATE])
    owner.set_word(TURN_RATE.name, layout.PARAMETER, "sequence", 3)
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="killed"):
        ws.parameters[TURN_RATE.name].read()


def test_a_parameter_that_contradicts_itself_is_damaged(make_owner: MakeOwner) -> None:
    spec = fabric.parameter("p", np.array([1.0]), "", ElementType.F64, count=1000)
    make_owner([spec])
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="'p' contradicts itself"):
        ws.parameters["p"]


def test_objects_can_be_read_when_their_workspace_is_closed(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock(turn=7), fabric.grant("ramp"), TURN_RATE, fabric.setpoints("sent", [[1.0, 2.0]])])
    with ringmaster.attach("demo") as ws:
        clock, grant, rate = ws.clock, ws.grants["ramp"], ws.parameters[TURN_RATE.name]
        sent = ws.setpoints["sent"]
    assert clock.read().turn == 7
    assert grant.read().state.name == "ABSENT"
    assert rate.value == 1157000.0
    row = sent.read()
    assert row is not None
    assert row.values.tolist() == [1.0, 2.0]


def test_a_clock_that_lies_beyond_its_segment_is_damaged(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.clock()])
    owner.set_directory(0, "offset", len(owner.memory))
    owner.set_directory(0, "bytes", 0)
    with pytest.raises(ringmaster.WorkspaceDamaged), ringmaster.attach("demo") as ws:
        ws.clock.read()


def test_setpoints_that_the_library_could_not_read_are_damaged(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.setpoints("sent", [[1.0, 2.0], [3.0, 4.0]])])
    owner.set_word("setpoints/sent", layout.SETPOINTS, "vector_bytes", 104)
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="contradict themselves"):
        ws.setpoints["sent"].read()


def test_counters_are_live_and_typed(make_owner: MakeOwner) -> None:
    owner = make_owner(
        [
            fabric.counters(
                "stream/bpm01", "stream", accepted=90, out_of_order=2, skipped=10, turn_ahead=3, turn_behind=4
            ),
            fabric.counters("clock", "clock", anchors=1),
        ]
    )
    with ringmaster.attach("demo") as ws:
        block = ws.counters("stream/bpm01")
        assert block.set_name == "stream"
        assert (block["accepted"], lost(block), refused(block)) == (90, 8, 7)
        owner.set_counter("stream/bpm01", "accepted", 91)
        assert dict(block)["accepted"] == 91
        assert block.counters["skipped"].unit == "turns"
        assert ws.counters("clock")["anchors"] == 1
        assert list(ws.counter_blocks) == ["stream/bpm01", "clock"]
        with pytest.raises(KeyError, match="did you mean 'accepted'"):
            block["acepted"]


def test_the_clock_converts_between_turns_tsc_and_tai(make_owner: MakeOwner) -> None:
    make_owner(
        [
            fabric.clock(
                anchored=1,
                turn=1000,
                turn_tsc=10**12,
                ticks_per_turn_bits=2500.5,
                residual_ticks_bits=3.0,
                tsc_hz_bits=2.5e9,
                tai_tsc=10**12,
                tai_ns=10**18,
                measured_ticks_per_turn_bits=1.25,
            )
        ]
    )
    with ringmaster.attach("demo") as ws:
        clock = ws.clock.read()
    assert clock.turn_rate_hz == pytest.approx(2.5e9 / 2500.5)
    assert clock.tsc_at(1010) == 10**12 + 25005
    assert clock.turn_at(10**12 + 25005) == 1010
    assert clock.turn_at(10**12 + 25004) == 1009
    assert clock.turn_at(10**12 - 1) == 999
    assert clock.tai_ns_at(10**12 + 2500) == 10**18 + 1000
    assert clock.residual_ticks == 3.0
    assert clock.supported
    assert clock.measured_turn_rate_hz == pytest.approx(2e9)


def test_turns_need_an_anchored_clock(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock(tsc_hz_bits=2.5e9)])
    with ringmaster.attach("demo") as ws:
        clock = ws.clock.read()
    assert clock.turn_rate_hz == 0
    with pytest.raises(ValueError, match="not anchored"):
        clock.turn_at(5)


def test_a_workspace_without_a_clock_says_so(make_owner: MakeOwner) -> None:
    make_owner([fabric.histogram("h", {}, 0)])
    with ringmaster.attach("demo") as ws:
        with pytest.raises(ringmaster.ObjectNotFound, match="no clock"):
            _ = ws.clock
        assert np.isnan(ws.histograms["h"].read().largest_ns)


def test_percentiles_are_in_nanoseconds(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock(tsc_hz_bits=2e9), fabric.histogram("latency/bpm01", {10: 90, 40: 9, 100: 1}, 900)])
    with ringmaster.attach("demo") as ws:
        reading = ws.histograms["latency/bpm01"].read()
    assert reading.total == 100
    assert reading.percentile_ns(50) == 5.0
    assert reading.percentile_ns(99) == (bucket_floor(41) - 1) / 2
    assert reading.percentile_ns(100) == min(900, bucket_floor(101) - 1) / 2
    assert reading.summary()["max"] == 450.0
    assert reading.since(reading).total == 0
    assert np.isnan(reading.since(reading).percentile_ns(50))
    with pytest.raises(ValueError, match="between 0 and 100"):
        reading.percentile_ns(101)


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_buckets_follow_each_other_without_gaps(value: int) -> None:
    index = value if value < 16 else ((value.bit_length() - 4) << 4) + (value >> (value.bit_length() - 5) & 15)
    assert bucket_floor(index) <= value < bucket_floor(index + 1)
