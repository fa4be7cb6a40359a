# SPDX-License-Identifier: Apache-2.0
"""The wanted orbit: from a file, as it is now, and with a closed bump."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.matrix import Matrix
from ringmaster.feedback.names import RowFault

Floats = NDArray[np.float64]
WANTED_WEIGHT = 100.0
"""Of the readings at which a bump is wanted, the others having 1: what is asked for comes first."""
OUT = RowFault.MASKED | RowFault.SILENT | RowFault.INVALID | RowFault.FROZEN
CUT = 1e-3
"""Singular values below this share of the largest are left out: they cost much current and do little."""


def matching(names: Sequence[str], wanted: Iterable[str]) -> list[int]:
    """Indices of the names that are meant: by the whole name, or the instrument of INSTRUMENT/LANE, or a shell pattern.

    Raises ObjectNotFound for what is none of them.
    """
    chosen: set[int] = set()
    for word in wanted:
        found = [
            i for i, name in enumerate(names) if fnmatchcase(name, word) or fnmatchcase(name.rpartition("/")[0], word)
        ]
        if not found:
            near = ", ".join(names[:3])
            raise ObjectNotFound(f"{word!r} is no BPM reading and no supply; names are such as {near}")
        chosen.update(found)
    return sorted(chosen)


def lanes_of(names: Sequence[str], wanted: Iterable[str]) -> list[int]:
    """The same, of rows alone, without what is the name of an actuator by chance."""
    return matching(names, wanted)


def current_orbit(ws: Workspace, rows: Sequence[str], rate: str, seconds: float = 1.0) -> tuple[Floats, Floats]:
    """Mean and RMS about it of each row over the newest records, nm; NaN for who sent nothing."""
    mean, rms = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    by_stream: dict[str, list[tuple[int, str]]] = {}
    for i, row in enumerate(rows):
        instrument, _, lane = row.rpartition("/")
        by_stream.setdefault(f"{instrument}/{rate}", []).append((i, lane))
    turn_rate = ws.parameters["server/turn_rate_hz"].number
    for name, lanes in by_stream.items():
        if name not in ws.streams:
            continue
        stream = ws.streams[name]
        count = max(1, min(stream.capacity // 2, int(seconds * turn_rate / stream.period)))
        window = stream.latest(count)
        for i, lane in lanes:
            values = window.values(lane)
            values = values[np.isfinite(values)]
            if len(values):
                mean[i], rms[i] = values.mean(), values.std()
    return mean, rms


def rate_of(ws: Workspace, rows: Sequence[str]) -> str:
    """Which of the streams of the rows' instruments to read: the fast one, or as it came."""
    instrument = rows[0].rpartition("/")[0]
    for rate in ("fast", "raw", "turn", "low_latency"):
        if f"{instrument}/{rate}" in ws.streams:
            return rate
    raise ObjectNotFound(
        f"no stream of {instrument!r} in workspace {ws.name!r}: are these the names of its BPMs? (Their names are in "
        f"the rows of the response matrix.)"
    )


@dataclass(frozen=True)
class Bump:
    """A closed bump, as the response matrix has it."""

    orbit_nm: Floats
    """[row] what it makes at each BPM: to be added to the golden orbit."""
    currents: Floats
    """[actuator] what it takes."""
    at: tuple[int, ...]
    """Rows where it is wanted."""

    def leak_nm(self, rows: NDArray[np.bool_]) -> tuple[float, float]:
        """RMS and largest of what the others of these rows move."""
        others = rows.copy()
        others[list(self.at)] = False
        moved = self.orbit_nm[others]
        return (float(np.sqrt(np.mean(moved**2))), float(np.abs(moved).max())) if len(moved) else (0.0, 0.0)


def closed_bump(
    matrix: Matrix, wanted_nm: dict[int, float], used: NDArray[np.bool_] | None = None, near: int = 0
) -> Bump:
    """The bump that makes ``wanted_nm`` (by row) there and nothing elsewhere, by least squares.

    ``used``: which actuators may. ``near``: rows around the wanted ones, on either side and of the same plane, that are
    free, since a bump needs room. Raises ValueError where no actuator moves these rows.
    """
    if not wanted_nm:
        raise ValueError("no bump is asked for: say how far by --x or --y")
    target = np.zeros(len(matrix.rows))
    weight = np.ones(len(matrix.rows))
    for row, value in wanted_nm.items():
        target[row] = value
        for free in _neighbours(matrix, row, near):
            weight[free] = 0.0
    for row in wanted_nm:
        weight[row] = WANTED_WEIGHT
    columns = np.ones(len(matrix.columns), np.bool_) if used is None else used
    response = matrix.values[:, columns]
    if not np.abs(response[list(wanted_nm)]).max(initial=0.0) > 0:
        raise ValueError(f"no actuator moves {matrix.rows[next(iter(wanted_nm))]}")
    size = np.sqrt(np.mean(response**2, axis=0))
    size[size == 0] = 1.0
    scaled = weight[:, None] * response / size
    u, s, vh = np.linalg.svd(scaled, full_matrices=False)
    kept = s > CUT * s[0]
    strengths = vh[kept].T @ ((u[:, kept].T @ (weight * target)) / s[kept]) / size
    currents = np.zeros(len(matrix.columns))
    currents[columns] = strengths
    return Bump(matrix.values @ currents, currents, tuple(wanted_nm))


def _neighbours(matrix: Matrix, row: int, count: int) -> list[int]:
    """Rows of the same plane, so many on either side in the order of the file, around the ring."""
    plane = matrix.rows[row].rpartition("/")[2][:1]
    same = [i for i, name in enumerate(matrix.rows) if name.rpartition("/")[2][:1] == plane]
    place = same.index(row)
    return [same[(place + step) % len(same)] for step in range(-count, count + 1)]
