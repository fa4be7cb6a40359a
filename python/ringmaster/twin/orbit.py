# SPDX-License-Identifier: Apache-2.0
"""Closed orbits: where a particle comes back to itself after a turn.

Coordinates are x (m), px, y (m), py, δ, ct (m). Of ``dp`` (δ), ``dct`` (lengthening of the path of these elements, m)
and ``df`` (deviation of the RF frequency from the design's, Hz) at most one is given. A 4D ring takes δ as it is and
finds it from the others; a 6D ring is always at its RF frequency, which the others then change.
"""

from typing import Any

import numpy as np

from ringmaster.errors import TwinArgument, TwinNoAnswer
from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib, six_by
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.points import Refpts

MOST_STEPS = 20
MOMENTUM_STEP = 1e-4
"""Where the search for δ takes its first look."""
MOMENTUM_TOLERANCE = 1e-13
Vector = Floats | list[float] | None


class Orbiting:
    """On which closed orbit something is asked, as C takes it."""

    def __init__(
        self,
        machine: Machine,
        dp: float | None = None,
        dct: float | None = None,
        df: float | None = None,
        guess: Vector = None,
        convergence: float = 0.0,
        max_iterations: int = 0,
    ) -> None:
        """``guess``: where to start the search, (6,). 0 of the last two: as C has it, 1e-12 and 20."""
        if sum(value is not None for value in (dp, dct, df)) > 1:
            raise TwinArgument("only one of dp, dct and df may be given")
        self._guess = None if guess is None else vector(guess)
        self.struct: Any = ffi.new("struct rm_orbit_options *")
        self.struct.guess = buffer("double", self._guess)
        self.struct.tolerance = convergence
        self.struct.most_iterations = max_iterations
        if machine.is_6d:
            self.struct.rf_offset_hz = _rf_offset(machine, dp, dct, df)
        else:
            self.struct.dp = _momentum(machine, dp, dct, df)


def vector(values: Vector) -> Floats:
    """Six coordinates."""
    array = np.array(values, np.float64)
    if array.shape != (6,):
        raise TwinArgument(f"found an orbit of shape {array.shape}, expected the 6 coordinates of a particle")
    return array


def _design_frequency(machine: Machine) -> float:
    revolution = machine.lattice.revolution_frequency
    harmonic = machine.lattice.harmonic_number or round(machine.rf_frequency / revolution)
    return revolution * harmonic


def _rf_offset(machine: Machine, dp: float | None, dct: float | None, df: float | None) -> float:
    """From the cavities' frequency to the one that is meant, Hz."""
    if dp is None and dct is None and df is None:
        return 0.0
    design = _design_frequency(machine)
    if dp is not None:
        flat = machine.copy()
        flat.disable_6d()
        dct = _path(flat, dp)
    if dct is not None:
        length = machine.lattice.cell_length
        df = -design * dct / (length + dct)
    assert df is not None
    return design + df - machine.rf_frequency


def _momentum(machine: Machine, dp: float | None, dct: float | None, df: float | None) -> float:
    """δ of a 4D ring."""
    if df is not None:
        design = _design_frequency(machine)
        dct = -machine.lattice.cell_length * df / (design + df)
    if dct is None:
        return 0.0 if dp is None else dp
    before, now = 0.0, MOMENTUM_STEP
    off_before, off = _path(machine, before) - dct, _path(machine, now) - dct
    for _ in range(MOST_STEPS):
        if abs(now - before) < MOMENTUM_TOLERANCE or off == off_before:
            return now
        before, now = now, now - off * (now - before) / (off - off_before)
        off_before, off = off, _path(machine, now) - dct
    raise TwinNoAnswer(f"no momentum found whose path is {dct:g} m longer; the last tried was δ = {now:g}")


def _path(machine: Machine, dp: float) -> float:
    """By how much the closed orbit's path is longer than the reference particle's, m."""
    start, end = _find(machine, Orbiting(machine, dp), np.array([len(machine)], np.uint32))
    return float(end[0, 5] - start[5])


def _find(machine: Machine, orbiting: Orbiting, points: Points) -> tuple[Floats, Floats]:
    start, orbit = np.empty(6), np.empty((len(points), 6))
    arguments = buffer("double", start), buffer("uint32_t", points), len(points), six_by(orbit)
    call(lib.rm_twin_find_orbit, machine.pointer, orbiting.struct, *arguments)
    return start, orbit


def find_orbit(
    ring: Ring,
    refpts: Refpts = None,
    *,
    dp: float | None = None,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    guess: Vector = None,
    convergence: float = 0.0,
    max_iterations: int = 0,
) -> tuple[Floats, Floats]:
    """The closed orbit at the entrance of element 0, (6,), and at the points, (points, 6).

    ``orbit``: the closed orbit at element 0 where it is known already; it is then only carried around. ``guess``: where
    to start the search. Raises TwinNoAnswer when there is none.
    """
    machine = machine_of(ring)
    points = machine.get_uint32_index(refpts)
    if orbit is not None:
        return _carried(machine, vector(orbit), points)
    return _find(machine, Orbiting(machine, dp, dct, df, guess, convergence, max_iterations), points)


def _carried(machine: Machine, orbit: Floats, points: Points) -> tuple[Floats, Floats]:
    """By tracking, at turn 0."""
    from ringmaster.twin.tracking import track_rows

    rows = track_rows(machine.copy(), orbit.reshape(1, 6).copy(), 1, points)
    return orbit, rows[0, :, 0, :]


def find_orbit4(
    ring: Ring,
    dp: float | None = None,
    refpts: Refpts = None,
    *,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    guess: Vector = None,
    convergence: float = 0.0,
    max_iterations: int = 0,
) -> tuple[Floats, Floats]:
    """The closed orbit at fixed δ, of a ring whose cavities are off; see :func:`find_orbit`."""
    machine = expect_4d(machine_of(ring), "find_orbit4")
    return find_orbit(
        machine,
        refpts,
        dp=dp,
        dct=dct,
        df=df,
        orbit=orbit,
        guess=guess,
        convergence=convergence,
        max_iterations=max_iterations,
    )


def find_sync_orbit(
    ring: Ring, dct: float | None = None, refpts: Refpts = None, **options: Any
) -> tuple[Floats, Floats]:
    """The closed orbit at a given path, of a ring whose cavities are off; see :func:`find_orbit`."""
    return find_orbit4(ring, None, refpts, dct=dct, **options)


def find_orbit6(ring: Ring, refpts: Refpts = None, **options: Any) -> tuple[Floats, Floats]:
    """The closed orbit at the RF frequency, of a ring with a cavity that is on; see :func:`find_orbit`."""
    return find_orbit(expect_6d(machine_of(ring), "find_orbit6"), refpts, **options)


def expect_4d(machine: Machine, what: str) -> Machine:
    """Raises TwinArgument when a cavity is on."""
    if machine.is_6d:
        raise TwinArgument(f"{what} is for a ring whose cavities are off; disable_6d() switches them off")
    return machine


def expect_6d(machine: Machine, what: str) -> Machine:
    """Raises TwinArgument when no cavity is on."""
    if not machine.is_6d:
        cavities = machine.lattice.get_cavities()
        advice = "enable_6d() switches them on" if len(cavities) else "this lattice has none, so ask for its 4D answer"
        raise TwinArgument(f"{what} needs a cavity that is on; {advice}")
    return machine
