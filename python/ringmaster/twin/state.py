# SPDX-License-Identifier: Apache-2.0
"""Optics and equilibrium beam of one closed orbit in one call: what a model beside a machine asks again and again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.twin._library import Floats, buffer, call, ffi, lib
from ringmaster.twin.envelope import ENVELOPE, projected
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.optics import LINOPT6, Records, layout, record
from ringmaster.twin.orbit import Orbiting, Vector, expect_6d
from ringmaster.twin.points import Refpts

OPTICS = layout(LINOPT6.struct, LINOPT6.fields)


@dataclass(frozen=True)
class RingState:
    """Of a 6D ring with radiation."""

    orbit_at_start: Floats
    """The closed orbit at element 0, (6,): the ``guess`` of the next call."""
    tune: Floats
    """Fractional, (3,)."""
    chromaticity: Floats
    """Per δ, (3,); NaN unless asked for."""
    emittance: Floats
    """Of the modes, m rad, (3,)."""
    energy_spread: float
    bunch_length: float
    """m."""
    energy_loss: float
    """Per turn of the whole ring, eV."""
    optics: Records
    """At the points: the fields of ``linopt6``."""
    beam: Records
    """At the points: the fields of ``ohmi_envelope``."""


def optics_and_envelope(
    ring: Ring, refpts: Refpts = None, *, guess: Vector = None, get_chrom: bool = False, convergence: float = 0.0
) -> RingState:
    """What ``linopt6`` and ``ohmi_envelope`` give at the points, from one closed orbit and one turn for both.

    ``guess``: where to start the search; near the answer it saves most of the time.
    """
    machine = expect_6d(machine_of(ring), "optics_and_envelope")
    return StateFinder(machine, refpts).find(guess, get_chrom, convergence)


class StateFinder:
    """The same of one ring at one set of points, with its memory kept from call to call."""

    def __init__(self, machine: Machine, refpts: Refpts) -> None:
        self.machine = machine
        self.points = machine.get_uint32_index(refpts)
        self._points = buffer("uint32_t", self.points)
        self._state = ffi.new("struct rm_ring_state *")
        self._options = ffi.new("struct rm_optics_options *")

    def find(self, guess: Vector = None, chromaticity: bool = False, convergence: float = 0.0) -> RingState:
        """Of the ring as it stands. Raises TwinNoAnswer where there is no closed orbit, or no stable motion."""
        count = len(self.points)
        optics: NDArray[Any] = np.empty(count, OPTICS)
        beam: NDArray[Any] = np.empty(count, ENVELOPE)
        orbiting = Orbiting(self.machine, guess=guess, convergence=convergence)
        self._options.orbit = orbiting.struct[0]
        self._options.chromaticity = chromaticity
        call(
            lib.rm_twin_optics_and_envelope,
            self.machine.pointer,
            self._options,
            self._points,
            count,
            self._state,
            buffer("struct rm_optics", optics),
            buffer("struct rm_envelope", beam),
        )
        beam["emitXYZ"] = projected(beam["r66"])
        found, equilibrium = self._state.optics, self._state.envelope
        return RingState(
            np.array(list(self._state.orbit_at_start)),
            np.array(list(found.tune)),
            np.array(list(found.chromaticity)) if chromaticity else np.full(3, np.nan),
            np.array(list(equilibrium.mode_emittance)),
            float(equilibrium.energy_spread),
            float(equilibrium.bunch_length_m),
            float(equilibrium.energy_loss_ev),
            record(optics),
            record(beam),
        )
