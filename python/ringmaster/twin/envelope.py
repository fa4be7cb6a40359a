# SPDX-License-Identifier: Apache-2.0
"""The equilibrium of damping and quantum excitation.

After K. Ohmi, K. Hirata and K. Oide, Phys. Rev. E 49, 751 (1994).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.twin._library import Points, buffer, call, ffi, lib
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.optics import Field, Records, layout, record
from ringmaster.twin.orbit import Orbiting, Vector, expect_6d
from ringmaster.twin.points import Refpts, resolve

FIELDS: tuple[Field, ...] = (
    ("r66", "r66", (6, 6)),
    ("r44", "r44", (4, 4)),
    ("m66", "m66", (6, 6)),
    ("orbit6", "closed_orbit", (6,)),
    ("emitXY", "emit_xy", (2,)),
    ("emitXYZ", "emit_xyz", (3,)),
)
ENVELOPE = layout("rm_envelope", FIELDS)


def envelope(machine: Machine, points: Points, orbit: Vector = None) -> tuple[Any, NDArray[Any]]:
    """The C struct of the ring, and the table of the points."""
    table: NDArray[Any] = np.empty(len(points), ENVELOPE)
    ring = ffi.new("struct rm_envelope_summary *")
    orbiting = Orbiting(machine, guess=orbit)
    arguments = buffer("uint32_t", points), len(points), ring, buffer("struct rm_envelope", table)
    call(lib.rm_twin_ohmi_envelope, machine.pointer, orbiting.struct, *arguments)
    return ring, table


def ohmi_envelope(ring: Ring, refpts: Refpts = None, orbit: Vector = None) -> tuple[Records, Records, Records]:
    """The beam matrix ⟨z zᵀ⟩ that reproduces itself, of a 6D ring with radiation.

    Returns it at the start; of the ring ``tunes``, ``damping_rates`` (per turn), ``mode_matrices`` (3, 6, 6) and
    ``mode_emittances`` (m rad); and at the points, where fields are

    - ``r66`` (6, 6), whose diagonal has the squared beam sizes; ``r44`` (4, 4) its betatron part;
    - ``m66`` (6, 6) from the start, ``orbit6`` (6,);
    - ``emitXY`` (2,), the betatron part projected on the planes; ``emitXYZ`` (3,), eigen-emittances. All m rad.
    """
    machine = expect_6d(machine_of(ring), "ohmi_envelope")
    points = resolve(machine.lattice, refpts)
    both = np.union1d(np.zeros(1, np.uint32), points).astype(np.uint32)
    found, table = envelope(machine, both, orbit)
    return record(table[:1].copy().reshape(())), _summary(found), record(table[np.searchsorted(both, points)])


def _summary(ring: Any) -> Records:
    matrices = np.frombuffer(ffi.buffer(ring.mode_matrix), np.float64).reshape(3, 6, 6)
    kind = [(name, np.float64, (3,)) for name in ("tunes", "damping_rates")]
    whole = [*kind, ("mode_matrices", np.float64, (3, 6, 6)), ("mode_emittances", np.float64, (3,))]
    values = list(ring.tune), list(ring.damping_rate), matrices, list(ring.mode_emittance)
    return record(np.array(values, dtype=whole))
