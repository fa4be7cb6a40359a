# SPDX-License-Identifier: Apache-2.0
"""The equilibrium beam against pyAT's ohmi_envelope.

pyAT leaves damping out while it carries the diffusion of one magnet to that magnet's end: an error of the magnet's
share of the energy loss, 2e-5 in the ESRF's 64 dipoles, and 1 / k of it when each is cut in k. Ours does not change
when a magnet is cut; pyAT's comes to meet it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rings import SIX_D, Twin, at, far, numbers, quietly, ring_4d, ring_6d, some_points

# ThomX, at 50 MeV, damps by 1e-9 a turn: below the noise of pyAT's matrix.
DAMPED = tuple(name for name in SIX_D if name != "thomx.m")
OMEGA = np.kron(np.eye(3), [[0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize("name", DAMPED)
def test_beam(name: str) -> None:
    ring = ring_6d(name)
    refpts = some_points(ring)
    summary, envelope = Twin(ring).ohmi_envelope(refpts)
    _, data, reference = quietly(ring.ohmi_envelope, refpts)
    assert far(envelope["r66"], reference.r66) < 1e-4
    assert far(envelope["m66"], reference.m66) < 2e-7
    assert far(numbers(summary.tune), data.tunes) < 7e-9
    assert far(numbers(summary.damping_rate), data.damping_rates) < 1e-4
    assert far(numbers(summary.mode_matrix).reshape(3, 6, 6), data.mode_matrices) < 1e-6
    assert far(envelope["mode_emittance"][0], data.mode_emittances) < 1e-4
    if np.all(reference.emitXY[:, 1] > 1e-12):
        assert far(envelope["r44"], reference.r44) < 2e-4
        assert far(envelope["emit_xy"], reference.emitXY) < 2e-4
    assert np.isfinite(envelope["r66"]).all()
    assert np.isfinite(envelope["r44"]).all()


@pytest.mark.parametrize("name", SIX_D)
def test_eigen_emittances(name: str) -> None:
    """As numpy's eigenvalues of R66 Ω."""
    ring = ring_6d(name)
    _, envelope = Twin(ring).ohmi_envelope(some_points(ring))
    for point in envelope:
        values = np.sort(np.abs(np.linalg.eigvals(point["r66"] @ OMEGA)))[::2]
        assert far(np.sort(point["emit_xyz"])[1:], values[1:]) < 1e-8
        assert np.sort(point["emit_xyz"])[0] == pytest.approx(values[0], rel=1e-5, abs=1e-20)


def cut(ring: Any, pieces: int) -> Any:
    elements = []
    for element in ring:
        if isinstance(element, at.Dipole) and element.NumIntSteps % pieces == 0:
            for piece in element.divide(np.full(pieces, 1 / pieces)):
                piece.NumIntSteps = element.NumIntSteps // pieces
                elements.append(piece)
        else:
            elements.append(element)
    return at.Lattice(elements, energy=ring.energy, periodicity=ring.periodicity, particle=ring.particle)


def test_pyat_meets_ours_as_magnets_are_cut() -> None:
    ring = ring_6d("esrf.m")
    _, whole = Twin(ring).ohmi_envelope([0])
    _, in_ten = Twin(cut(ring, 10)).ohmi_envelope([0])
    assert far(in_ten["r66"], whole["r66"]) < 2e-7
    theirs = [far(whole["r66"], quietly(cut(ring, k).ohmi_envelope, [0])[2].r66) for k in (1, 10)]
    assert theirs[1] < theirs[0] / 5


def test_4d_ring() -> None:
    with pytest.raises(RuntimeError, match="cavity"):
        Twin(ring_4d("soleil.m")).ohmi_envelope([0])
