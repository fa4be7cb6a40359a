# SPDX-License-Identifier: Apache-2.0
"""What noise is taken for: mains that drift, what the ground moves, and chance."""

import numpy as np
import numpy.typing as npt

from ringmaster.postmortem.covariance import Sources, loudness, noise_root
from ringmaster.postmortem.ground import moved_magnets
from ringmaster.postmortem.likelihood import Courses, Patterns, beyond_chance, log_ratio
from ringmaster.postmortem.lines import Lines
from ringmaster.postmortem.machine import Actor, Kicker, Machine, Place
from ringmaster.twin import Kind, Twin, load_lattice

RATE_HZ = 10000.0
Floats = npt.NDArray[np.float64]


def machine() -> Machine:
    """BPMs of three sectors, and two correctors that are neighbours."""
    ring = load_lattice("elettra2_like")
    bpms = ring.find("BPM_S0[1-3]_*")
    places = {f"b{i:02d}/{'xy'[p]}": Place(int(bpm), p) for i, bpm in enumerate(bpms) for p in (0, 1)}
    actors = [Actor(name, (int(ring.find(name)[0]),), (0,), 1e-5) for name in ("CS_S05_03", "CS_S05_05")]
    return Machine(Twin(ring), places, actors, [Kicker("late", len(ring) - 1)])


def test_mains_that_drift_are_continued() -> None:
    record = np.arange(2400)
    seconds = record / RATE_HZ
    turns = 50.02 * seconds + 0.5 * 0.03 * seconds**2
    values = np.stack([np.sin(2 * np.pi * k * turns + k) * 10e3 for k in (1, 3, 12)], axis=1)
    values += np.random.default_rng(1).normal(0, 50.0, values.shape)
    left = values - Lines.fit(values[:2000], RATE_HZ).at(record)
    assert np.std(left[2000:]) < 150


def test_noise_of_known_sources_is_whitened() -> None:
    random = np.random.default_rng(2)
    rows, count = 40, 1500
    moving = random.normal(0, 1, (rows, 60))
    readings = random.uniform(0.5, 3.0, rows)

    def drawn(records: int) -> Floats:
        noise = random.normal(0, 1, (records, rows)) * readings
        return np.asarray(noise + 0.3 * random.normal(0, 1, (records, 60)) @ moving.T)

    none = np.zeros((rows, 1))
    root = noise_root(drawn(count), Sources(np.eye(rows), moving, none, none))
    of_new = np.linalg.eigvalsh(np.cov((drawn(20000) @ root.T).T))
    assert of_new[0] > 0.75
    assert of_new[-1] < 1.3


def test_loudness_finds_how_much_the_ground_moves() -> None:
    random = np.random.default_rng(3)
    shape = np.concatenate([np.zeros(50), np.linspace(0.1, 1, 50)])
    true = np.stack([2 * (1 + 8 * shape), np.full(100, 0.5)])
    power = np.mean(random.normal(0, 1, (40, 2, 100)) ** 2, axis=0) * true
    assert np.allclose(loudness(power, 40, shape) / true, 1, atol=0.25)


def test_axes_keep_the_energy_apart_from_the_ground() -> None:
    random = np.random.default_rng(4)
    sources = Sources(np.eye(12), random.normal(0, 1, (12, 5)), np.zeros((12, 1)), random.normal(0, 1, (12, 1)))
    axes, shape, own = sources.axes(np.eye(12))
    assert own == 1
    assert np.allclose(axes.T @ axes, np.eye(12))
    turned = axes[:, 1:].T @ sources.ground
    assert np.allclose(turned @ turned.T, np.diag(shape[1:]), atol=1e-9)


def test_a_pattern_in_loud_rows_counts_for_less() -> None:
    random = np.random.default_rng(5)
    courses = Courses(np.array([1.0, 0.5]), np.eye(2), 0.0)
    patterns = Patterns.of([np.eye(10)[:, :1], np.eye(10)[:, 5:6]], (0.0,))
    noise = np.where(np.arange(10) < 5, 4.0, 1.0) * np.ones((2, 1))
    z = random.normal(0, 1, (1, 2, 10)) * noise
    z[0, 0, [0, 5]] += 12.0
    loud, quiet = log_ratio(z / noise, courses, patterns, noise)[0]
    assert quiet > 40
    assert loud < 15


def test_only_what_is_beyond_chance_is_taken_off() -> None:
    usual = np.zeros((100, 2))
    usual[:, 1] = 20.0
    assert np.allclose(beyond_chance(usual), [0.0, 20.0 - np.log(100)])
    assert np.allclose(beyond_chance(np.zeros((0, 2))), 0.0)


def test_ground_is_what_has_a_gradient() -> None:
    ring = load_lattice("elettra2_like")
    kinds = [ring[i].kind for i, _ in moved_magnets(ring)]
    assert kinds.count(Kind.QUADRUPOLE) == 96
    assert set(kinds) <= {Kind.QUADRUPOLE, Kind.DIPOLE}
    made = machine()
    assert made.ground(made.places).shape == (len(made.places), 2 * len(kinds))


def test_a_neighbour_looks_like_a_phase_error() -> None:
    made = machine()
    one, other = (column[:, 0] / np.linalg.norm(column) for column in made.columns(made.places))
    aside = made.displaced(made.places)[0][:, 0]
    aside -= one * (one @ aside)
    rest = other - one * (one @ other)
    assert abs(rest @ aside) > 0.9 * np.linalg.norm(rest) * np.linalg.norm(aside)


def test_a_kick_behind_all_bpms_is_seen_a_turn_later() -> None:
    made = machine()
    late = made.kickers[0]
    assert len(made.early(late, made.places)) == len(made.places)
    kick = made.kick(late, made.places, 3)
    assert not kick[0].any()
    assert kick[1].any()
