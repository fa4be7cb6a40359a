# SPDX-License-Identifier: Apache-2.0
"""What is made of rounds of models in step that nobody measured; and mappings of any lattice."""

from pathlib import Path

import pytest
from small_ring import small_ring

from ringmaster.bench.follow import Follow, Live, Options, Update
from ringmaster.bench.follow_machine import files_of, mapping_text
from ringmaster.report.verdicts import Headline
from ringmaster.twin import load_lattice, save_mat


def made_of(updates: list[Update], live: list[Live]) -> Follow:
    made = Follow(Options())
    made.parts = {"update": updates, "live": live}
    return made


def headline(made: Follow, name: str) -> Headline:
    return next(one for one in made.headlines() if one.name == name)


def test_rates_are_of_means_and_lags_of_the_slowest() -> None:
    update = Update("ring", "of", 4e-3, 5e-3, 3e-3, 4e-3, 20e-3, 1.0, 100)
    live = Live("ring", 2, (150.0, 149.0), (0, 1), (0.7, 2.5), (4.0, 4.1))
    made = made_of([update], [live])
    for name, value, verdict in (
        ("updates_per_s.ring", 200.0, "held"),
        ("updates_per_cpu_s.ring", 250.0, ""),
        ("ratio.ring", 250.0, ""),
        ("live_updates_per_s.ring", 149.0, ""),
        ("lag_periods.ring", 2.5, "missed"),
    ):
        found = headline(made, name)
        assert found.figure is not None
        assert found.figure.median == pytest.approx(value)
        assert found.verdict == verdict
    assert len(made.tables()) == 2
    assert "200 updates per second; 250 × pyAT" in update.words
    assert made_of([], []).is_empty()


def test_every_lattice_has_a_mapping(tmp_path: Path) -> None:
    save_mat(small_ring(), tmp_path / "small.mat")
    mapping = files_of(str(tmp_path / "small.mat"), tmp_path).mapping
    assert (len(mapping.bpms), len(mapping.rows), len(mapping.actuators), len(mapping.strengths)) == (16, 32, 32, 2)
    assert files_of(str(tmp_path / "small.mat"), tmp_path).quadrupole == "ps/q000_001"
    assert 'bpms: "BPM_S' in mapping_text(load_lattice("elettra2_like"))
