# SPDX-License-Identifier: Apache-2.0
"""Transfer matrices: the exact derivatives of the passes, where the Accelerator Toolbox takes differences."""

from typing import Any

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.orbit import Orbiting, Vector, expect_4d, vector
from ringmaster.twin.points import Refpts

PATH_ORDERS = 2
"""Closed orbits for each order of the momentum compaction that is fitted."""
DP_STEP = 3e-6


def matrices(
    machine: Machine, orbiting: Orbiting, points: Points, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """The one-turn matrix, (6, 6), and those to the points, (points, 6, 6)."""
    turn, to = np.empty((6, 6)), np.empty((len(points), 6, 6))
    rows = ffi.from_buffer("double[][36]", to)
    about, out = buffer("double", start), buffer("double", turn)
    call(
        lib.rm_twin_find_m66,
        machine.pointer,
        orbiting.struct,
        about,
        out,
        buffer("uint32_t", points),
        len(points),
        rows,
    )
    return turn, to


def find_m66(
    ring: Ring,
    refpts: Refpts = None,
    orbit: Vector = None,
    *,
    dp: float | None = None,
    dct: float | None = None,
    df: float | None = None,
) -> tuple[Floats, Floats]:
    """The one-turn matrix, (6, 6), and those from the start to the points, (points, 6, 6), about the closed orbit.

    ``orbit``: at the entrance of element 0, (6,), where it is known already, or to go around another.
    """
    machine = machine_of(ring)
    start = None if orbit is None else vector(orbit)
    return matrices(machine, Orbiting(machine, dp, dct, df), machine.get_uint32_index(refpts), start)


def find_m44(
    ring: Ring,
    dp: float | None = None,
    refpts: Refpts = None,
    *,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
) -> tuple[Floats, Floats]:
    """The transverse part, (4, 4) and (points, 4, 4), of a ring whose cavities are off; see :func:`find_m66`."""
    machine = expect_4d(machine_of(ring), "find_m44")
    turn, to = find_m66(machine, refpts, orbit, dp=dp, dct=dct, df=df)
    return turn[:4, :4].copy(), to[:, :4, :4].copy()


def flat(ring: Ring) -> Machine:
    """The ring, or a copy with its cavities and radiation off."""
    machine = machine_of(ring)
    if machine.is_6d:
        machine = machine.copy()
        machine.disable_6d()
    return machine


def dispersion_of(turn: Floats) -> Floats:
    """Of the closed orbit, per δ, (4,), from a one-turn matrix without cavities."""
    return np.asarray(np.linalg.solve(np.eye(4) - turn[:4, :4], turn[:4, 4]), np.float64)


def get_mcf(ring: Ring, dp: float = 0.0, fit_order: int = 1, n_step: int = 2, **steps: Any) -> Any:
    """The momentum compaction α: relative lengthening of the closed orbit per δ, of a ring whose cavities are off.

    The first order is exact, from the one-turn matrix. With ``fit_order`` above 1 an array of so many orders, fitted to
    ``n_step`` closed orbits within ``DPStep`` (3e-6).
    """
    machine = expect_4d(machine_of(ring), "get_mcf")
    length = machine.lattice.cell_length
    none = np.empty(0, np.uint32)
    if fit_order == 1:
        turn, _ = matrices(machine, Orbiting(machine, dp), none)
        return float(turn[5, :4] @ dispersion_of(turn) + turn[5, 4]) / length
    if n_step < PATH_ORDERS * fit_order:
        raise TwinArgument(f"found n_step {n_step}, expected at least {PATH_ORDERS * fit_order} for order {fit_order}")
    from ringmaster.twin.orbit import find_orbit4

    half = steps.get("DPStep", DP_STEP) / 2
    momenta = dp + np.linspace(-half, half, n_step)
    paths = [find_orbit4(machine, momentum, [len(machine)])[1][0, 5] for momentum in momenta]
    fitted = np.polynomial.Polynomial.fit(momenta, paths, deg=fit_order).convert().coef
    return np.asarray(fitted[1:], np.float64) / length


def get_slip_factor(ring: Ring, **options: Any) -> float:
    """η = 1/γ² − α, with the cavities off."""
    lattice = machine_of(ring).lattice
    return lattice.gamma**-2 - float(get_mcf(flat(ring), **options))
