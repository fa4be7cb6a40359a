# SPDX-License-Identifier: Apache-2.0
"""LOCO on a twin whose errors are known: derivatives, pulls, null directions, and what a bad measurement says."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ringmaster.loco.correct import _least_squares, _within
from ringmaster.loco.data import data_of
from ringmaster.loco.fit import Fit, Options, fit
from ringmaster.loco.gradients import Gradient, chosen, usual
from ringmaster.loco.model import Model, State, reading
from ringmaster.loco.normal import dense_jacobian, gradient_of, normal_matrix, parts_of
from ringmaster.loco.report import pulls
from ringmaster.loco.trial import Errors, Machine, as_measured, beta_of, gauged, made, measured, model_of
from ringmaster.machine.mapping import Group, Mapping
from ringmaster.response.measured import load, save
from ringmaster.twin import Twin, load_lattice


def gradients_of(twin: Twin) -> list[Gradient]:
    found = chosen(twin.lattice, "Q*", "B", 0.002) + chosen(twin.lattice, "SD3_*", "B", 1.0)[:1]
    return [replace(one, sigma=0.01 * abs(one.design)) for one in found[:96]] + chosen(twin.lattice, "SF1_*", "A", 0.01)


def trial_model(every: int = 12) -> Model:
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    return model_of(twin, gradients_of(twin), "CS_*", every)


@cache
def fitted(users: bool) -> tuple[Fit, Machine]:
    model = trial_model()
    machine = made(model, Errors(beta_beat=0.05), seed=5)
    return fit(model, measured(model, machine, users, seed=6)), machine


def test_derivatives_are_those_of_the_model() -> None:
    model = trial_model(24)
    machine = made(model, Errors(beta_beat=0.02), seed=1)
    state, rng = machine.state, np.random.default_rng(2)
    state.energy = 1e-9 * rng.standard_normal(model.shape[1])
    answers = model.answers(state.gradients)
    weights = rng.uniform(0.5, 2, (model.shape[0], model.shape[1] + 1))
    parts = parts_of(model.factors(state), answers, state, weights)
    dense = dense_jacobian(parts)
    gradients = len(model.gradients)
    columns = model.shape[1]
    for at in (
        0,
        50,
        gradients - 1,
        gradients + 3,
        gradients + 400,
        len(dense) - 3 * columns,
        len(dense) - 1 - columns,
    ):
        step = np.zeros(len(dense))
        step[at] = 1e-5
        sides = [reading(model.answers(one.gradients), one) for one in (state.changed(step), state.changed(-step))]
        exact = (sides[0] - sides[1]) / 2e-5
        assert np.abs(dense[at] - exact).max() < 2e-3 * np.abs(exact).max(), at
    flat = dense.reshape(len(dense), -1)
    expected = (flat * weights.reshape(-1)) @ flat.T
    found = normal_matrix(parts)
    size = np.sqrt(np.diag(expected))
    assert np.abs(found - expected)[size > 0][:, size > 0].max() < 1e-8 * expected.max()
    scaled = np.abs(found - expected)[np.ix_(size > 0, size > 0)] / np.outer(size[size > 0], size[size > 0])
    assert scaled.max() < 1e-9
    residual = rng.standard_normal(weights.shape)
    slope = flat @ (weights * residual).reshape(-1)
    assert np.allclose(gradient_of(parts, residual), slope, rtol=1e-9, atol=1e-9 * np.abs(slope).max())


def test_fit_finds_what_was_wrong() -> None:
    found, machine = fitted(users=False)
    assert found.converged
    assert 0.95 < found.reduced < 1.05
    state, sigma, truth = found.state, found.sigma, machine.state
    assert "coupling" in found.conventions[1]
    for name in ("gradients", "cross", "roll"):
        assert 0.7 < pulls(getattr(state, name), getattr(truth, name), getattr(sigma, name)) < 1.3, name
    for name in ("own", "gain"):  # one number, the scale of a plane, moves all of them
        assert pulls(getattr(state, name), getattr(truth, name), getattr(sigma, name)) < 3, name
    left = beta_of(found.model, truth.gradients - state.gradients) / beta_of(found.model, 0 * truth.gradients) - 1
    assert np.sqrt(np.mean(left**2)) < 1e-3 < 0.02 < machine.beating


def test_null_direction_is_a_convention() -> None:
    found, machine = fitted(users=True)
    planes = np.array([one.plane for one in found.model.columns])
    assert abs(found.state.gain[planes == 1].mean() - 1) < 1e-9
    assert [one[:2] for one in found.conventions] == ["x:", "y:"]
    assert "dispersion" in found.conventions[0]
    assert "mean corrector gain" in found.conventions[1]
    truth = gauged(machine.state, found.model, [1])
    assert pulls(found.state.gain, truth.gain, found.sigma.gain) < 1.25
    assert pulls(found.state.own, truth.own, found.sigma.own) < 1.25
    data = replace(found.data, sigma=np.hstack([found.data.sigma[:, :-1], np.full((len(found.data.rows), 1), np.inf)]))
    blind = fit(found.model, data)
    assert all("nothing tells" in one for one in blind.conventions), blind.conventions
    assert abs(blind.state.gain[planes == 0].mean() - 1) < 1e-9


def test_outliers_are_left_out() -> None:
    model = trial_model(24)
    machine = made(model, Errors(beta_beat=0.02), seed=1)
    data = measured(model, machine, False, seed=3)
    values = data.values.copy()
    values[10, 3] += 1e3 * data.sigma[10, 3]
    found = fit(model, replace(data, values=values), Options(outliers=20.0))
    assert not np.isfinite(found.data.sigma[10, 3])
    assert found.reduced < 1.1


def test_names_that_do_not_match() -> None:
    model = trial_model(24)
    data = measured(model, Machine(State.ideal(len(model.gradients), 168, model.shape[1]), 0.0), False, seed=1)
    response = as_measured(data)
    groups = tuple(
        Group((one.element,), "xy"[one.plane], (one.supply,), one.rad_per_unit) for one in model.columns[:-1]
    )
    rows = response.rows
    mapping = Mapping(model.bpms, rows, groups, None)
    with pytest.raises(ValueError, match=f"supplies .* {model.columns[-1].supply}"):
        data_of(response, mapping)
    whole = (*groups, Group((model.columns[-1].element,), "y", (model.columns[-1].supply,), 1e-6))
    with pytest.raises(ValueError, match=r"readings .* bpm001/x.*has other1/x"):
        data_of(
            response, Mapping(model.bpms, tuple(f"other{i // 2 + 1}/{'xy'[i % 2]}" for i in range(336)), whole, None)
        )
    some = replace(response, values=response.values[:-2], sigma=response.sigma[:-2], rows=rows[:-2],
                   dispersion=response.dispersion[:-2], dispersion_sigma=response.dispersion_sigma[:-2])  # fmt: skip
    found = data_of(some, Mapping(model.bpms, rows, whole, None))
    assert found.notes == ("reading bpm168/x was not measured", "reading bpm168/y was not measured")
    assert np.isinf(found.sigma[167]).all()


def test_what_a_column_shares_is_its_gain(tmp_path: Path) -> None:
    """The error of a plant is one number of a column, which its gain takes: it makes no element doubtful."""
    model = trial_model(24)
    data = measured(model, Machine(State.ideal(len(model.gradients), 168, model.shape[1]), 0.0), False, seed=1)
    exact = as_measured(data)
    groups = tuple(Group((one.element,), "xy"[one.plane], (one.supply,), one.rad_per_unit) for one in model.columns)
    doubt = np.full(model.shape[1], 0.02)
    save(tmp_path / "response.h5", replace(exact, sigma=np.hypot(exact.sigma, doubt * exact.values), gain_sigma=doubt))
    response = load(tmp_path / "response.h5")
    found = data_of(response, Mapping(model.bpms, exact.rows, groups, None))
    assert np.abs(response.sigma / exact.sigma).max() > 10
    np.testing.assert_allclose(found.sigma, data.sigma, rtol=1e-6)


def test_usual_gradients() -> None:
    lattice = load_lattice("elettra2_like")
    found = usual(lattice)
    names = [one.label for one in found]
    assert len(set(names)) == len(names)
    assert {"QF1_S01_01", "RB1_S01_01", "SD1_S01_01", "skew SF1_S01_01", "skew QD2_S01_01"} <= set(names)
    halves = next(one for one in found if one.name == "SH_S01_01")
    assert len(halves.elements) == 2
    assert halves.sigma == pytest.approx(2 * 25.0 * 50e-6)
    with pytest.raises(ValueError, match="XX"):
        chosen(lattice, "XX*", "B", 0.1)


def test_a_correction_keeps_limits() -> None:
    random = np.random.default_rng(3)
    matrix = random.normal(size=(30, 6))
    matrix[:, 5] = matrix[:, 0] + 0.1 * random.normal(size=30)
    u, s, vh = np.linalg.svd(matrix, full_matrices=False)
    target = u.T @ (matrix @ np.array([3.0, 1.0, -1.0, 0.5, 0.0, 0.0]))
    wide, narrow = np.full(6, 10.0), np.full(6, 1.5)
    np.testing.assert_allclose(_within(target, s, vh, -wide, wide), [3, 1, -1, 0.5, 0, 0], atol=1e-9)
    held = _within(target, s, vh, -narrow, narrow)
    assert np.abs(held).max() <= 1.5
    cut = np.clip([3, 1, -1, 0.5, 0, 0], -1.5, 1.5)
    left, cut_left = (np.linalg.norm(s * (vh @ x) - target) for x in (held, cut))
    assert left < 0.2 * cut_left  # the last column does what the first may not


class Bent:
    """One supply, and one number that is off by less and less of it: a whole step from far away goes too far."""

    def __init__(self) -> None:
        self._at = 0.0

    def set(self, values: dict[str, float]) -> None:
        """Where the supply stands."""
        self._at = values["q"]

    def off(self, change: str) -> np.ndarray:
        """What is to become 0; it does at 1."""
        assert change == "gradient"
        return np.array([np.arctan(3 * (self._at - 1))])


def test_a_correction_from_far_away_goes_back_where_a_step_makes_it_worse() -> None:
    ring, values = cast(Any, Bent()), dict[str, float]()
    _least_squares(ring, "gradient", {"q": 1e-4}, None, {}, values, lambda _: None, (0, 1))
    assert values["q"] == pytest.approx(1, abs=0.05)
    assert ring.off("gradient") == pytest.approx(0, abs=0.15)
