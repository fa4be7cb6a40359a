# SPDX-License-Identifier: Apache-2.0
"""`ringmaster loco` as people use it: fit, report, correct, jacobian."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ringmaster.cli.main import cli
from ringmaster.loco.data import columns_of
from ringmaster.loco.fit import scaled
from ringmaster.loco.gradients import chosen
from ringmaster.loco.model import Model
from ringmaster.loco.session import mapping_of
from ringmaster.loco.trial import Errors, Machine, as_measured, beta_of, made, measured
from ringmaster.machine.knobs import Knobs
from ringmaster.moving.change import load
from ringmaster.response.measured import MeasuredResponse, save
from ringmaster.twin import Twin, load_lattice

MAPPING = Path(__file__).parents[2] / "configs" / "mappings" / "optics.yaml"
HALF = 168


class Machines:
    """One machine with errors of its quadrupoles, and what is measured of it."""

    def __init__(self) -> None:
        lattice = load_lattice("elettra2_like")
        twin = Twin(lattice)
        twin.enable_6d()
        self.mapping = mapping_of(lattice, MAPPING)
        columns = [one for one in columns_of(self.mapping).values() if "/cs" in one.supply][::12]
        self.model = Model(twin, self.mapping.bpms, columns, chosen(lattice, "Q*", "B", 0.002))
        self.machine: Machine = made(self.model, Errors(beta_beat=0.05), seed=3)
        data = measured(self.model, self.machine, False, seed=4)
        rows = (*self.mapping.rows[0::2], *self.mapping.rows[1::2])
        self.response: MeasuredResponse = as_measured(replace(data, rows=rows))


@pytest.fixture(scope="module")
def machines() -> Machines:
    return Machines()


def invoked(*words: object) -> Result:
    return CliRunner().invoke(cli, ["loco", *map(str, words)])


def test_fit_report_correct(machines: Machines, tmp_path: Path) -> None:
    values = machines.response.values.copy()
    values[6] *= -1
    wrong = tmp_path / "response.h5"
    save(wrong, replace(machines.response, values=values))
    fit = tmp_path / "fit.h5"
    options = ("--mapping", MAPPING, "--gradient", "Q*=0.005", "-o", fit, "--plot", tmp_path / "fit.png")
    said = invoked("fit", wrong, "elettra2_like", *options)
    assert said.exit_code == 0, said.output
    assert f"{machines.response.rows[6]}: has the wrong sign" in said.output
    assert "mean corrector gain" in said.output or "coupling" in said.output
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    told = json.loads(invoked("report", fit, "--json").stdout)
    assert 0.9 < told["chi2_per_degree"] < 1.1
    found = np.array([one["difference_per_m2"] for one in told["gradients"]])
    assert np.abs(found - machines.machine.state.gradients).max() < 0.2 * np.abs(found).max()
    assert told["beta_beating_x"] > 0.01

    change = tmp_path / "optics.yaml"
    said = invoked("correct", fit, "--what", "gradient", "--from-zero", "-o", change)
    assert said.exit_code == 0, said.output
    moves = load(change).moves
    assert len(moves) == 192
    model = machines.model
    ideal = beta_of(model, np.zeros(len(model.gradients)))
    model.put(machines.machine.state.gradients)
    knobs = Knobs(model.twin.copy(), machines.mapping, orbit_held=True)
    knobs.set({move.name: move.after for move in moves})
    _, _, optics = knobs.twin.get_optics(model.bpms)
    assert np.sqrt(np.mean((optics.beta[:, :2] / ideal - 1) ** 2)) < 2e-3


def test_names_of_another_machine(machines: Machines, tmp_path: Path) -> None:
    path = tmp_path / "other.h5"
    other = replace(machines.response, rows=tuple(f"other/{i}" for i in range(2 * HALF)))
    save(path, other)
    said = invoked("fit", path, "elettra2_like", "--mapping", MAPPING)
    assert said.exit_code != 0
    assert "other/0" in str(said.exception)
    assert "bpm01/x1" in str(said.exception)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "response.h5"
    path.write_bytes(b"")
    assert "--mapping" in invoked("fit", path, "elettra2_like").output
    assert "own lattice" not in invoked("fit", path, "elettra2_like", "--mapping", MAPPING).output
    assert isinstance(invoked("report", path).exception, ValueError)
    assert "is no number" in invoked("fit", path, "x", "--mapping", MAPPING, "--gradient", "Q*=wide").output


def test_scale_of_a_plane_changes_no_reading(machines: Machines) -> None:
    """But what coupling tells of it."""
    from ringmaster.loco.model import reading

    model, state = machines.model, machines.machine.state
    answers = model.answers(state.gradients)
    before, after = reading(answers, state), reading(answers, scaled(state, model, 1, 1.1))
    assert np.abs(after - before)[:, :-1].max() < 1e-9 * np.abs(before[:, :-1]).max()
