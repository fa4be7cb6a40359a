# SPDX-License-Identifier: Apache-2.0
"""What moves together, what follows what, and which source it is: with cases whose truth is known."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from archives import simple
from command import ringmaster
from numpy.typing import NDArray

from ringmaster.feedback.matrix import Matrix, save_csv
from ringmaster.spectra.cross import amplitudes, bin_of, coherence_threshold, cross
from ringmaster.spectra.draw_correlation import draw_sources
from ringmaster.spectra.modes import joint_diagonaliser, separate, svd
from ringmaster.spectra.noise import covariance_of
from ringmaster.spectra.series import Series
from ringmaster.spectra.sources import NONE, NOTHING, Contribution, Ranking, rank, rank_at

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
RATE_HZ = 1000.0


def test_the_threshold_of_coherence_is_the_published_one_and_noise_seldom_passes_it() -> None:
    assert coherence_threshold(20, 600) == pytest.approx(0.50, abs=0.005)
    assert coherence_threshold(1) == 1.0
    rng = np.random.default_rng(1)
    for _ in range(30):
        found = cross(rng.standard_normal(8192), rng.standard_normal(8192), RATE_HZ)
        assert found.coherence.max() < found.threshold
        assert found.coherence.mean() == pytest.approx(1 / found.pieces, rel=0.3)


@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_gain_and_delay_of_what_follows(lost: float) -> None:
    rng = np.random.default_rng(2)
    source = rng.standard_normal(40000)
    answer = 2.0 * np.roll(source, 3) + rng.standard_normal(40000)
    source[rng.random(40000) < lost] = np.nan
    found = cross(source, answer, RATE_HZ, 512)
    at = bin_of(100.0, RATE_HZ, 512)
    delay, sigma = found.delay()
    assert abs(delay - 0.003) < 4 * sigma < 1e-4
    assert abs(found.transfer[at]) == pytest.approx(2.0, abs=6 * float(found.transfer_sigma[at]))
    assert np.angle(found.transfer[at]) == pytest.approx(-2 * np.pi * found.hz[at] * 0.003, abs=0.2)


def test_what_is_not_coherent_has_no_delay() -> None:
    rng = np.random.default_rng(3)
    delay, _ = cross(rng.standard_normal(4096), rng.standard_normal(4096), RATE_HZ).delay()
    assert np.isnan(delay)
    with pytest.raises(ValueError, match="pieces of 64 records have bins from"):
        bin_of(1.0, RATE_HZ, 64)
    with pytest.raises(ValueError, match=r"0\.0% of the records came in all series"):
        amplitudes(np.full((2, 128), np.nan), 64)


def three_motions(count: int = 6000) -> tuple[Floats, Floats]:
    """Courses of an RMS of 1, and patterns over 20 lanes; two courses are lines of the same strength."""
    rng, turn = np.random.default_rng(4), np.arange(count)
    courses = np.array(
        [np.sin(0.0628 * turn), np.sin(0.232 * turn + 1), np.convolve(rng.normal(size=count), np.ones(30), "same")]
    )
    courses /= courses.std(axis=1, keepdims=True)
    patterns = rng.standard_normal((20, 3))
    patterns /= np.linalg.norm(patterns, axis=0)
    return courses, patterns * np.sqrt(20.0)


def test_the_svd_mixes_motions_of_like_strength_and_separation_does_not() -> None:
    courses, patterns = three_motions()
    rng = np.random.default_rng(5)
    values = patterns @ courses + 0.1 * rng.standard_normal((20, courses.shape[1]))
    values[rng.random(values.shape) < 0.02] = np.nan
    mixed = svd(values, 3)
    assert mixed.share.sum() == pytest.approx(1.0, abs=0.02)
    apart = separate(mixed)
    overlap = np.abs(apart.time @ courses.T) / courses.shape[1]
    assert sorted(np.argmax(overlap, axis=1)) == [0, 1, 2]
    assert overlap.max(axis=1).min() > 0.97
    assert np.abs(mixed.time @ courses.T / courses.shape[1]).max(axis=1).min() < 0.95
    np.testing.assert_allclose(apart.space @ apart.time, mixed.space @ mixed.time, atol=1e-9)


def test_joint_diagonalisation_finds_the_rotation() -> None:
    rng = np.random.default_rng(6)
    true, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    matrices = np.array([true @ np.diag(rng.standard_normal(5)) @ true.T for _ in range(8)])
    found = joint_diagonaliser(matrices)
    np.testing.assert_allclose(np.sort(np.abs(true.T @ found).max(axis=0)), 1.0, atol=1e-9)


BPMS, SOURCES, PIECES, TUNE = 32, 20, 20, 8.3
NAMES = [f"ps{i:02}" for i in range(SOURCES)]


def response() -> Floats:
    """Of correctors in a ring, by its β and phases; neighbours are nearly alike."""
    rng = np.random.default_rng(7)
    place = np.sort(rng.random(BPMS)) * 2 * np.pi * TUNE
    source = np.sort(rng.random(SOURCES)) * 2 * np.pi * TUNE
    beta = np.sqrt(np.outer(rng.uniform(2, 20, BPMS), rng.uniform(2, 20, SOURCES)))
    waves = np.cos(np.abs(place[:, None] - source) - np.pi * TUNE)
    return np.asarray(beta * waves / 2 / np.sin(np.pi * TUNE))


RESPONSE = response()


def normal(rng: np.random.Generator, *shape: int) -> Complexes:
    return np.asarray((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2), np.complex128)


def case(seed: int, culprit: str, hidden: float) -> tuple[Ranking, str]:
    """A ring whose supplies all have some ripple at the frequency, locked to the mains; and the true largest source.

    ``culprit``: "source" (one supply much more), "other" (something that is no supply), "nobody". ``hidden``: share of
    supplies without a readback, the culprit among them where there are any.
    """
    rng = np.random.default_rng(seed)
    modes = rng.standard_normal((4, BPMS))
    ripple = 0.02 * np.exp(1j * rng.uniform(0, 2 * np.pi, SOURCES)) * rng.lognormal(0, 0.5, SOURCES)
    which = rng.integers(SOURCES)
    size = 10 ** rng.uniform(-1.5, 1)
    concealed = rng.random(SOURCES) < hidden
    if hidden:
        concealed[which] = True
        ripple[concealed] *= 0.03
    if culprit == "source":
        ripple[which] += size * np.exp(1j * rng.uniform(0, 2 * np.pi))
    currents = ripple * (1 + 0.02 * normal(rng, PIECES, SOURCES))
    true_response = RESPONSE + 0.05 * np.sqrt(np.mean(RESPONSE**2, axis=0)) * rng.standard_normal(RESPONSE.shape)
    other = normal(rng, 1, BPMS) * 3 * size if culprit == "other" else np.zeros((1, BPMS))

    def noise(count: int) -> Complexes:
        return normal(rng, count, BPMS) + 0.7 * normal(rng, count, 4) @ modes

    motion = (1 + 0.1 * rng.standard_normal()) * currents @ true_response.T + other + noise(PIECES)
    readback = np.where(concealed, np.nan, currents + 0.002 * normal(rng, PIECES, SOURCES))
    inverse = np.linalg.inv(np.eye(BPMS) + 0.49 * modes.T @ modes)
    power = np.sum(np.abs(currents) ** 2, axis=0) * np.einsum("bj,bc,cj->j", RESPONSE, inverse, RESPONSE)
    power_other = PIECES * float((other.conj() @ inverse @ other.T).real.item())
    largest = int(np.argmax(power))
    truth = NAMES[largest] if power[largest] > 9 else NOTHING
    truth = NONE if power_other > max(9.0, power[largest]) else truth
    return rank(motion, covariance_of(noise(400)), RESPONSE, readback, NAMES), truth


def test_the_ranking_of_sources_is_right_as_often_as_it_says() -> None:
    """With and without readbacks, with and without a culprit; what is said with some probability is so that often."""
    said, true, answered = [], [], Counter[bool]()
    for seed in range(8):
        for culprit in ("source", "other", "nobody"):
            for hidden in (0.0, 0.3):
                ranking, truth = case(seed, culprit, hidden)
                options = {one.name: one.probability for one in ranking.ranked}
                options |= {NONE: ranking.none, NOTHING: ranking.nothing}
                assert sum(options.values()) == pytest.approx(1.0, abs=5e-3)
                said += list(options.values())
                true += [name == truth for name in options]
                answered[truth in ranking.answer] += 1
    probability, right = np.array(said), np.array(true)
    for low, high in ((0.2, 0.6), (0.6, 0.95), (0.95, 1.01)):
        chosen = (probability >= low) & (probability < high)
        expected, count = probability[chosen].sum(), chosen.sum()
        scatter = np.sqrt(np.sum(probability[chosen] * (1 - probability[chosen])) + 1)
        assert abs(right[chosen].sum() - expected) < 3.5 * scatter, (low, high, count, expected)
    assert answered[True] > 0.9 * answered.total()


def test_a_loud_hidden_source_is_found_and_neighbours_share_an_answer() -> None:
    rng = np.random.default_rng(8)
    motion = normal(rng, PIECES, BPMS) + 1.0 * RESPONSE[:, 5]
    nothing_read = np.full((PIECES, SOURCES), np.nan, np.complex128)
    ranking = rank(motion, covariance_of(normal(rng, 400, BPMS)), RESPONSE, nothing_read, NAMES)
    assert ranking.answer == ["ps05"]
    assert ranking.ranked[0].amplitude == pytest.approx(1.0, rel=0.05)
    twins = RESPONSE.copy()
    twins[:, 6] = 1.01 * twins[:, 5]
    alike = rank(motion, covariance_of(normal(rng, 400, BPMS)), twins, nothing_read, NAMES)
    assert sorted(alike.answer) == ["ps05", "ps06"]


def test_sources_are_found_in_series(tmp_path: Path) -> None:
    """The mains are in every supply; the loudest in current is not the one that moves the beam most."""
    rng, time = np.random.default_rng(9), np.arange(21000) / RATE_HZ
    mains = np.sin(2 * np.pi * 50.0 * time)
    size = np.full(SOURCES, 0.01)
    weakest = int(np.argmin(np.linalg.norm(RESPONSE, axis=0)))
    loudest = int(np.argmax(np.linalg.norm(RESPONSE, axis=0)))
    size[weakest], size[loudest] = 0.3, 0.3
    currents = size[:, None] * mains
    orbit = RESPONSE @ currents + 0.5 * rng.standard_normal((BPMS, len(time)))
    orbit[3, rng.random(len(time)) < 0.5] = np.nan  # one BPM that is to be left out
    rows = [f"bpm{i:02}/x" for i in range(BPMS)]
    series = {row: Series(row, "nm", RATE_HZ, orbit[i], 0, 1) for i, row in enumerate(rows)}
    for i, name in enumerate(NAMES):
        series[f"c01/{name}"] = Series(name, "A", RATE_HZ, currents[i] + 1e-3 * rng.standard_normal(len(time)), 0, 1)
    sources = [f"sr/ps/{name}" for name in NAMES]
    ranking = rank_at(50.0, series, rows, sources, RESPONSE)
    assert ranking.answer == [f"sr/ps/{NAMES[loudest]}"]
    assert ranking.ranked[0].share > 0.8
    assert json.dumps(ranking.as_json())
    del series[f"c01/{NAMES[loudest]}"]
    hidden = rank_at(50.0, series, rows, sources, RESPONSE)
    assert hidden.answer == [f"sr/ps/{NAMES[loudest]}"]
    assert np.isnan(hidden.ranked[0].share)
    with pytest.raises(ValueError, match="no row has 95% of its records"):
        rank_at(50.0, {}, rows, sources, RESPONSE)


def test_the_commands(tmp_path: Path) -> None:
    path = str(simple(tmp_path / "archive"))
    where = ("--archive", path)
    said = ringmaster("correlate", "modes", "bpm01/turn", *where, "--modes", "2").stdout
    assert "2 lanes over 1000 records" in said
    whole = json.loads(ringmaster("correlate", "modes", "bpm01/turn", *where, "--separate", "--json").stdout)
    assert sum(mode["share"] for mode in whole["modes"]) == pytest.approx(1.0)
    pictures = [tmp_path / f"{name}.png" for name in ("modes", "pair", "sources")]
    ringmaster("correlate", "modes", "bpm01/turn", *where, "--plot", str(pictures[0]))
    ringmaster("correlate", "pair", "bpm01/turn/x1", "bpm01/turn/sum", *where, "--plot", str(pictures[1]))
    some = [Contribution("ps/a", 0.9, 0.8, 1.0), Contribution("ps/b", 0.05, float("nan"), 1.0)]
    draw_sources(Ranking(some, 0.03, 0.02, 40.0), 50.0, pictures[2])
    assert all(picture.stat().st_size > 10000 for picture in pictures)
    wrong = ringmaster("correlate", "modes", "bpm01/turn", *where, "--plot", "modes.txt", expect=1).stderr
    assert "modes.txt: found suffix '.txt', expected .png, .svg, .pdf" in wrong
    said = ringmaster("correlate", "pair", "bpm01/turn/x1", "bpm01/turn/sum", *where, "--at", "100000").stdout
    assert "coherence 1.000, gain 0.07143" in said
    assert "expected two" in ringmaster("correlate", "pair", "bpm01/turn/x1", "bpm01/turn/x1", *where, expect=1).stderr
    matrix = tmp_path / "m.csv"
    save_csv(matrix, Matrix(("bpm01/x1",), ("ps/sum", "ps/other"), np.array([[14.0, 1.0]])))
    said = ringmaster(
        "correlate",
        "sources",
        "--at",
        "100000",
        "--matrix",
        str(matrix),
        "--rate",
        "turn",
        *where,
        expect=1,
    ).stderr
    assert "no row has 95% of its records" in said
    said = ringmaster("correlate", "sources", "--at", "1", "--matrix", str(matrix), *where, expect=1).stderr
    assert "no row of the matrix is a lane at the rate 'raw'; the first one is bpm01/raw/x1" in said
