# SPDX-License-Identifier: Apache-2.0
"""Edges whose latency is known before, and what the latency test makes of them."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ringmaster.bench.latency import Latency, Options
from ringmaster.bench.latency_edges import (
    Figures,
    Floats,
    NoStep,
    Step,
    around,
    averaged,
    find_step,
    parts_of,
    undisturbed,
)
from ringmaster.bench.latency_run import Run
from ringmaster.report.compare import compare, read_both
from ringmaster.report.plain import as_json
from ringmaster.report.section import Lines, Quantiles

TSC_HZ = 2.5e9
TICKS_PER_US = TSC_HZ / 1e6
TURN_US = 5.0
COMMIT = 10**15
BEFORE, AFTER = 30, 120
HEIGHT_NM = 40_000.0


def arrivals_us(phase_us: float) -> Floats:
    """Of turns around the commit, the first one after it `phase_us` later."""
    return np.arange(-BEFORE, AFTER, dtype=np.float64) * np.float64(TURN_US) + np.float64(phase_us)


def made(
    time_us: Floats, delay_us: float, tau_us: float = 0.0, noise_nm: float = 0.0, up: bool = True, wire_us: float = 0.0
) -> tuple[npt.NDArray[np.uint64], Floats]:
    """Arrivals and readings of a beam that follows so much after the commit, as a first order, seen `wire_us` later."""
    since = np.maximum(time_us - wire_us - delay_us, 0.0)
    share = np.where(time_us - wire_us >= delay_us, 1.0 - np.exp(-since / tau_us) if tau_us else 1.0, 0.0)
    level = HEIGHT_NM * (share if up else 1.0 - share)
    noise = np.random.default_rng(1).normal(0.0, noise_nm, len(time_us)) if noise_nm else 0.0
    return (COMMIT + np.rint(time_us * TICKS_PER_US)).astype(np.uint64), level + noise


def found(tsc: npt.NDArray[np.uint64], values: Floats) -> Step:
    return find_step(COMMIT, tsc, values, TSC_HZ, TURN_US)


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize(("phase_us", "delay_us", "expected_us"), [(3.0, 1.0, 3.0), (3.0, 4.0, 8.0), (0.5, 20.0, 20.5)])
def test_the_first_turn_that_shows_an_immediate_step_is_reported(
    phase_us: float, delay_us: float, expected_us: float, up: bool
) -> None:
    step = found(*made(arrivals_us(phase_us), delay_us, up=up))
    assert step.arrival_us == pytest.approx(expected_us, abs=1e-3)
    assert step.crossing_us == pytest.approx(expected_us - TURN_US / 2, abs=1e-3)
    assert step.height == (HEIGHT_NM if up else -HEIGHT_NM)
    assert step.uneven_us == pytest.approx(0.0, abs=1e-3)


def test_the_crossing_of_a_slow_step_is_that_of_its_half() -> None:
    tau_us, delay_us, wire_us = 1e3 / (2 * np.pi * 10), 25.0, 2.0
    half_us = delay_us + wire_us + tau_us * np.log(2)
    crossings = [
        found(*made(arrivals_us(phase), delay_us, tau_us, noise_nm=50.0, wire_us=wire_us)).crossing_us
        for phase in np.linspace(0.1, 4.9, 25)
    ]
    assert np.median(crossings) == pytest.approx(half_us, abs=0.3), "a straight line sags a little"


def test_a_known_jitter_is_reported() -> None:
    delays = np.random.default_rng(2).uniform(20.0, 30.0, 4000)
    phases = np.random.default_rng(3).uniform(0.0, TURN_US, 4000)
    steps = [found(*made(arrivals_us(phase), delay)) for phase, delay in zip(phases, delays, strict=True)]
    figures = Figures.of([step.arrival_us for step in steps])
    assert figures.count == 4000
    assert figures.median == pytest.approx(25.0 + TURN_US / 2, abs=0.5), "half a turn's wait comes on top"
    assert figures.least == pytest.approx(20.0, abs=0.5)
    assert figures.most == pytest.approx(30.0 + TURN_US, abs=0.5)
    assert figures.peak_to_peak == pytest.approx(10.0 + TURN_US, abs=1.0)
    assert figures.p1 < figures.median < figures.p99
    assert figures.most_of_it < figures.peak_to_peak


def test_a_late_ring_is_part_of_the_latency_and_known_as_disturbed() -> None:
    even = arrivals_us(2.0)
    late = even.copy()
    late[(even > 0) & (even < 400.0)] = 400.0
    steps = [found(*made(even, 10.0)), found(*made(late, 10.0))]
    assert steps[1].arrival_us == pytest.approx(400.0, abs=1e-3)
    assert undisturbed(steps, TURN_US) == steps[:1]


def test_turns_are_looked_for_by_their_arrival() -> None:
    tsc, _ = made(arrivals_us(2.0), 0.0)
    assert around(COMMIT, tsc, 10) == slice(BEFORE - 10, len(tsc))
    later = tsc + np.uint64(20 * TURN_US * TICKS_PER_US)
    assert around(COMMIT, later, 5) == slice(BEFORE - 20 - 5, len(tsc))
    tsc[3:5] = 0
    assert around(COMMIT, tsc, 10) == slice(BEFORE - 10, len(tsc))


@pytest.mark.parametrize(
    ("index", "is_found"),
    [(BEFORE - 3, False), (BEFORE + 1, False), (BEFORE + 40, True)],
    ids=["before the commit", "between", "behind the step"],
)
def test_a_missing_turn_makes_no_latency_longer(index: int, is_found: bool) -> None:
    tsc, values = made(arrivals_us(2.0), 12.0)
    tsc[index], values[index] = 0, np.nan
    if is_found:
        assert found(tsc, values).arrival_us == pytest.approx(12.0, abs=1e-3)
    else:
        with pytest.raises(NoStep, match="are missing"):
            found(tsc, values)


def test_what_is_no_step_is_none() -> None:
    tsc, values = made(arrivals_us(2.0), 1e9, noise_nm=500.0)
    with pytest.raises(NoStep, match="shows no step"):
        found(tsc, values)
    with pytest.raises(NoStep, match="too few turns"):
        found(tsc[BEFORE - 2 :], values[BEFORE - 2 :])


def test_a_step_before_its_commit_is_refused() -> None:
    tsc, values = made(arrivals_us(2.0), -20.0)
    with pytest.raises(NoStep, match="before its commit"):
        found(tsc, values)


def test_single_steps_average_to_their_shape() -> None:
    steps = [found(*made(arrivals_us(phase), 20.0)) for phase in (0.5, 1.5, 2.5)]
    shape = averaged(steps, np.array([-10.0, 10.0, 40.0, 100.0]))
    assert shape == pytest.approx([0.0, 0.0, 1.0, 1.0])


def test_a_run_is_cut_into_parts() -> None:
    assert [len(part) for part in parts_of(list(range(105)))] == [11] * 5 + [10] * 5
    assert [len(part) for part in parts_of(list(range(25)))] == [13, 12]
    assert parts_of([1.0, 2.0]) == []


def measured(delay_us: float) -> Latency:
    """Of two variants of which one was not measured."""
    latency = Latency(Options())
    run = Run("added", 200_000.0, [found(*made(arrivals_us(2.0), delay_us + i % 3)) for i in range(30)])
    run.sent_ns = run.visible_ns = {"count": 30.0, "p50": 300.0, "p99": 900.0}
    latency.rows = [run]
    return latency


def test_two_reports_can_be_compared(tmp_path: Path) -> None:
    for name, delay_us in (("first", 10.0), ("second", 50.0)):
        (tmp_path / name).write_text(json.dumps(as_json(measured(delay_us).section())))
    compared = {row.name: row.verdict for row in compare(*read_both(tmp_path / "first", tmp_path / "second"))}
    assert compared["latency_us.added"] == "apart"
    assert compared["latency_us.source"] == "not measured"


def test_the_step_is_drawn() -> None:
    tails, step, spread = measured(10.0).charts()
    assert isinstance(step, Lines)
    assert isinstance(spread, Lines)
    assert list(step.series) == ["setpoint", "BPM, median of 30 edges", *(f"BPM, single edge {i}" for i in (1, 2, 3))]
    for name, points in step.series.items():
        assert (points[0][1], points[-1][1]) == pytest.approx((0.0, 1.0), abs=0.05), name
    assert sum(share for _, share in next(iter(spread.series.values()))) == pytest.approx(1.0)
    assert isinstance(tails, Quantiles)
    assert Latency(Options()).charts() == []
