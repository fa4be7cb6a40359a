# SPDX-License-Identifier: Apache-2.0
"""linopt2, linopt4, linopt6 and ring parameters against pyAT's."""

from __future__ import annotations

import numpy as np
import pytest
from library import call, ffi, library
from rings import FOUR_D, SIX_D, Twin, at, far, numbers, quietly, ring_4d, ring_6d, some_points

# Ten times what halving its steps changes in pyAT's results on elettra2_s6bae.mat.
PRECISION = {"beta": 4e-8, "alpha": 4e-8, "mu": 4e-9, "dispersion": 1e-7, "closed_orbit": 1e-7, "s_pos": 1e-15}
CHROMATIC = {"W": 1e-4, "dalpha": 1e-4, "dbeta": 1e-4}


@pytest.mark.parametrize("name", FOUR_D)
def test_4d(name: str) -> None:
    ring = ring_4d(name)
    summary, optics = Twin(ring).optics("linopt6", some_points(ring), chromaticity=True, w=True)
    _, data, reference = quietly(ring.linopt6, some_points(ring), get_chrom=True, get_w=True)
    assert summary.modes == 2
    assert np.max(np.abs(numbers(summary.tune)[:2] - data.tune)) < 7e-9
    assert far(numbers(summary.chromaticity)[:2], data.chromaticity) < 1e-4
    for field, limit in (PRECISION | CHROMATIC | {"ddispersion": 1e-3}).items():
        ours = optics[field][:, :2] if field == "mu" else optics[field]
        assert far(ours, reference[field]) < limit, field
    assert far(optics["A"][:, :4, :4], reference.A) < 1e-7
    assert far(optics["R"][:, :2, :4, :4], reference.R) < 1e-7


@pytest.mark.parametrize("name", SIX_D)
def test_6d(name: str) -> None:
    ring = ring_6d(name)
    summary, optics = Twin(ring).optics("linopt6", some_points(ring), chromaticity=True, w=True)
    _, data, reference = quietly(ring.linopt6, some_points(ring), get_chrom=True, get_w=True)
    assert summary.modes == 3
    assert np.max(np.abs(numbers(summary.tune) - data.tune)) < 7e-9
    assert far(numbers(summary.chromaticity), data.chromaticity) < 2e-3
    noise = 1e-11 / np.min(numbers(summary.damping_rate))  # of pyAT's matrix, in damping times
    assert far(numbers(summary.damping_time_s), data.damping_time) < 1e-4 + noise
    for field, limit in (PRECISION | {"W": 1e-3, "dalpha": 1e-3, "dbeta": 1e-3}).items():
        assert far(optics[field], reference[field]) < limit, field
    for field in ("M", "A", "R"):
        assert far(optics[field], reference[field]) < 1e-6, field


def test_second_order_dispersion_6d() -> None:
    """The second derivative of the orbit by δ at the start, as orbits at three frequencies have it.

    PyAT divides by the δ that the frequency would mean without radiation: the same within some percent.
    """
    ring = ring_6d("soleil.m")
    twin, refpts = Twin(ring), some_points(ring)
    _, optics = twin.optics("linopt6", refpts, w=True)
    orbits = np.array([twin.find_orbit(refpts, rf_offset_hz=by)[1] for by in (-50.0, 0.0, 50.0)])
    delta = orbits[:, 0, 4] - orbits[1, 0, 4]
    curve = np.polyfit(delta, orbits[:, :, :4].reshape(3, -1), 2)[0].reshape(-1, 4)
    assert far(optics["ddispersion"], 2 * curve) < 1e-3
    _, _, reference = quietly(ring.linopt6, refpts, get_w=True, DPStep=3e-5)
    assert far(optics["ddispersion"], reference.ddispersion) < 0.05


@pytest.mark.parametrize("function", ["linopt2", "linopt4"])
@pytest.mark.parametrize("name", ["hmba.mat", "soleil.m", "thomx.m"])
def test_uncoupled_and_coupled(function: str, name: str) -> None:
    ring = ring_4d(name)
    summary, optics = Twin(ring).optics(function, some_points(ring), chromaticity=True, w=True)
    _, data, reference = quietly(getattr(ring, function), refpts=some_points(ring), get_chrom=True, get_w=True)
    assert np.max(np.abs(numbers(summary.tune)[:2] - data.tune)) < 7e-9
    assert far(numbers(summary.chromaticity)[:2], data.chromaticity) < 1e-4
    for field, limit in (PRECISION | CHROMATIC).items():
        assert far(optics[field], reference[field]) < limit, field
    if function == "linopt4":
        for field in ("gamma", "A", "B"):
            assert far(optics[field], reference[field]) < 1e-6, field
        # pyAT's C is right at the start only: elsewhere its γ² + |C| is not 1, as it must be.
        assert far(optics["C"][0], reference["C"][0]) < 1e-6
        assert np.max(np.abs(optics["gamma"] ** 2 + np.linalg.det(optics["C"]) - 1)) < 1e-10


@pytest.mark.parametrize("name", ["soleil.m", "hmba.mat"])
def test_ring_parameters(name: str) -> None:
    ring = ring_4d(name)
    parameters = ffi.new("struct rm_ring_parameters *")
    twin = Twin(ring)
    call(library.rm_twin_ring_parameters, twin.twin, parameters)
    reference = quietly(ring.radiation_parameters)
    assert far(numbers(parameters.i), np.array([getattr(reference, f"i{k}") for k in range(1, 6)])) < 1e-7
    for ours, theirs in {
        "energy_loss_ev": "U0", "momentum_compaction": "alphac", "slip_factor": "etac", "energy_spread": "sigma_e",
        "bunch_length_m": "sigma_l", "synchronous_phase_rad": "phi_s", "voltage_v": "voltage",
    }.items():  # fmt: skip
        if np.isfinite(getattr(reference, theirs)):
            assert getattr(parameters, ours) == pytest.approx(getattr(reference, theirs), rel=1e-7), ours
    assert parameters.emittance_x_m == pytest.approx(reference.emittances[0], rel=1e-7)
    assert far(numbers(parameters.damping_time_s), reference.Tau) < 1e-7
    assert far(numbers(parameters.damping_partition), reference.J) < 1e-7
    assert far(numbers(parameters.tune), reference.tunes[:2]) < 1e-7
    assert far(numbers(parameters.chromaticity), reference.chromaticities) < 1e-3


def test_unstable_plane_by_name() -> None:
    ring = ring_4d("hmba.mat").deepcopy()
    for element in ring:
        if isinstance(element, at.Quadrupole) and element.PolynomB[1] < 0:
            element.PolynomB[1] *= 0.5
    with pytest.raises(RuntimeError, match="vertical"):
        Twin(ring).optics("linopt6", [0])
    with pytest.raises(RuntimeError, match="unstable"):
        Twin(ring).optics("linopt4", [0])


def test_linopt4_of_a_6d_ring() -> None:
    with pytest.raises(RuntimeError, match="4D"):
        Twin(ring_6d("hmba.mat")).optics("linopt4", [0])


def test_points_that_are_none() -> None:
    ring = ring_4d("hmba.mat")
    with pytest.raises(RuntimeError, match="refpts"):
        Twin(ring).optics("linopt6", [len(ring) + 1])
    with pytest.raises(RuntimeError, match="ascend"):
        Twin(ring).optics("linopt6", [5, 4])
