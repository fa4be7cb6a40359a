# SPDX-License-Identifier: Apache-2.0
"""The equilibrium of damping and quantum excitation.

After K. Ohmi, K. Hirata and K. Oide, Phys. Rev. E 49, 751 (1994).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.optics import Field, Records, layout, record
from ringmaster.twin.orbit import Orbiting, Vector, expect_6d
from ringmaster.twin.points import Refpts, with_ends

FIELDS: tuple[Field, ...] = (
    ("r66", "r66", (6, 6)),
    ("r44", "r44", (4, 4)),
    ("m66", "m66", (6, 6)),
    ("orbit6", "closed_orbit", (6,)),
    ("emitXY", "emit_xy", (2,)),
    ("emitXYZ", "mode_emittance", (3,)),
    ("emit_eigen", "emit_xyz", (3,)),
)
"""As C has them; the mode emittances give way to the projections, which C leaves to those who want them."""
ENVELOPE = layout("rm_envelope", FIELDS)
PLANES = (0, 2, 4)
"""First coordinates of the planes."""


def envelope(machine: Machine, points: Points, orbit: Vector = None) -> tuple[Any, NDArray[Any]]:
    """The C struct of the ring, and the table of the points, whose emitXYZ are still AT's mode emittances."""
    table: NDArray[Any] = np.empty(len(points), ENVELOPE)
    ring = ffi.new("struct rm_envelope_summary *")
    orbiting = Orbiting(machine, guess=orbit)
    arguments = buffer("uint32_t", points), len(points), ring, buffer("struct rm_envelope", table)
    call(lib.rm_twin_ohmi_envelope, machine.pointer, orbiting.struct, *arguments)
    return ring, table


def ohmi_envelope(ring: Ring, refpts: Refpts = None, orbit: Vector = None) -> tuple[Records, Records, Records]:
    """The beam matrix ⟨z zᵀ⟩ that reproduces itself, of a 6D ring with radiation.

    Returns it at the start; of the ring ``tunes``, ``damping_rates`` (per turn), ``mode_matrices`` (3, 6, 6),
    ``mode_emittances`` (m rad), which are eigen-emittances, and ``at_mode_emittances`` by the Accelerator Toolbox's
    formula; and at the points, where fields are

    - ``r66`` (6, 6), whose diagonal has the squared beam sizes; ``r44`` (4, 4) its betatron part;
    - ``m66`` (6, 6) from the start, ``orbit6`` (6,);
    - ``emitXY`` (2,), the betatron part, ``emitXYZ`` (3,), the whole, projected on the planes;
    - ``emit_eigen`` (3,), moduli of the eigenvalues of r66 · S. All m rad.
    """
    machine = expect_6d(machine_of(ring), "ohmi_envelope")
    points = machine.get_uint32_index(refpts)
    both, rows = with_ends(points, len(machine))
    found, table = envelope(machine, both, orbit)
    beam = _summary(found, table["emitXYZ"][0])
    table["emitXYZ"] = projected(table["r66"])
    start = table[:1].copy()
    start["m66"] = table["m66"][-1]  # the Accelerator Toolbox keeps the one-turn matrix there
    return record(start.reshape(())), beam, record(table[rows])


def projected(r66: Floats) -> Floats:
    """√det of the planes' 2 × 2 blocks."""
    squared = [r66[:, i, i] * r66[:, i + 1, i + 1] - r66[:, i, i + 1] * r66[:, i + 1, i] for i in PLANES]
    return np.asarray(np.sqrt(np.maximum(np.stack(squared, axis=-1), 0.0)), np.float64)


def _summary(ring: Any, by_at: Floats) -> Records:
    matrices = np.frombuffer(ffi.buffer(ring.mode_matrix), np.float64).reshape(3, 6, 6)
    shapes = {"tunes": (3,), "damping_rates": (3,), "mode_matrices": (3, 6, 6)}
    shapes |= {"mode_emittances": (3,), "at_mode_emittances": (3,)}
    values = list(ring.tune), list(ring.damping_rate), matrices, list(ring.mode_emittance), by_at
    return record(np.array(values, dtype=[(name, np.float64, shape) for name, shape in shapes.items()]))
