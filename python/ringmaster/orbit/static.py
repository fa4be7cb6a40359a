# SPDX-License-Identifier: Apache-2.0
"""An orbit of a workspace against its target, and the change that takes it there."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import Matrix, row_plane
from ringmaster.feedback.readings import Readings, mean_of_records
from ringmaster.moving.change import Change, load, propose
from ringmaster.moving.place import Places
from ringmaster.moving.stopping import Pause
from ringmaster.orbit.solve import Problem, Regularisation, Solution, solve
from ringmaster.response.measured import MeasuredResponse

Floats = NDArray[np.float64]
_GOLDEN = re.compile(r"(?P<name>.+)/golden\[(?P<index>\d+)\]")


@dataclass(frozen=True)
class Orbit:
    """As it is, and as it should be."""

    rows: tuple[str, ...]
    measured_nm: Floats
    """NaN: nothing came."""
    noise_nm: Floats
    """RMS of one reading about the mean."""
    target_nm: Floats
    """NaN: none is wanted there."""

    @property
    def error_nm(self) -> Floats:
        """What is to be taken away."""
        return np.asarray(self.measured_nm - self.target_nm)


@dataclass(frozen=True)
class Correction:
    """What would correct it."""

    orbit: Orbit
    supplies: tuple[str, ...]
    units: tuple[str, ...]
    solution: Solution
    left_out: Mapping[str, int]
    """How many supplies of the response are not used, by why."""
    gain: float
    """Share of it that is applied."""

    @property
    def values(self) -> dict[str, float]:
        """Differences, by supply."""
        return dict(zip(self.supplies, (self.gain * self.solution.change).tolist(), strict=True))

    @property
    def left_nm(self) -> Floats:
        """The error that the response predicts then."""
        return np.asarray(self.orbit.error_nm + self.gain * (self.solution.left - self.orbit.error_nm))


def rms(values: Floats, rows: Sequence[str], plane: str) -> float:
    """Of one plane's rows; NaN where none is known."""
    chosen = values[[row_plane(row) == plane for row in rows]]
    chosen = chosen[np.isfinite(chosen)]
    return float(np.sqrt(np.mean(chosen**2))) if len(chosen) else float("nan")


def golden_of(ws: Workspace, path: Path, rows: Sequence[str]) -> Floats:
    """A target from a change of a feedback's golden orbit, as `ringmaster bba correct` writes it; NaN elsewhere.

    Raises ValueError where it has no such moves, FeedbackAbsent where that feedback does not run to name its rows.
    """
    target = np.full(len(rows), np.nan)
    at = {row: i for i, row in enumerate(rows)}
    moves = [(_GOLDEN.fullmatch(move.name), move.after) for move in load(path).moves]
    applications = {found["name"] for found, _ in moves if found}
    if not applications:
        raise ValueError(f"{path}: no move of a golden orbit in it, such as feedback/golden[3]")
    of_rows = {name: Feedback(ws, name).need_matrix().rows for name in applications}
    for found, value in moves:
        if found and (row := of_rows[found["name"]][int(found["index"])]) in at:
            target[at[row]] = value
    return target


def measure(
    ws: Workspace,
    rows: Sequence[str],
    rate: str,
    seconds: float,
    target_nm: Floats | None = None,
    pause: Pause = sleep,
    settle_s: float = 0.0,
) -> Orbit:
    """Mean readings over so many seconds from now, of those streams."""
    readings = Readings(ws, rows, rate, pause)
    _, values = readings.take(seconds, settle_s)
    mean = mean_of_records(values)
    noise = np.sqrt(mean_of_records(np.square(values - mean[:, None])))
    target = np.zeros(len(rows)) if target_nm is None else target_nm
    return Orbit(tuple(rows), mean, noise, target)


def matrix_of(response: MeasuredResponse, rf: tuple[str, float] | None) -> Matrix:
    """A measured response as a matrix, with the RF's column from the dispersion: its supply, and Hz per its unit.

    Columns that were not measured are left out; rows that miss one of the others, too.
    """
    columns, values = list(response.columns), response.values
    if rf is not None and rf[0] not in columns and np.isfinite(response.dispersion).any():
        columns.append(rf[0])
        values = np.column_stack([values, response.dispersion * rf[1]])
    measured = np.flatnonzero(np.isfinite(values).any(axis=0))
    whole = np.flatnonzero(np.isfinite(values[:, measured]).all(axis=1))
    names = tuple(columns[i] for i in measured)
    rows = tuple(response.rows[i] for i in whole)
    if not rows or not names:
        raise ValueError("the measured response has no row of which every supply was measured")
    return Matrix(rows, names, values[np.ix_(whole, measured)], rf[0] if rf is not None and rf[0] in names else None)


def rf_of(given: Mapping[str, Any], named: str | None) -> tuple[str, float] | None:
    """The RF's supply and its Hz per unit: of a mapping's file, or the one that is named, in Hz."""
    rf = given.get("rf")
    if rf is not None and named in (None, rf["actuator"]):
        return str(rf["actuator"]), float(rf.get("hz_per_unit", 1))
    return None if named is None else (named, 1.0)


def correct(
    ws: Workspace,
    matrix: Matrix,
    orbit: Orbit,
    how: Regularisation,
    supplies: Sequence[str] = (),
    gain: float = 1.0,
) -> Correction:
    """By all supplies of the matrix that may be moved, or those that match the patterns; within their limits."""
    if orbit.rows != matrix.rows:
        raise ValueError("the orbit has other rows than the response")
    used, left_out = _choose(ws, matrix.columns, supplies)
    at = [matrix.columns.index(name) for name in used]
    places = Places(ws)
    low, high, units = [], [], []
    for name in used:
        setpoint, stands = ws.supplies[name].setpoint, places.of(name).stands(ws)
        limits = setpoint.limits
        low.append(-np.inf if limits.control_low is None else min(0.0, limits.control_low - stands))
        high.append(np.inf if limits.control_high is None else max(0.0, limits.control_high - stands))
        units.append(setpoint.unit)
    rf = used.index(matrix.rf) if matrix.rf is not None and matrix.rf in used else None
    problem = Problem(matrix.values[:, at], orbit.error_nm, np.array(low), np.array(high), rf)
    return Correction(orbit, tuple(used), tuple(units), solve(problem, how), left_out, gain)


def _choose(ws: Workspace, columns: Sequence[str], patterns: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """Supplies to use; and how many not, by why."""
    places, used = Places(ws), []
    left_out: dict[str, int] = {}
    wanted = [name for name in columns if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not wanted:
        raise ObjectNotFound(f"no supply of the response matches {' '.join(patterns)}; the first is {columns[0]}")
    for name in wanted:
        if name not in ws.supplies:
            why = "not in this workspace"
        else:
            try:
                places.of(name)
                used.append(name)
                continue
            except ValueError:
                why = ws.supplies[name].setpoint.description.rpartition(", ")[2]
        left_out[why] = left_out.get(why, 0) + 1
    if not used:
        raise ObjectNotFound(f"none of the {len(wanted)} supplies of the response may be moved: {'; '.join(left_out)}")
    return used, left_out


def change_of(ws: Workspace, found: Correction, title: str, made_by: str) -> Change:
    """As a file keeps it. What moves by less than its setpoint's rounding is left out."""
    values = {name: value for name, value in found.values.items() if abs(value) > 0}
    return propose(ws, title, made_by, values, relative=True)
