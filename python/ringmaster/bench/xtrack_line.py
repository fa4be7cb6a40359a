# SPDX-License-Identifier: Apache-2.0
"""A lattice for xtrack, as near to ours as matters for speed: a kick of its for each kick of ours, drifts expanded.

Its maps are not ours to the last digit (its integrator is another), so that its results are not compared.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ringmaster.twin import Element, Kind
from ringmaster.twin.lattice import ELECTRON_EV
from ringmaster.twin.machine import Machine

KICKS = 3
"""Of each slice of a fourth order integrator."""


def tracker(machine: Machine, beam: Any, turns: int, radiation: bool) -> Callable[[], Any]:
    """A call that tracks the beam, (6, particles), from the start. xtrack compiles its kernel first, for a minute."""
    os.environ["XSUITE_ALLOW_KERNEL_COMPILATION"] = "1"
    import xtrack

    names = [f"e{i}" for i in range(len(machine))]
    line = xtrack.Line(elements=[_element(xtrack, element) for element in machine], element_names=names)
    reference = {"mass0": ELECTRON_EV, "q0": -1, "energy0": machine.lattice.energy}
    line.particle_ref = xtrack.Particles(**reference)
    line.build_tracker()
    if radiation:
        line.configure_radiation(model="mean")
    columns = dict(zip(("x", "px", "y", "py", "delta", "zeta"), beam, strict=True))
    columns["zeta"] = -columns["zeta"]
    design = xtrack.Particles(**reference, **columns)

    def track() -> Any:
        particles = design.copy()
        line.track(particles, num_turns=turns)
        return particles

    return track


def _element(xtrack: Any, element: Element) -> Any:
    length = element.Length
    if not hasattr(element, "PolynomB"):
        if element.kind == Kind.CAVITY:
            return xtrack.Cavity(voltage=element.Voltage, frequency=element.Frequency, lag=180.0)
        if element.kind == Kind.CORRECTOR:
            kick = element.KickAngle
            return xtrack.Multipole(knl=[-kick[0]], ksl=[kick[1]], length=length)
        return xtrack.Drift(length=length) if length else xtrack.Marker()
    factorials = np.array([1.0, 1.0, 2.0, 6.0, 24.0, 120.0])
    normal = np.zeros(len(factorials))
    given = element.PolynomB[: len(factorials)]
    normal[: len(given)] = given * factorials[: len(given)]
    if not length:
        return xtrack.Multipole(knl=normal)
    slices = {"num_multipole_kicks": KICKS * element.NumIntSteps, "integrator": "teapot"}
    if element.kind == Kind.DIPOLE:
        bend = xtrack.Bend(length=length, angle=element.BendingAngle, k1=normal[1], k2=normal[2], **slices)
        bend.model = "drift-kick-drift-expanded"
        return bend
    magnet = xtrack.Quadrupole(length=length, k1=normal[1], knl=[0, 0, *(normal[2:] * length)], **slices)
    magnet.model = "drift-kick-drift-expanded"
    return magnet
