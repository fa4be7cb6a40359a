# SPDX-License-Identifier: Apache-2.0
"""xtrack's Forest and Ruth integrator on Elettra 2.0: the same linear map, tunes and closed orbit as ours.

Beyond first order its bends differ from AT's, by the curvature's part of their gradients. It is no requirement: it
compiles for minutes before it tracks. `pip install xtrack` brings it in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pairs import SHARED, relative

from ringmaster.twin import Element, Kind, Twin, load_lattice
from ringmaster.twin.lattice import ELECTRON_EV

xtrack = pytest.importorskip("xtrack", reason="NO XTRACK HERE, which is optional, so it does not track beside us")
xobjects = pytest.importorskip("xobjects", reason="NO XTRACK HERE, for xobjects is a part of it")

NAME = "elettra2_s6bae.mat"
FACTORIALS = np.array([1.0, 1.0, 2.0, 6.0])
KICKS = 3
"""Of each slice."""
STEP = 1e-7

pytestmark = [
    pytest.mark.skipif(not (SHARED / NAME).exists(), reason=f"NO LATTICE {SHARED / NAME}, so xtrack is not asked"),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(900),  # it compiles
]


def element(ours: Element) -> Any:
    """As xtrack's; cavities are off."""
    if ours.kind == Kind.CORRECTOR:
        return xtrack.Multipole(knl=[-ours.KickAngle[0]], ksl=[ours.KickAngle[1]])
    if not hasattr(ours, "PolynomB"):
        return xtrack.Drift(length=ours.Length) if ours.Length else xtrack.Marker()
    orders = min(len(ours.PolynomB), len(FACTORIALS))
    knl = ours.PolynomB[:orders] * FACTORIALS[:orders]
    if not ours.Length:
        return xtrack.Multipole(knl=knl)
    slices = {"num_multipole_kicks": KICKS * ours.NumIntSteps, "integrator": "yoshida-4"}
    if ours.kind == Kind.DIPOLE:
        edges = {"edge_entry_angle": ours.EntranceAngle, "edge_exit_angle": ours.ExitAngle}
        made = xtrack.Bend(length=ours.Length, angle=ours.BendingAngle, k1=knl[1], **edges, **slices)
    else:
        made = xtrack.Quadrupole(length=ours.Length, k1=knl[1], **slices)
    made.model = "drift-kick-drift-expanded"
    return made


class Peer:
    """A ring to be tracked by xtrack, in our coordinates."""

    def __init__(self, twin: Twin) -> None:
        names = [f"e{i}" for i in range(len(twin))]
        self.line = xtrack.Line(elements=[element(e) for e in twin], element_names=names)
        self.reference = {"mass0": ELECTRON_EV, "q0": -1, "energy0": twin.lattice.energy}
        self.line.particle_ref = xtrack.Particles(**self.reference)
        self.line.build_tracker()

    def turn(self, beam: Any) -> Any:
        """Of (6, particles)."""
        columns = dict(zip(("x", "px", "y", "py", "delta"), beam, strict=False))
        particles = xtrack.Particles(**self.reference, **columns, zeta=-beam[5])
        self.line.track(particles, num_turns=1)
        particles.sort(interleave_lost_particles=True)
        return np.array([getattr(particles, name) for name in ("x", "px", "y", "py")])

    def matrix(self, orbit: Any) -> Any:
        """One turn of transverse motion about an orbit, by differences."""
        beam = np.repeat(orbit[:, None], 8, axis=1)
        beam[:4] += STEP * np.kron(np.eye(4), [1.0, -1.0])
        out = self.turn(beam)
        return (out[:, 0::2] - out[:, 1::2]) / (2 * STEP)


@pytest.fixture(scope="module")
def twin() -> Twin:
    """4D, with a corrector on."""
    made = Twin(load_lattice(SHARED / NAME))
    made.disable_6d()
    made.set_kick(made.lattice.get_correctors()[7], horizontal=1e-7)
    made.set_kick(made.lattice.get_correctors()[6], vertical=1e-7)
    return made


def test_linear_motion_closed_orbit_and_a_turn(twin: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where it compiles
    xobjects.settings.allow_kernel_compilation = True  # which monkeypatch cannot take back
    peer = Peer(twin)
    orbit, _ = twin.find_orbit4()
    matrix, ours = peer.matrix(orbit), twin.find_m44()[0]
    assert relative(ours, matrix) < 1e-7
    tunes = [np.arccos(np.trace(matrix[i : i + 2, i : i + 2]) / 2) / (2 * np.pi) for i in (0, 2)]
    assert np.minimum(twin.get_tune(), 1 - twin.get_tune()) == pytest.approx(tunes, abs=3e-8)
    closed = np.zeros(6)
    for _ in range(3):
        closed[:4] += np.linalg.solve(np.eye(4) - peer.matrix(closed), peer.turn(closed[:, None])[:, 0] - closed[:4])
    assert relative(orbit, closed) < 3e-7
    beam = np.zeros((6, 30), order="F")
    beam[:4] = orbit[:4, None] + 1e-7 * np.random.default_rng(1).normal(size=(4, 30))
    tracked = twin.track(beam, 1, [len(twin)])[0][:4, :, 0, 0]
    assert relative(tracked, peer.turn(beam)) < 1e-6
