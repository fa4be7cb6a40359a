# SPDX-License-Identifier: Apache-2.0
"""A machine on paper reads, and answers, as the twin of its truth; with noise of the size that it says."""

import numpy as np
import pytest
from test_commissioning_score import drawn as drawn
from test_commissioning_score import lattice as lattice
from test_commissioning_score import wiring as wiring

from ringmaster.commissioning.paper import READING_NM, Paper
from ringmaster.commissioning.truth import Truth, Wiring
from ringmaster.machine.mapping import resolve
from ringmaster.twin import load_lattice

GIVEN = {"bpms": "bpm", "rows": "b[1-8]/{x1,y1}"}


@pytest.fixture
def paper(drawn: dict[str, object], wiring: Wiring) -> Paper:
    for bpm in drawn["bpms"]:  # type: ignore[attr-defined]
        bpm |= {"xx": 1.1, "yx": 0.02, "offset_y_m": 2e-4, "magnet_x_m": 1e-5, "magnet_y_m": -2e-5}
    truth = Truth(drawn, load_lattice(str(drawn["lattice"])))
    return Paper(truth, wiring, resolve(truth.lattice, GIVEN), np.random.default_rng(1))


def test_a_moved_supply_moves_what_is_read_as_its_response_says(paper: Paper) -> None:
    response = paper.response(["ps/c3", "ps/c5"])
    before = paper.orbit_nm()
    paper.move({"ps/c3": 0.5})
    paper.move({"ps/c3": 0.5})
    assert paper.values == {"ps/c3": 1.0}
    moved = paper.orbit_nm() - before
    pulls = (moved - response.column("ps/c3")) / np.hypot(response.sigma[:, 0], 2 * READING_NM)
    assert np.sqrt(np.mean(pulls**2)) < 3
    assert np.abs(moved[0::2]).max() > 1e4 > 100 > READING_NM
    assert before[1::2].mean() == pytest.approx(2e5, rel=0.01)  # the BPMs' offset


def test_the_error_of_a_response_is_its_scatter(paper: Paper) -> None:
    many = [paper.response(["ps/c3"]) for _ in range(40)]
    scatter = np.std([one.values for one in many], axis=0)
    assert np.median(scatter / many[0].sigma) == pytest.approx(1, rel=0.2)
    centres = paper.centres_nm(0.0)
    np.testing.assert_allclose(centres.reshape(-1, 2), np.tile([1e4, -2e4], (8, 1)))
