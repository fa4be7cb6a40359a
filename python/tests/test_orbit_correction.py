# SPDX-License-Identifier: Apache-2.0
"""The static correction of an orbit: what it solves, what it moves, and what it leaves alone."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import MakeOwner
from numpy.typing import NDArray
from supplies_memory import Machine, in_memory

from ringmaster.cli.orbit import _Task
from ringmaster.feedback.matrix import Matrix
from ringmaster.moving.change import load, undo
from ringmaster.moving.change_journal import Journal
from ringmaster.orbit.solve import Problem, Regularisation, solve
from ringmaster.orbit.static import Orbit, matrix_of, rf_of, rms
from ringmaster.response.measured import MeasuredResponse

Floats = NDArray[np.float64]
FREE = np.inf


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def problem(response: Floats, error: Floats, limit: float = FREE, rf: int | None = None) -> Problem:
    count = response.shape[1]
    return Problem(response, error, np.full(count, -limit), np.full(count, limit), rf)


def test_an_orbit_that_supplies_made_is_taken_away(rng: np.random.Generator) -> None:
    response, strength = rng.standard_normal((40, 12)), rng.standard_normal(12)
    found = solve(problem(response, response @ strength), Regularisation())
    np.testing.assert_allclose(found.change, -strength)
    np.testing.assert_allclose(found.left, 0, atol=1e-12)
    assert found.used == 12
    assert not found.at_limit.any()


def test_limits_are_kept_and_the_others_do_what_they_can(rng: np.random.Generator) -> None:
    response, strength = rng.standard_normal((40, 12)), rng.uniform(-1, 1, 12)
    strength[3] = 5.0
    found = solve(problem(response, response @ strength, 2.0), Regularisation())
    assert found.change[3] == pytest.approx(-2.0)
    assert found.at_limit.tolist() == [i == 3 for i in range(12)]
    assert np.abs(found.change).max() <= 2.0
    clipped = response @ strength + response @ np.clip(-strength, -2, 2)
    assert np.linalg.norm(found.left) < np.linalg.norm(clipped)
    np.testing.assert_allclose(found.left, response @ strength + response @ found.change)


def test_one_that_stands_at_its_limit_moves_to_one_side_alone(rng: np.random.Generator) -> None:
    response = rng.standard_normal((40, 4))
    given = Problem(response, response @ np.ones(4), np.array([-2.0, -2, -2, 0]), np.array([2.0, 2, 2, 4]))
    found = solve(given, Regularisation())
    assert found.change[3] == pytest.approx(0.0, abs=1e-6)


def test_weak_modes_are_left_out(rng: np.random.Generator) -> None:
    u, _, vh = np.linalg.svd(rng.standard_normal((30, 8)), full_matrices=False)
    response = (u * [10, 8, 6, 5, 4, 3, 1e-3, 1e-5]) @ vh
    error = response @ rng.standard_normal(8) + 0.01 * rng.standard_normal(30)
    assert solve(problem(response, error), Regularisation(cut=1e-2)).used == 6
    assert solve(problem(response, error), Regularisation(cut=1e-7)).used == 8
    few = solve(problem(response, error), Regularisation(modes=3))
    assert few.used == 3
    np.testing.assert_allclose(few.singular[:3], [10, 8, 6])
    strong, soft = (solve(problem(response, error), Regularisation(1e-7, None, t)) for t in (0.0, 0.1))
    assert np.abs(soft.change).max() < 1e-2 * np.abs(strong.change).max()


def test_the_rf_takes_the_dispersion_whatever_its_unit(rng: np.random.Generator) -> None:
    response = np.column_stack([rng.standard_normal((40, 8)), 1e-4 * rng.standard_normal(40)])
    error = response @ np.array([*np.zeros(8), 300.0])
    found = solve(problem(response, error, rf=8), Regularisation(cut=1e-2))
    assert found.change[8] == pytest.approx(-300)
    np.testing.assert_allclose(found.change[:8], 0, atol=1e-8)


def test_what_is_not_known_has_no_say(rng: np.random.Generator) -> None:
    response, strength = rng.standard_normal((40, 12)), rng.standard_normal(12)
    error = response @ strength
    error[5], response[7, 2] = np.nan, np.nan
    found = solve(problem(response, error), Regularisation())
    np.testing.assert_allclose(found.change, -strength)
    assert np.flatnonzero(np.isnan(found.left)).tolist() == [5, 7]
    with pytest.raises(ValueError, match="no reading has an orbit, a target and a response"):
        solve(problem(response, np.full(40, np.nan)), Regularisation())
    with pytest.raises(ValueError, match="no supply moves any"):
        solve(problem(np.zeros((40, 12)), np.ones(40)), Regularisation())


def measured() -> MeasuredResponse:
    values = np.arange(8.0).reshape(4, 2) + 1
    values[3, 0] = np.nan
    ones = np.ones(4)
    rows = ("b1/x1", "b1/y1", "b2/x1", "b2/y1")
    return MeasuredResponse(rows, ("h", "v"), values, np.ones((4, 2)), 2 * ones, ones, ones, ones)


def test_a_measured_response_has_the_rf_s_column_from_its_dispersion() -> None:
    made = matrix_of(measured(), ("rf", 10.0))
    assert (made.rows, made.columns, made.rf) == (("b1/x1", "b1/y1", "b2/x1"), ("h", "v", "rf"), "rf")
    np.testing.assert_array_equal(made.values[:, 2], 20)
    assert matrix_of(measured(), None).columns == ("h", "v")
    assert rf_of({}, "sr/rf") == ("sr/rf", 1.0)
    assert rf_of({}, None) is None
    assert rf_of({"rf": {"actuator": "sr/rf", "hz_per_unit": 10}}, None) == ("sr/rf", 10.0)


def test_an_error_is_the_orbit_less_its_target() -> None:
    orbit = Orbit(("b/x1", "b/y1"), np.array([3.0, 5.0]), np.zeros(2), np.array([1.0, np.nan]))
    assert rms(orbit.error_nm, orbit.rows, "x") == 2.0
    assert np.isnan(rms(orbit.error_nm, orbit.rows, "y"))


@pytest.fixture
def machine(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    with in_memory(make_owner, monkeypatch) as made:
        yield made


def test_rounds_that_were_done_are_on_file_when_a_later_one_ends_early(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, left = ("b/x1", "b/y1"), [1]

    def measure(_settle_s: float) -> Orbit:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return Orbit(rows, np.array([1.0, 0.0]), np.zeros(2), np.zeros(2))

    matrix = Matrix(rows, ("ps/qf", "ps/qd"), np.eye(2), None)
    output, kept = tmp_path / "orbit.yaml", Journal(tmp_path / "kept")
    with pytest.raises(KeyboardInterrupt):
        _Task(machine.ws, matrix, Regularisation(), (), 1.0, measure).go(3, 0.0, output, kept)
    assert machine.number("ps/qf") == -1.0
    assert f"undo them by: ringmaster change undo {output} --journal {kept.folder}" in capsys.readouterr().err
    undo(machine.ws, load(output))
    assert machine.number("ps/qf") == 0.0
