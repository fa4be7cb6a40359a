# SPDX-License-Identifier: Apache-2.0
"""An alignment of a part of a model ring with hidden errors: what it finds, what it does when things go wrong."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringmaster.bba import session, store
from ringmaster.bba.analyse import Found
from ringmaster.bba.kicks import Doubt
from ringmaster.bba.measure import Taken
from ringmaster.bba.model import Model
from ringmaster.bba.model_plant import Errors, ModelPlant, fail_of
from ringmaster.bba.plan import Plan, Settings, make_plan
from ringmaster.bba.plant import BeamLost
from ringmaster.bba.report import Truth, doubts, score, tell, usable
from ringmaster.bench.bba import mapping_of_ring

SETTINGS = Settings()


class Ring:
    """One, made once for all tests of this file."""

    def __init__(self) -> None:
        twin, mapping = mapping_of_ring()
        self.plant = ModelPlant(twin.lattice, mapping, Errors(ground_nm=2.0), 3)
        self.model = Model(self.plant.twin.copy(), mapping)
        self.plan = make_plan(self.model, SETTINGS, bpms=(1, 15, 33, 61))
        self.about = session.about_of("elettra2_like", Path("mapping.yaml"), SETTINGS, self.plan, "test")

    def run(self, out: Path, done: frozenset[int] = frozenset()) -> list[str]:
        """Measures, and gives what was told."""
        told: list[str] = []
        session.run(self.plant, self.plan, out, self.about, set(done), told=told.append)
        return told

    def found(self, out: Path) -> Found:
        """By the ring's own lattice."""
        return session.analysed(store.load(out), self.model, Doubt())


@pytest.fixture(scope="module")
def ring() -> Ring:
    return Ring()


def test_centres_of_a_ring_are_found_and_everything_is_put_back(ring: Ring, tmp_path: Path) -> None:
    """One BPM has the wrong sign, another swapped planes: their offsets are found as they read."""
    gain = ring.plant._gain
    kept = gain.copy()
    gain[15] = np.diag([-1.0, 1.0]) @ gain[15]
    gain[33] = gain[33][::-1]
    try:
        ring.run(tmp_path / "bba.h5")
        found = ring.found(tmp_path / "bba.h5")
        truth = {
            t.bpm: Truth(t.magnet.name, tuple((ring.plant.truth_m(t) * 1e9).tolist()))
            for group in ring.plan.groups
            for t in group.targets
        }
    finally:
        ring.plant._gain = kept
    assert ring.plant.moved == {}
    assert {one.kind for one in found.offsets} == {"quadrupole", "sextupole"}
    assert len(found.offsets) == 4
    for one in found.offsets:
        wrong = np.abs(np.array(one.offset_nm) - truth[one.bpm].offset_nm)
        assert (wrong < 4 * np.array(one.total_nm)).all(), one
        assert max(one.total_nm) < 15e3
        assert one.strength == pytest.approx(1.0, abs=0.05)
    assert found.swung.faults[15] == "wrong sign of x"
    assert found.swung.faults[33] == "planes swapped"
    assert len(usable(found)) == 4
    assert sum(one.count for one in score(found.offsets, truth)) == 4
    lines = list(tell(found, ring.model.mapping.rows, whole=True))
    assert any("wrong sign" in line for line in lines)


def test_a_supply_that_trips_is_left_out_and_its_group_goes_on(ring: Ring, tmp_path: Path) -> None:
    group = max(ring.plan.groups, key=lambda one: len(one.targets))
    lost = group.targets[0].magnet.supply
    ring.plant._fails = fail_of(lost, 0)
    try:
        told = ring.run(tmp_path / "bba.h5")
    finally:
        ring.plant._fails = lambda _number, _offsets: None
    assert told == [f"left out: {lost}: tripped"]
    assert ring.plant.moved == {}
    stepped = [name for one in store.load(tmp_path / "bba.h5").taken for name in one.supplies]
    assert lost not in stepped
    assert len(stepped) == 3


def test_what_was_done_is_kept_and_the_rest_is_measured_later(ring: Ring, tmp_path: Path) -> None:
    """First a person interrupts the last group, then it loses the beam, then it is measured."""
    out = tmp_path / "bba.h5"
    done: set[int] = set()
    for how in (KeyboardInterrupt(), BeamLost("the beam was lost")):

        def ends(_number: int, offsets: Mapping[str, float], how: BaseException = how) -> None:
            if ring.plan.groups[-1].targets[0].magnet.supply in offsets and any(offsets.values()):
                raise how

        ring.plant._fails = ends
        try:
            with pytest.raises(type(how)):
                ring.run(out, frozenset(done))
        finally:
            ring.plant._fails = lambda _number, _offsets: None
        assert ring.plant.moved == {}
        assert len(store.load(out).taken) == len(ring.plan.groups) - 1
        plan, done = session.plan_of(ring.model, SETTINGS, out, bpms=(1, 15, 33, 61), go_on=True)
        assert plan.sines == ring.plan.sines
        assert done == {group.number for group in ring.plan.groups[:-1]}
    ring.run(out, frozenset(done))
    assert len(ring.found(out).offsets) == 4
    told_of_silence(ring, out)
    with pytest.raises(ValueError, match="go on with the same options"):
        session.plan_of(ring.model, replace(SETTINGS, group=2), out, bpms=(1, 15, 33, 61), go_on=True)


def test_a_group_keeps_the_tunes_and_patterns_that_differ(ring: Ring) -> None:
    plan: Plan = make_plan(ring.model, SETTINGS)
    assert sum(len(group.targets) for group in plan.groups) == 168
    assert max(group.condition for group in plan.groups) < 20
    assert max(abs(shift) for group in plan.groups for shift in group.tune_shift) < 0.02
    assert plan.least_swing > 0.5


def told_of_silence(ring: Ring, out: Path) -> None:
    """Of the same measurement: a BPM that sends nothing, and one that reads no swing, are named and left out."""
    measured = store.load(out)

    def silent(one: Taken) -> Taken:
        states = one.states.copy()
        states[:, 30:32] = np.nan
        states[:, 66:68] = 1000.0
        return replace(one, states=states)

    found = session.analysed(replace(measured, taken=tuple(silent(one) for one in measured.taken)), ring.model, Doubt())
    told = {one.bpm: list(doubts(one)) for one in found.offsets}
    assert told[15] == ["does not send"]
    assert told[33]
    assert not told[1]
    assert {one.bpm for one in usable(found)} == {1, 61}
