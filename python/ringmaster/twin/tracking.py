# SPDX-License-Identifier: Apache-2.0
"""Particles, turn by turn."""

from typing import Any

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib, six_by
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.points import End, Refpts

NOT_LOST = np.iinfo(np.uint32).max
LOSS_DTYPE = [("islost", np.bool_), ("turn", np.uint32), ("elem", np.uint32), ("coord", np.float64, (6,))]
SIMD = {
    "best": lib.RM_SIMD_BEST,
    "scalar": lib.RM_SIMD_SCALAR,
    "avx2": lib.RM_SIMD_AVX2,
    "avx512": lib.RM_SIMD_AVX512,
}


def track_rows(
    machine: Machine,
    particles: Floats,
    turns: int,
    points: Points,
    losses: Any = None,
    simd: str = "best",
) -> Floats:
    """Tracks ``particles``, (count, 6), in place; returns what was seen at the points, (turns, points, count, 6).

    ``losses``: three arrays, which are filled: turn and element of each particle's loss, and where it was.
    """
    seen = np.empty((turns, len(points), len(particles), 6))
    options = ffi.new("struct rm_tracking *")
    options.turns = turns
    options.refpts = buffer("uint32_t", points)
    options.refpt_count = len(points)
    options.out = buffer("double", seen)
    options.simd = SIMD[simd]
    if losses is not None:
        options.lost_turn, options.lost_element = (buffer("uint32_t", array) for array in losses[:2])
        options.lost_at = buffer("double", losses[2])
    call(lib.rm_twin_track, machine.pointer, six_by(particles), len(particles), options)
    return seen


def lattice_track(
    ring: Ring,
    r_in: Floats,
    nturns: int = 1,
    refpts: Refpts = End,
    *,
    in_place: bool = False,
    losses: bool = False,
    turn: int | None = None,
    simd: str = "best",
) -> tuple[Floats, dict[str, Any], dict[str, Any]]:
    """Tracks particles; they go on where a call before left the turn counter, unless ``turn`` is given.

    ``r_in``: (6, particles) or (6,); with ``in_place``, which needs Fortran order, they are where they end afterwards.
    Returns what was seen, (6, particles, points, turns); ``{"npart", "nturns", "refpts", "rout"}``, of which ``rout``
    is where the particles end; and with ``losses`` ``{"loss_map"}``, a record array of ``islost``, ``turn``, ``elem``
    and ``coord`` (6,) at the loss, which are 0 for a particle that is not lost, as in pyAT. A particle is lost outside
    an aperture or beyond 1 m or 1; from then on it is NaN.
    ``simd``: "best", "scalar", "avx2" or "avx512".
    """
    machine = machine_of(ring)
    points = machine.get_uint32_index(refpts)
    given = np.asarray(r_in, np.float64)
    if given.shape[:1] != (6,) or given.ndim > 2:
        raise TwinArgument(f"found particles of shape {given.shape}, expected (6, particles)")
    if simd not in SIMD:
        raise TwinArgument(f"found simd {simd!r}, expected one of {', '.join(SIMD)}")
    rows = given.reshape(6, -1).T
    if in_place and not rows.flags.c_contiguous:
        raise TwinArgument("in_place needs particles in Fortran order: np.asfortranarray(r_in)")
    particles = rows if in_place else rows.copy(order="C")
    if turn is not None:
        machine.turn = turn
    lost = (np.full(len(rows), NOT_LOST, np.uint32), np.zeros(len(rows), np.uint32), np.full((len(rows), 6), np.nan))
    seen = track_rows(machine, particles, nturns, points, lost if losses else None, simd)
    trackparam = {"npart": len(rows), "nturns": nturns, "refpts": points, "rout": particles.T}
    return seen.T, trackparam, {"loss_map": _loss_map(*lost)} if losses else {}


def lattice_pass(ring: Ring, r_in: Floats, nturns: int = 1, refpts: Refpts = End, **options: Any) -> Floats:
    """What :func:`lattice_track` sees, alone: (6, particles, points, turns)."""
    return lattice_track(ring, r_in, nturns, refpts, **options)[0]


def _loss_map(turn: Points, element: Points, at: Floats) -> Any:
    islost = turn != NOT_LOST
    table = np.recarray(len(turn), LOSS_DTYPE)
    table.islost, table.turn, table.elem = islost, np.where(islost, turn, 0), np.where(islost, element, 0)
    table.coord = np.where(islost[:, None], at, 0.0)
    return table
