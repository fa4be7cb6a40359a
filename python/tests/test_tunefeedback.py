# SPDX-License-Identifier: Apache-2.0
"""The matrix of the tune feedback from the twin, and what its numbers mean in words."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from command import ringmaster

from ringmaster.cli.main import cli
from ringmaster.feedback.matrix import load_csv
from ringmaster.places import CONFIGS
from ringmaster.tunefeedback.matrix import Family, read_families, seen_tunes, tune_matrix
from ringmaster.tunefeedback.names import WORDS, Condition, words_of
from ringmaster.twin import Twin, load_lattice

FAMILIES = CONFIGS / "tunefeedback-elettra2.yaml"


def test_the_matrix_is_what_a_step_does(tmp_path: Path) -> None:
    output = tmp_path / "matrix.csv"
    ringmaster("tunefeedback", "matrix", "elettra2_like", "--families", str(FAMILIES), "-o", str(output))
    made = load_csv(output)
    assert (made.rows, made.columns) == (("x", "y"), ("qf1", "qd2"))
    twin = Twin(load_lattice("elettra2_like"))
    before = seen_tunes(twin)
    for i in twin.lattice.find("QD2_*"):
        twin.set_value_refpts([int(i)], "K", twin[int(i)].K * (1 + 2 * 0.0001))
    assert seen_tunes(twin) - before == pytest.approx(2 * made.values[:, 1], rel=1e-3)


def test_the_shipped_matrix_is_the_twins() -> None:
    twin = Twin(load_lattice("elettra2_like"))
    twin.disable_6d()
    shipped = load_csv(CONFIGS / "tunefeedback-matrix.csv")
    assert shipped.values == pytest.approx(tune_matrix(twin, read_families(FAMILIES)), rel=1e-4)


def test_a_tune_above_a_half_is_seen_folded() -> None:
    """With a quadrupole that raises it, what turns show falls."""
    twin = Twin(load_lattice("elettra2_like"))
    twin.disable_6d()
    family = Family("qf", "QF1_*", 0.001)
    below = tune_matrix(twin, [family])[0, 0]
    for i in twin.lattice.find("QF1_*"):
        twin.set_value_refpts([int(i)], "K", twin[int(i)].K * 1.012)
    assert 0.5 < twin.get_tune()[0] < 1.0
    assert seen_tunes(twin)[0] == pytest.approx(1 - twin.get_tune()[0])
    assert np.sign(tune_matrix(twin, [family])[0, 0]) == -np.sign(below)


def test_a_family_without_elements_is_named(tmp_path: Path) -> None:
    path = tmp_path / "families.yaml"
    path.write_text("families: [{name: qf, supplies: [a]}]\n")
    with pytest.raises(ValueError, match="no key `elements`"):
        read_families(path)
    path.write_text("matrix: m.csv\n")
    with pytest.raises(ValueError, match="no key `families`"):
        read_families(path)
    with pytest.raises(ValueError, match="family q: no quadrupole of .* is named NONE"):
        tune_matrix(Twin(load_lattice("elettra2_like")), [Family("q", "NONE_*", 1.0)])


def test_every_condition_has_words() -> None:
    assert set(WORDS) == set(Condition)
    assert words_of(0) == []
    assert words_of(Condition.NO_BEAM | Condition.LIMIT) == [WORDS[Condition.NO_BEAM], WORDS[Condition.LIMIT]]


@pytest.mark.parametrize("tunes", [["0.3"], ["0.3", "y"], ["now", "0.1"], ["0.1", "0.2", "0.3"]])
def test_a_target_is_two_tunes(tunes: list[str]) -> None:
    ended = CliRunner().invoke(cli, ["tunefeedback", "target", *tunes])
    assert ended.exit_code == 2
    assert "expected the tunes of x and y, or now" in ended.output
