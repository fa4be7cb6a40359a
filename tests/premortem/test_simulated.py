# SPDX-License-Identifier: Apache-2.0
"""The shipped detectors on the shipped ring, in simulated time: each sees its event in the turns that it states, the
permit is gone within the cycle, and neither a quiet machine nor garbage make an alarm.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ringmaster.places import CONFIGS
from ringmaster.simulation import Simulation, simulate

LOSSES, ORBIT, RF, OSCILLATION, DRIFT = range(5)
THRESHOLDS = (5.0, 50e3, 20e3, 200.0, 0.5)
"""As in configs/premortem-detectors.yaml; so are the steps of filters below."""
PERIOD_TURNS = 12
EVENT_S = 0.3
ARMED = ("0.12:premortem/reset=1", "0.15:premortem/arm=1")

Floats = npt.NDArray[np.float64]


SHIPPED = (CONFIGS / "premortem.yaml", CONFIGS / "premortem-ring.yaml", "premortem")


def run(folder: Path, *at: str, seconds: float, before: Sequence[str] = ARMED) -> Simulation:
    """The shipped machine; events of the ring happen at EVENT_S."""
    return simulate(
        *SHIPPED,
        folder,
        seconds=seconds,
        at=[*before, *at],
        refresh_ms=0,
    )


def values(simulation: Simulation, instrument: str, lanes: Sequence[str]) -> Floats:
    """Lanes of an input, as they came, [cycle, lane]."""
    place = simulation.inputs.index(f"{instrument}/cycle")
    described = simulation.summary["inputs"][place]
    columns = [described["lanes"].index(lane) for lane in lanes]
    stored = simulation.readings[:, place]
    whole = [stored[:, c].astype(float) if described["types"][c] == "i32" else floats(stored[:, c]) for c in columns]
    return np.stack(whole, axis=1)


def floats(stored: npt.NDArray[np.int32]) -> Floats:
    return np.ascontiguousarray(stored).view(np.float32).astype(float)


def first(condition: npt.NDArray[np.bool_], after: int = 0) -> int:
    """The first cycle for which it holds."""
    found = np.flatnonzero(condition[after:])
    assert len(found) > 0, "the event did not happen"
    return after + int(found[0])


def crossed(simulation: Simulation, detector: int) -> int:
    """The cycle whose record crossed; of its last alarm, and there is one only."""
    assert simulation.final("count")[detector] == 1
    first_turn = simulation.summary["first_turn"]
    return int(simulation.final("crossed")[detector] - first_turn) // PERIOD_TURNS


def event(simulation: Simulation) -> int:
    return int(np.searchsorted(simulation.time_s, EVENT_S - 1e-9))


def assert_withdrawn_within_a_cycle(simulation: Simulation) -> None:
    """In the vector of the step that crossed; sent before the next step; and by then at the one that receives it."""
    alarm = first(simulation.reported("alarms") > 0)
    permit = simulation.setpoints[:, 0]
    assert permit[alarm - 1] == 1
    assert (permit[alarm:] == 0).all()
    assert simulation.sent[alarm, 0] == 1
    assert (simulation.sent[alarm + 1 :, 0] == 0).all()
    assert (simulation.currents[alarm + 2 :, 0] == 0).all()
    turn = simulation.summary["first_turn"] + PERIOD_TURNS * alarm
    assert simulation.reported("alarm_turn")[alarm] == turn
    assert simulation.final("crossed")[int(simulation.reported("alarm_detector")[alarm])] == turn


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """The RF trips, and some 200 turns later the beam is lost."""
    return run(tmp_path_factory.mktemp("trip"), f"{EVENT_S}:event=rf_trip", seconds=EVENT_S + 0.01)


def test_a_phase_excursion_is_seen(trip: Simulation) -> None:
    phase = values(trip, "llrf01", ["cavity_phase"])[:, 0]
    way = np.abs(phase - phase[: event(trip)].mean())
    begin = first(way >= THRESHOLDS[RF], event(trip))
    assert 0 <= crossed(trip, RF) - begin < 2
    assert_withdrawn_within_a_cycle(trip)


def test_a_replay_decides_the_same(trip: Simulation, tmp_path: Path) -> None:
    again = simulate(*SHIPPED, tmp_path / "again", replay=trip.folder, shuffle=1)
    for file in ("setpoints.f64", "reported.f64", "streams.f32"):
        assert (again.folder / file).read_bytes() == (trip.folder / file).read_bytes(), file


def test_losses_are_seen_in_the_first_record_that_has_them(trip: Simulation) -> None:
    """Of 200 counts a channel, a quarter in the mean of four is enough."""
    lanes = [f"loss{channel}" for channel in range(1, 11)]
    loss = values(trip, "blm01", lanes).mean(axis=1)
    begin = first(loss > 4 * THRESHOLDS[LOSSES] + 10, event(trip))
    assert 0 <= begin - crossed(trip, LOSSES) <= 1
    assert first(trip.reported("alarms") > 0) < begin - 10, "and the permit has gone long before"


def test_a_runaway_orbit_is_seen(tmp_path: Path) -> None:
    """A corrector trips, and the orbit follows at its 100 Hz."""
    simulation = run(tmp_path, f"{EVENT_S}:trip=sr/ps/cf_01", seconds=EVENT_S + 0.05)
    orbit = np.hstack([values(simulation, f"bpm0{k}", ["x1", "y1", "x2", "y2"]) for k in range(1, 5)])
    way = orbit - orbit[:10000].mean(axis=0)
    begin = first(np.sqrt((way**2).mean(axis=1)) >= THRESHOLDS[ORBIT], event(simulation))
    assert begin - 8 <= crossed(simulation, ORBIT) <= begin + 4
    assert_withdrawn_within_a_cycle(simulation)


def test_an_instability_is_seen_while_it_grows(tmp_path: Path) -> None:
    """Four windows of 12 steps after its envelope has left the floor, and before it saturates."""
    simulation = run(tmp_path, f"{EVENT_S}:machine/growth_y=0.002", seconds=EVENT_S + 0.02)
    envelope = values(simulation, "tbt01", ["y1"])[:, 0]
    begin = first(envelope - envelope[event(simulation) - 2000 : event(simulation)].mean() >= 20e3, event(simulation))
    assert 0 <= crossed(simulation, OSCILLATION) - begin <= (4 + 1) * 12
    levels = simulation.stream("levels")["d03"]
    assert np.nanmax(levels) == pytest.approx(0.002 * 1157000, rel=0.15)
    assert_withdrawn_within_a_cycle(simulation)


def test_a_drift_is_told_before_its_limit(tmp_path: Path) -> None:
    """By twelve blocks of 1000 steps, half of which are its delay: the orbit drifts by a slow sine of 5 A."""
    simulation = run(tmp_path, f"{EVENT_S}:event=ripple, supply: cf/1, amplitude: 5, hz: 0.5", seconds=EVENT_S + 0.4)
    mean = np.hstack([values(simulation, f"bpm0{k}", ["x1"]) for k in range(1, 5)]).mean(axis=1)
    blocks = mean[: len(mean) // 1000 * 1000].reshape(-1, 1000).mean(axis=1)
    slope_per_s = np.gradient(blocks) * simulation.rate_hz / 1000
    limit = np.where(slope_per_s > 0, 200e3, -200e3)
    begin = 1000 * first(slope_per_s / (limit - blocks) >= THRESHOLDS[DRIFT], event(simulation) // 1000 + 1)
    assert -2000 <= crossed(simulation, DRIFT) - begin <= 12000
    assert simulation.setpoints[crossed(simulation, DRIFT), 0] == 1, "it has no actions"
    assert crossed(simulation, DRIFT) < first(simulation.reported("acted") > 0), "and is there before the orbit's alarm"


def test_in_shadow_it_only_counts(tmp_path: Path) -> None:
    simulation = run(tmp_path, f"{EVENT_S}:event=rf_trip", seconds=EVENT_S + 0.01, before=ARMED[:1])
    alarm = first(simulation.reported("alarms") > 0)
    assert (simulation.setpoints[alarm:, 0] == 1).all()
    assert simulation.reported("acted")[-1] == 0
    assert simulation.reported("shadowed")[-1] == (simulation.final("count")[:DRIFT] > 0).sum()
    assert simulation.reported("latched")[-1] == (simulation.final("state") == 5).sum() >= 3


def test_a_quiet_machine_makes_no_alarm(tmp_path: Path) -> None:
    simulation = run(tmp_path, seconds=4)
    assert simulation.reported("alarms")[-1] == 0
    assert (simulation.final("bad") == 1).all(), "the first record lacks the turns before the run"
    assert (simulation.setpoints[simulation.between(0.2), 0] == 1).all()
    levels = simulation.stream("levels")
    for detector, threshold in enumerate(THRESHOLDS):
        assert np.nanmax(levels[f"d{detector:02d}"]) < 0.7 * threshold


def test_inputs_that_are_lost_or_frozen_never_act(tmp_path: Path) -> None:
    """All of them at once, each way, and back."""
    instruments = ("bpm01", "bpm02", "bpm03", "bpm04", "tbt01", "blm01", "llrf01")
    at = [f"{EVENT_S}:freeze={one}" for one in instruments]
    at += [f"{EVENT_S + 0.05}:back={one}" for one in instruments]
    at += [f"{EVENT_S + 0.2}:drop={one}" for one in instruments]
    at += [f"{EVENT_S + 0.25}:back={one}" for one in instruments]
    simulation = run(tmp_path, *at, seconds=EVENT_S + 0.5)
    assert simulation.reported("alarms")[-1] == 0
    assert (simulation.setpoints[simulation.between(0.2), 0] == 1).all()
    lost = int(0.05 * simulation.rate_hz)
    bad = simulation.final("bad")
    assert (bad >= lost).all()
    assert (bad[[ORBIT, RF]] >= 2 * lost - 250).all(), "and what is frozen, after 200 records of the same"
