# SPDX-License-Identifier: Apache-2.0
"""Costs for plans, put together from what programs print."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measure import Cost as MeasuredCost
from ringmaster.bench.measure import Measured
from ringmaster.bench.plan_costs import processor, put_together, receive_cost, transmit_cost
from ringmaster.bench.printed import Times
from ringmaster.plan.costs import DEFAULT, Cost

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def times(median: float) -> Times:
    """With a spread of a half."""
    return Times(median, median / 2, median * 1.5, median * 2, median * 3, 21)


def test_a_cost_is_that_of_cold_buffers() -> None:
    """Poll, role and free."""
    costs = tuple(
        MeasuredCost(name, 1024, 1 << 20, times(10), times(full), times(full - 10))
        for name, full in (("hot", 40.0), ("cold", 60.0))
    )
    assert receive_cost(Measured("avx512", True, 21, costs)) == Cost(30.0, 60.0, 90.0)
    with pytest.raises(NotMeasured, match="no figure of cold buffers"):
        receive_cost(Measured("avx512", True, 21, costs[:1]))


def test_a_setpoint_costs_its_part_of_vector_and_cycle_and_its_frame() -> None:
    """Of 96 chains."""
    each = {"low": 96.0, "median": 192.0, "high": 384.0}
    said = {"chains": 96, "vector_ns": each, "cycle_moving_ns": each}
    said["fill_datagram_ns"] = {"low": 10.0, "median": 11.0, "high": 12.0}
    assert transmit_cost(json.dumps(said)) == Cost(12.0, 15.0, 20.0)
    for text in ("", "{}", "[1]"):
        with pytest.raises(NotMeasured, match="printed no figures"):
            transmit_cost(text)


def test_what_could_not_be_measured_is_scaled_and_named() -> None:
    """By how much longer a packet takes here."""
    twice = {8: Cost(100.0, 2 * DEFAULT.receive_ns[8].median, 200.0)}
    made = put_together({"receive_ns": twice, "near_ns": 55.0}, ["transmit"], NOW)
    assert made.receive_ns == twice
    assert made.near_ns == 55.0
    assert made.transmit_ns.median == pytest.approx(2 * DEFAULT.transmit_ns.median)
    assert made.measured == "ringmaster plan costs, 2026-01-02 03:04 UTC; taken from elsewhere: transmit"


def test_the_processor_is_told_by_its_model(tmp_path: Path) -> None:
    """As hwloc tells it."""
    path = tmp_path / "cpuinfo"
    path.write_text("processor\t: 0\nmodel name\t: AMD EPYC 9755\n")
    assert processor(path) == "AMD EPYC 9755"
    assert processor(tmp_path / "absent") == ""
