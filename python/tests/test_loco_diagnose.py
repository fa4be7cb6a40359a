# SPDX-License-Identifier: Apache-2.0
"""BPMs and correctors that lie are named before the fit, and put right on request."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ringmaster.loco.data import Data
from ringmaster.loco.diagnose import Fault, before_fit, confirmed, excluded, repaired
from ringmaster.loco.fit import Fitter, Options
from ringmaster.loco.gradients import chosen, usual
from ringmaster.loco.model import Floats, Model, State
from ringmaster.loco.session import diagnosed
from ringmaster.loco.trial import Errors, made, measured, model_of
from ringmaster.twin import Twin, load_lattice

HALF = 168


@cache
def trial(users: bool = False) -> tuple[Model, Data]:
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    gradients = [one for pattern in ("Q*",) for one in chosen(twin.lattice, pattern, "B", 0.003)]
    model = model_of(twin, gradients, "CS_*", 6)
    return model, measured(model, made(model, Errors(beta_beat=0.05), seed=5), users, seed=6)


def faults_of(values: Floats, users: bool = False) -> list[Fault]:
    model, data = trial(users)
    ideal = State.ideal(len(model.gradients), HALF, model.shape[1])
    return before_fit(replace(data, values=values), model.answers(ideal.gradients))


@pytest.mark.parametrize("users", [False, True])
def test_nothing_is_wrong_with_good_ones(users: bool) -> None:
    assert faults_of(trial(users)[1].values, users) == []


@pytest.mark.parametrize("users", [False, True])
def test_each_fault_is_named(users: bool) -> None:
    _, data = trial(users)
    values = data.values.copy()
    values[3] *= -1
    values[5] = 0
    values[[20, HALF + 20]] = values[[HALF + 20, 20]]
    values[[40, 43]] = values[[43, 40]]
    values[60] = np.random.default_rng(1).standard_normal(values.shape[1]) * values[60].std()
    values[80] *= 0.4
    values[:, 7] *= -1
    values[:, [11, 12]] = values[:, [12, 11]]
    values[:, 15] = 0
    found = {(one.column, one.at): one for one in faults_of(values, users)}
    kinds = {key: one.kind for key, one in found.items()}
    assert kinds == {
        (False, 3): "sign",
        (False, 5): "dead",
        (False, 20): "swapped",
        (False, HALF + 20): "swapped",
        (False, 40): "swapped",
        (False, 43): "swapped",
        (False, 60): "noise",
        (False, 80): "gain",
        (True, 7): "sign",
        (True, 11): "swapped",
        (True, 12): "swapped",
        (True, 15): "dead",
    }
    assert "planes swapped" in str(found[False, 20])
    assert str(found[False, 40]) == "bpm041/x: swapped with bpm044/x"
    assert found[True, 11].instead == 12


def test_repaired_is_as_if_it_had_not_been() -> None:
    _, data = trial()
    values = data.values.copy()
    values[3] *= -1
    values[[20, HALF + 20]] = values[[HALF + 20, 20]]
    values[:, [11, 12]] = values[:, [12, 11]]
    values[5] = 0
    wrong = replace(data, values=values)
    faults = faults_of(values)
    right = repaired(wrong, faults)
    others = np.arange(len(values)) != 5
    assert np.array_equal(right.values[others], data.values[others])
    assert np.isinf(right.sigma[5]).all()
    left_out = excluded(wrong, faults)
    assert np.isinf(left_out.sigma[[3, 5, 20, HALF + 20]]).all()
    assert np.isinf(left_out.sigma[:, [11, 12]]).all()


def test_what_only_the_fit_sees() -> None:
    """A BPM that reads something else for a few correctors is like its model, and far from it in χ²."""
    model, data = trial()
    values = data.values.copy()
    values[30, ::5] *= 1.3
    found, faults = diagnosed(model, replace(data, values=values), Options(), "exclude")
    assert [(one.column, one.at, one.kind) for one in faults] == [(False, 30, "chi2")]
    assert "lies" in str(faults[0])
    assert np.isinf(found.data.sigma[30]).all()
    assert found.reduced < 1.2


@cache
def usual_model() -> Model:
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    return model_of(twin, usual(twin.lattice))


@pytest.mark.parametrize(("seed", "at", "other"), [(5, 11, 8), (8, 100, 107), (15, 4, 5)])
def test_optics_that_are_off_are_no_swap(seed: int, at: int, other: int) -> None:
    """12 % of β-beating and 15 % of coupling make one of two neighbours look like the other."""
    model = usual_model()
    machine = made(model, Errors(beta_beat=0.12, skew=0.6), seed)
    data = measured(model, machine, False, seed + 100)
    design = model.answers(np.zeros(len(model.gradients)))
    assert machine.beating > 0.11
    assert [str(one) for one in before_fit(data, design)] == []
    values = data.values.copy()
    values[[at, other]] = values[[other, at]]
    found = before_fit(replace(data, values=values), design)
    assert {(one.at, one.instead) for one in found} == {(at, other), (other, at)}
    assert all("swapped with" in str(one) for one in found)


def test_a_cycle_of_cables() -> None:
    _, data = trial()
    values = data.values.copy()
    values[[40, 43, 47]] = values[[43, 47, 40]]
    values[[90, 94]] = values[[94, 90]]
    values[94] = 0
    found = faults_of(values)
    assert [(one.at, one.instead, one.kind) for one in found if one.kind == "swapped"] == [
        (40, 43, "swapped"),
        (43, 47, "swapped"),
        (47, 40, "swapped"),
        (90, 94, "swapped"),
    ]
    assert str(found[-2]) == "bpm091/x: takes the place of bpm095/x"
    assert [one.at for one in found if one.kind == "dead"] == [94]


def test_a_suspicion_is_dropped_after_the_fit() -> None:
    model, data = trial()
    values = data.values.copy()
    values[[60, 63]] = values[[63, 60]]
    values[70] *= 0.4
    swapped = replace(data, values=values)
    true = faults_of(values)
    suspected = [
        Fault("swapped", False, 20, "bpm021/x", "takes the place of bpm022/x", 21),
        Fault("gain", True, 3, "x/CS", "has 1.31 of the gain that the others have"),
    ]
    begun = State.ideal(len(model.gradients), HALF, model.shape[1])
    fit = Fitter(model, excluded(swapped, [*true, *suspected]), Options(), begun).run()
    assert len(true) == 3
    assert confirmed([*true, *suspected], swapped, fit) == true
