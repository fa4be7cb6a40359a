# SPDX-License-Identifier: Apache-2.0
"""Whole rings against the Accelerator Toolbox: coordinates, points, turns, losses; steerers of single particles; and
the statistics of quantum radiation.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import at
import numpy as np
import pytest
from library import ROOT, call, ffi, library
from tracking import NOT_LOST, SIMD, beam, difference, need, ring_of, track, twin_of

LATTICES = ROOT.parent / "shared/data/lattices"
MACHINE_DATA = Path(at.__file__).parents[1] / "machine_data"
LIMIT = 1e-12
# 132060 kicks, and a waist of the beam at the end: rounding, as the 1e-12 between our own scalar and vector kernels.
LIMITS = {"err.mat": 2e-11}
RINGS = {
    "elettra2_s6bae.mat": LATTICES, "elettra2_phase1_linear.m": LATTICES, "dba.mat": MACHINE_DATA,
    "hmba.mat": MACHINE_DATA, "esrf.m": MACHINE_DATA, "soleil.m": MACHINE_DATA, "thomx.m": MACHINE_DATA,
    "australian_synchrotron.m": MACHINE_DATA, "err.mat": MACHINE_DATA,
}  # fmt: skip


def load(name: str) -> Any:
    path = RINGS[name] / name
    if not path.exists():
        pytest.skip(f"{path} is not here: {name} is NOT tested")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return at.load_lattice(str(path))


def small_beam(count: int = 24, seed: int = 3) -> Any:
    """Within the acceptance of every ring here."""
    particles = beam(count, seed, largest=1e-5, delta=1e-4)
    particles[5] *= 10
    return particles


def pyat(ring: Any, particles: Any, turns: int, refpts: Any = None, **options: Any) -> Any:
    points = [len(ring)] if refpts is None else refpts
    return ring.track(particles.copy(order="F"), nturns=turns, refpts=points, **options)


@pytest.mark.parametrize("name", RINGS)
def test_one_turn_4d(name: str) -> None:
    ring = load(name)
    ring.disable_6d()
    twin, lattice = twin_of(ring)
    assert not library.rm_twin_is_6d(twin)
    particles = small_beam()
    refpts = [0, 1, len(ring) // 3, len(ring) - 1, len(ring)]
    expected = pyat(ring, particles, 1, refpts)[0]
    result = track(twin, particles, 1, refpts)
    for i in range(len(refpts)):
        assert difference(result.out[:, :, i, 0], expected[:, :, i, 0]) < LIMITS.get(name, LIMIT), refpts[i]
    assert np.array_equal(result.particles, result.out[:, :, -1, -1])
    assert (result.lost_turn == NOT_LOST).all()
    del lattice


@pytest.mark.parametrize("name", ["elettra2_s6bae.mat", "esrf.m", "soleil.m", "thomx.m", "australian_synchrotron.m"])
@pytest.mark.parametrize("simd", SIMD)
def test_turns_6d(name: str, simd: str) -> None:
    """Radiation and cavities; the turn counter is kept across calls, and cavities refer to it."""
    wanted = need(simd)
    ring = load(name)
    ring.enable_6d()
    particles = small_beam(13)
    first = pyat(ring, particles, 1)[0][:, :, 0, 0]
    later = pyat(ring, first, 2, turn=1)[0][:, :, 0, -1]
    twin, lattice = twin_of(ring)
    assert library.rm_twin_is_6d(twin)
    ours = track(twin, particles, 1, simd=wanted).particles
    assert difference(ours, first) < LIMIT
    assert library.rm_twin_turn(twin) == 1
    ours = track(twin, ours, 2, simd=wanted).particles
    assert library.rm_twin_turn(twin) == 3
    assert difference(ours, later) < 10 * LIMIT
    del lattice


def test_the_turn_matters() -> None:
    """With a cavity that is no harmonic of the turn, every turn has another phase."""
    length = 100.0
    ring = ring_of(at.Drift("D", length), at.RFCavity("C", 0.0, 1e6, 4.99e8, 166, 2.4e9))
    twin, lattice = twin_of(ring)
    particles = small_beam(9)
    expected = pyat(ring, particles, 6)[0]
    result = track(twin, particles, 6, [len(ring)])
    for turn in range(6):
        assert difference(result.out[:, :, 0, turn], expected[:, :, 0, turn]) < LIMIT
    library.rm_twin_set_turn(twin, 4)
    again = track(twin, expected[:, :, 0, 3]).particles
    assert difference(again, expected[:, :, 0, 4]) < LIMIT
    assert difference(track(twin, expected[:, :, 0, 3]).particles, expected[:, :, 0, 4]) > 1e-3
    del lattice


@pytest.mark.parametrize("name", ["elettra2_s6bae.mat", "esrf.m", "thomx.m", "hmba.mat", "dba.mat"])
def test_enable_and_disable_6d(name: str) -> None:
    """The same passes as AT's, whatever was on before."""
    ring = load(name)
    twin, lattice = twin_of(ring)

    def agree() -> None:
        for i, element in enumerate(ring):
            ours = library.rm_twin_element(twin, i)
            named = library.rm_pass_name(getattr(ours, "pass"), ours.radiation)
            assert ffi.string(named).decode() == element.PassMethod, (i, element.FamName)

    agree()
    if name == "dba.mat":  # its dipoles are of the E2 pass, which radiates too; it has no cavity
        assert not library.rm_twin_is_6d(twin)
    call(library.rm_twin_enable_6d, twin)
    ring.enable_6d()
    agree()
    library.rm_twin_disable_6d(twin)
    ring.disable_6d()
    agree()
    del lattice


@pytest.mark.parametrize("simd", SIMD)
def test_losses(simd: str) -> None:
    """When, where and with which coordinates; far amplitudes and an aperture, in a whole ring."""
    wanted = need(simd)
    ring = load("elettra2_s6bae.mat").deepcopy()
    ring.insert(777, at.Aperture("A", [-4e-3, 3e-3, -1e-3, 2e-3]))
    ring[3].RApertures = np.array([-9e-3, 9e-3, -9e-3, 9e-3])
    ring[400].EApertures = np.array([8e-3, 4e-3])
    particles = beam(50, 5, largest=2e-2, delta=0.02)
    particles[0, 7] = np.nan
    particles[:, 9] = 1.5
    expected, _, losses = ring.track(particles.copy(order="F"), nturns=4, losses=True, refpts=[len(ring)])
    lost = losses["loss_map"]
    coordinates = lost["coord"].T
    assert 5 < lost["islost"].sum() < 50
    twin, lattice = twin_of(ring)
    result = track(twin, particles, 4, simd=wanted)
    assert np.array_equal(result.lost_turn != NOT_LOST, lost["islost"])
    assert np.array_equal(result.lost_turn[lost["islost"]], lost["turn"][lost["islost"]])
    assert np.array_equal(result.lost_element[lost["islost"]], lost["elem"][lost["islost"]])
    assert np.isnan(result.particles[:, lost["islost"]]).all()
    assert np.isfinite(result.particles[:, ~lost["islost"]]).all()
    at_apertures = np.isinf(coordinates[5]) & np.isfinite(coordinates[:5]).all(axis=0)
    assert at_apertures.sum() > 3
    ours, theirs = result.lost_at[:5, at_apertures], coordinates[:5, at_apertures]
    assert np.abs(ours - theirs).max() < 1e-9 * np.abs(theirs).max()
    assert np.isfinite(result.lost_at[5, at_apertures]).all()
    again = track(twin, result.particles, 1, simd=wanted)
    assert np.array_equal(again.lost_turn == 4, lost["islost"])
    assert (again.lost_element[lost["islost"]] == 0).all()
    del lattice, expected


def test_many_particles_and_points() -> None:
    """Every particle has its place, whatever the number of lanes."""
    ring = load("hmba.mat")
    twin, lattice = twin_of(ring)
    for count in (1, 2, 7, 8, 33, 65):
        particles = small_beam(count, count)
        expected = pyat(ring, particles, 2, [3, 50])[0]
        for name in [wanted for simd, wanted in SIMD.items() if simd == "scalar"] + ["RM_SIMD_BEST"]:
            library.rm_twin_set_turn(twin, 0)
            result = track(twin, particles, 2, [3, 50], simd=name)
            for point in range(2):
                for turn in range(2):
                    assert difference(result.out[:, :, point, turn], expected[:, :, point, turn]) < LIMIT
    del lattice


def misaligned_elements() -> list[Any]:
    return [
        at.Quadrupole("Q", 0.4, 3.0), at.Dipole("B", 0.8, 0.2, -0.5, EntranceAngle=0.1, ExitAngle=0.1),
        at.Sextupole("S", 0.2, 80.0), at.Drift("D", 0.3),
    ]  # fmt: skip


@pytest.mark.parametrize("element", misaligned_elements(), ids=lambda element: element.FamName)
def test_misalignment_agrees_with_pyat(element: Any) -> None:
    for shift in ((1e-3, 0, 0, 0), (0, -2e-3, 0, 0), (0, 0, 3e-3, 0), (0, 0, 0, 0.02), (1e-3, -2e-3, 3e-3, 0.02)):
        ring = ring_of(element.deepcopy())
        twin, lattice = twin_of(ring)
        call(library.rm_twin_set_misalignment, twin, 0, *shift)
        at.transform_elem(ring[0], dx=shift[0], dy=shift[1], dz=shift[2], tilt=shift[3])
        particles = beam(seed=2)
        expected = pyat(ring, particles, 1)[0][:, :, 0, 0]
        assert difference(track(twin, particles).particles, expected) < LIMIT
        for name, size in (("t1", 6), ("t2", 6), ("r1", 36), ("r2", 36)):
            ours = np.frombuffer(ffi.buffer(getattr(library.rm_twin_element(twin, 0), name), size * 8))
            assert np.allclose(ours, np.ravel(getattr(ring[0], name.upper())), rtol=0, atol=1e-15)
        call(library.rm_twin_set_misalignment, twin, 0, 0, 0, 0, 0)
        aligned = pyat(ring_of(element.deepcopy()), particles, 1)[0][:, :, 0, 0]
        assert difference(track(twin, particles).particles, aligned) < LIMIT
        del lattice


def quantum_twin(magnet: Any, seed: int) -> tuple[Any, Any]:
    twin, lattice = twin_of(ring_of(magnet))
    call(library.rm_twin_set_radiation, twin, 0, library.RM_RADIATION_QUANTUM)
    library.rm_twin_seed(twin, seed)
    return twin, lattice


def test_quantum_radiation_has_the_mean_and_the_variance_of_theory() -> None:
    """Of particles on the axis of a dipole: the mean loss is the classical one; the photons' variance is N ⟨u²⟩ with
    N = 5/(2√3) α γ θ photons of ⟨u²⟩ = 11/27 critical energies squared (M. Sands, SLAC-121).
    """
    length, angle, count = 1.0, 0.2, 40000
    magnet = at.Dipole("B", length, angle, NumIntSteps=8)
    twin, lattice = quantum_twin(magnet, 11)
    gamma = 2.4e9 / 510998.95069
    loss = -track(twin, np.zeros((6, count))).particles[4]
    photons = 5 / (2 * np.sqrt(3)) / 137.035999177 * gamma * angle
    critical = 1.5 * gamma**3 * 3.8615926744e-13 * (angle / length) / gamma
    variance = photons * 11 / 27 * critical**2
    mean = photons * 8 / (15 * np.sqrt(3)) * critical
    fourth = ((loss - loss.mean()) ** 4).mean()
    assert abs(loss.mean() - mean) < 5 * np.sqrt(variance / count)
    assert abs(loss.var() - variance) < 5 * np.sqrt((fourth - variance**2) / count)
    call(library.rm_twin_set_radiation, twin, 0, library.RM_RADIATION_CLASSICAL)
    classical = -track(twin, np.zeros((6, 1))).particles[4, 0]
    assert abs(mean / classical - 1) < 1e-3
    del lattice


def test_quantum_radiation_is_the_same_with_any_instruction_set() -> None:
    magnet = at.Dipole("B", 1.0, 0.2, 0.5, NumIntSteps=5, PolynomA=[0, 0.1])
    particles = beam(37)
    runs = []
    for simd in list(SIMD.values()):
        twin, lattice = quantum_twin(magnet, 42)
        try:
            runs.append(track(twin, particles, 3, simd=simd).particles)
        except RuntimeError:
            continue  # the processor lacks it
        del lattice
    for other in runs[1:]:
        assert difference(other, runs[0]) < 1e-13
    twin, lattice = quantum_twin(magnet, 43)
    assert difference(track(twin, particles, 3).particles, runs[0]) > 1e-9
    del lattice


def test_spectrum_of_photons() -> None:
    """Where a particle emits at most one photon, its loss is that photon: quantiles of AT's spectrum, which is that of
    K. Ohmi and of Sands: half of the photons are below 0.0835 critical energies.
    """
    twin, lattice = quantum_twin(at.Dipole("B", 1.0, 2e-4, NumIntSteps=1), 5)
    gamma = 2.4e9 / 510998.95069
    critical = 1.5 * gamma**3 * 3.8615926744e-13 * 2e-4 / gamma
    loss = -track(twin, np.zeros((6, 400000))).particles[4] / critical
    energies = np.sort(loss[loss > 0])
    assert abs(len(energies) / 400000 - (1 - np.exp(-5 / (2 * np.sqrt(3)) / 137.036 * gamma * 2e-4))) < 2e-3
    share = np.searchsorted(energies, [0.01, 0.1, 1.0, 3.0]) / len(energies)
    assert np.abs(share - [0.2619, 0.5372, 0.9132, 0.99297]).max() < 0.012
    del lattice
