# SPDX-License-Identifier: Apache-2.0
"""Linear optics of transverse motion alone, for those who expect them: linopt2 without coupling, linopt4 with it.

Both are of a ring whose cavities are off. linopt4 is after D. Sagan and D. Rubin, Phys. Rev. ST Accel. Beams 2, 074001
(1999); :mod:`ringmaster.twin.optics` is more general than either. Fields are as there, less R; ``mu`` and ``M`` are
(2,) and (4, 4), and linopt4 has ``gamma`` (), ``A``, ``B`` and ``C`` (2, 2) of its normal modes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import TwinNoAnswer
from ringmaster.twin._library import Floats
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.matrices import DP_STEP, dispersion_of, matrices
from ringmaster.twin.optics import Records, record
from ringmaster.twin.orbit import Orbiting, Vector, expect_4d, find_orbit
from ringmaster.twin.points import All, Refpts

Columns = dict[str, Floats]
Analysis = Callable[[Floats, Floats], Columns]
"""From the one-turn matrix and those to all points to columns of results; row 0 is the start."""


def _adjugate(c: Floats) -> Floats:
    """The symplectic conjugate of 2 × 2 matrices."""
    out = np.empty_like(c)
    out[..., 0, 0], out[..., 1, 1] = c[..., 1, 1], c[..., 0, 0]
    out[..., 0, 1], out[..., 1, 0] = -c[..., 0, 1], -c[..., 1, 0]
    return out


def _closure(turn: Floats, plane: str) -> tuple[float, float, float]:
    """α, β and the tune of a plane from its 2 × 2 one-turn matrix."""
    half = (turn[0, 0] - turn[1, 1]) / 2
    square = -turn[0, 1] * turn[1, 0] - half * half
    if square <= 0:
        raise TwinNoAnswer(f"the {plane} motion is unstable: the trace of its one-turn matrix is {np.trace(turn):.6g}")
    sine = np.sign(turn[0, 1]) * np.sqrt(square)
    tune = np.arctan2(sine, np.trace(turn) / 2) / (2 * np.pi)
    return half / sine, turn[0, 1] / sine, float(np.mod(tune, 1.0))


def _twiss(to: Floats, alpha: float, beta: float) -> tuple[Floats, Floats, Floats]:
    """α, β and phase at the ends of 2 × 2 matrices; phases grow from one point to the next."""
    b = to[:, 0, 1]
    a = to[:, 0, 0] * beta - b * alpha
    c = to[:, 1, 0] * beta - to[:, 1, 1] * alpha
    phase = np.unwrap(np.arctan2(b, a), discont=np.pi)
    return -(a * c + b * to[:, 1, 1]) / beta, (a * a + b * b) / beta, phase


def _planes(turns: tuple[Floats, Floats], to: tuple[Floats, Floats]) -> Columns:
    closed = [_closure(turn, plane) for turn, plane in zip(turns, ("horizontal", "vertical"), strict=True)]
    each = [_twiss(t, alpha, beta) for t, (alpha, beta, _) in zip(to, closed, strict=True)]
    alpha, beta, mu = (np.stack(columns, axis=-1) for columns in zip(*each, strict=True))
    return {"alpha": alpha, "beta": beta, "mu": mu, "tune": np.array([tune for _, _, tune in closed])}


def _uncoupled(turn: Floats, to: Floats) -> Columns:
    return _planes((turn[:2, :2], turn[2:4, 2:4]), (to[:, :2, :2], to[:, 2:4, 2:4]))


def _coupled(turn: Floats, to: Floats) -> Columns:
    big, small, lower, last = turn[:2, :2], turn[:2, 2:4], turn[2:4, :2], turn[2:4, 2:4]
    h = small + _adjugate(lower)
    trace = np.trace(big - last)
    total = trace * trace + 4 * np.linalg.det(h)
    if total <= 0:
        raise TwinNoAnswer("the transverse motion is unstable: a sum resonance couples the planes")
    g = np.sqrt((1 + np.sqrt(trace * trace / total)) / 2)
    c = -h * (np.sign(trace) or 1.0) / (g * np.sqrt(total))
    back = _adjugate(c)
    a = g * g * big - g * (small @ back + c @ lower) + c @ last @ back
    b = g * g * last + g * (back @ small + lower @ c) + back @ big @ c
    m12, n12 = to[:, :2, :2], to[:, 2:4, 2:4]
    mixed, other = to[:, :2, 2:4], to[:, 2:4, :2]
    f = other @ c + g * n12
    gamma = np.sqrt(np.linalg.det(f))
    e = (g * m12 - mixed @ back) / gamma[:, None, None]
    f = f / gamma[:, None, None]
    columns = _planes((a, b), (e, f))
    modes = {"A": e @ a @ _adjugate(e), "B": f @ b @ _adjugate(f), "C": (m12 @ c + g * mixed) @ _adjugate(f)}
    return columns | {"gamma": gamma} | modes


def _columns(machine: Machine, analysis: Analysis, orbiting: Orbiting, start: Floats | None) -> Columns:
    points = machine.get_uint32_index(All)
    turn, to = matrices(machine, orbiting, points, start)
    columns = analysis(turn, to)
    dispersion = dispersion_of(turn)
    return columns | {"dispersion": to[:, :4, :4] @ dispersion + to[:, :4, 4], "M": to[:, :4, :4]}


def _chromatic(up: Columns, down: Columns, step: float) -> Columns:
    """W and derivatives, from the optics at both sides of a step of δ."""
    d = {name: (up[name] - down[name]) / step for name in ("alpha", "beta", "mu", "dispersion")}
    alpha, beta = (up["alpha"] + down["alpha"]) / 2, (up["beta"] + down["beta"]) / 2
    b = d["beta"] / beta
    a = d["alpha"] - alpha * b
    turned = {"W": np.hypot(a, b), "Wp": np.arctan2(a, b)}
    return turned | {"dalpha": d["alpha"], "dbeta": d["beta"], "dmu": d["mu"], "ddispersion": d["dispersion"]}


def _linopt(
    ring: Ring,
    analysis: Analysis,
    refpts: Refpts,
    momentum: tuple[float | None, float | None, float | None],
    orbit: Vector,
    asked: tuple[bool, bool],
    step: float,
    name: str,
) -> tuple[Records, Records, Records]:
    machine = expect_4d(machine_of(ring), name)
    orbiting = Orbiting(machine, *momentum)
    start, orbits = find_orbit(machine, All, dp=orbiting.struct.dp, orbit=orbit)
    columns = _columns(machine, analysis, orbiting, start)
    tune, chromaticity = columns.pop("tune"), np.full(2, np.nan)
    columns |= {"closed_orbit": orbits, "s_pos": machine.lattice.get_s_pos(All)}
    if any(asked):
        delta = orbiting.struct.dp
        sides = [_columns(machine, analysis, Orbiting(machine, delta + half), None) for half in (step / 2, -step / 2)]
        chromaticity = (sides[0]["tune"] - sides[1]["tune"]) / step
        if asked[1]:
            columns |= _chromatic(sides[0], sides[1], step)
    table = _table(columns)
    first = table[:1].copy()
    first["M"], first["s_pos"] = table["M"][-1], table["s_pos"][-1]
    kind = [(field, np.float64, (2,)) for field in ("tune", "chromaticity", "damping_time")]
    summary = np.array((tune, chromaticity, [np.nan, np.nan]), dtype=kind)
    chosen = table[machine.get_uint32_index(refpts)]
    return record(first.reshape(())), record(summary), record(chosen)


ORDER = (
    *("alpha", "beta", "mu", "gamma", "A", "B", "C", "dispersion", "closed_orbit", "M", "s_pos"),
    *("W", "Wp", "dalpha", "dbeta", "dmu", "ddispersion"),
)


def _table(columns: Columns) -> NDArray[Any]:
    names = [name for name in ORDER if name in columns]
    table = np.empty(len(columns["s_pos"]), [(name, np.float64, columns[name].shape[1:]) for name in names])
    for name in names:
        table[name] = columns[name]
    return table


def linopt2(
    ring: Ring,
    refpts: Refpts = None,
    dp: float | None = None,
    *,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    get_chrom: bool = False,
    get_w: bool = False,
    DPStep: float = DP_STEP,
) -> tuple[Records, Records, Records]:
    """Linear optics as if the planes were not coupled; arguments and results as linopt6's, less R and A."""
    return _linopt(ring, _uncoupled, refpts, (dp, dct, df), orbit, (get_chrom, get_w), DPStep, "linopt2")


def linopt4(
    ring: Ring,
    refpts: Refpts = None,
    dp: float | None = None,
    *,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    get_chrom: bool = False,
    get_w: bool = False,
    DPStep: float = DP_STEP,
) -> tuple[Records, Records, Records]:
    """Linear optics of the coupled planes' normal modes; arguments and results as linopt6's, with gamma, A, B, C."""
    return _linopt(ring, _coupled, refpts, (dp, dct, df), orbit, (get_chrom, get_w), DPStep, "linopt4")
