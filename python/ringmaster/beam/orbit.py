# SPDX-License-Identifier: Apache-2.0
"""The closed orbit: mean positions of all BPMs over the same turns, whatever their periods are."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.beam.bpm import OWN_RATES, bpm_streams, common_turn, position_lanes
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import Window
from ringmaster.fabric.workspace import Workspace


@dataclass(frozen=True)
class Orbit:
    """Mean positions over ``turns`` turns, in the order of the BPMs in the workspace."""

    turn: int
    """The last of these turns."""
    turns: int
    names: tuple[str, ...]
    """ "bpm01", or "bpm01.1", "bpm01.2" where one electronics serves several BPMs."""
    x: npt.NDArray[np.float64]
    """Shape (names,), in ``unit``; NaN where no record of these turns was had."""
    y: npt.NDArray[np.float64]
    unit: str

    @property
    def rms(self) -> tuple[float, float]:
        """Root mean square of x and of y over the BPMs, in ``unit``."""
        x, y = (float(np.sqrt(np.nanmean(plane**2))) for plane in (self.x, self.y))
        return x, y


def read_orbit(ws: Workspace, turns: int = 1024) -> Orbit:
    """Orbit over the newest ``turns`` turns that every BPM has; a BPM that is more than ``turns`` behind shows NaN.

    Of a BPM that does not send every turn those records go in that lie within these turns; where its period is longer
    than that, the newest one up to their end.

    Raises ValueError when no BPM has sent anything.
    """
    streams = bpm_streams(ws, *OWN_RATES)
    last = common_turn(streams, turns)
    if last is None:
        raise ValueError(f"workspace {ws.name!r}: no BPM has sent anything yet")
    turns = min(turns, last + 1)
    names: list[str] = []
    means: list[tuple[float, float]] = []
    for stream in streams:
        window = _read(stream, last - turns + 1, last)
        lanes = position_lanes(stream)
        for x, y in lanes:
            names.append(stream.instrument + (f".{x[1:]}" if len(lanes) > 1 else ""))
            means.append((_mean(window[x][window.ok]), _mean(window[y][window.ok])))
    unit = next(lane.unit for lane in streams[0].lanes if lane.name == position_lanes(streams[0])[0][0])
    columns = np.array(means).reshape(-1, 2)
    return Orbit(last, turns, tuple(names), columns[:, 0], columns[:, 1], unit)


def _read(stream: Stream, first: int, last: int) -> Window:
    """The records from turn ``first`` to ``last``, at least one."""
    end = last // stream.period * stream.period
    count = max(1, end // stream.period - (first - 1) // stream.period)
    return stream.read(end - (count - 1) * stream.period, count)


def _mean(values: npt.NDArray[np.generic]) -> float:
    return float(values.mean(dtype=np.float64)) if len(values) else float("nan")
