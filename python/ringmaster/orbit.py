# SPDX-License-Identifier: Apache-2.0
"""The closed orbit: mean positions of all BPMs over the same turns."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.layout import InstrumentKind
from ringmaster.stream import Stream
from ringmaster.workspace import Workspace

_POSITION_LANE = re.compile(r"x(\d*)")


@dataclass(frozen=True)
class Orbit:
    """Mean positions over ``turns`` turns, in the order of the BPMs in the workspace."""

    turn: int
    """The last turn that went in."""
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


def bpm_streams(ws: Workspace, rate: str = "turn") -> list[Stream]:
    """The streams of all BPM electronics at one rate: "turn", "fast", "prompt"."""
    return [s for s in ws.streams.values() if s.instrument_kind == InstrumentKind.BPM and s.rate == rate]


def position_lanes(stream: Stream) -> list[tuple[str, str]]:
    """Pairs of lane names, x and y, one for each BPM that the electronics serves: ("x1", "y1")."""
    names = {lane.name for lane in stream.lanes}
    suffixes = [match[1] for name in (lane.name for lane in stream.lanes) if (match := _POSITION_LANE.fullmatch(name))]
    return [(f"x{suffix}", f"y{suffix}") for suffix in suffixes if f"y{suffix}" in names]


def read_orbit(ws: Workspace, turns: int = 1024) -> Orbit:
    """Orbit over the newest ``turns`` turns that every BPM has; a BPM that is more than ``turns`` behind shows NaN.

    Raises ValueError when no BPM has sent anything.
    """
    streams = [stream for stream in bpm_streams(ws) if position_lanes(stream)]
    heads = [head for stream in streams if (head := stream.head) is not None]
    if not heads:
        raise ValueError(f"workspace {ws.name!r}: no BPM has sent anything yet")
    last = min(head for head in heads if head > max(heads) - turns)
    turns = min(turns, last + 1)
    names: list[str] = []
    means: list[tuple[float, float]] = []
    for stream in streams:
        window = stream.read(last - turns + 1, turns)
        lanes = position_lanes(stream)
        for x, y in lanes:
            names.append(stream.instrument + (f".{x[1:]}" if len(lanes) > 1 else ""))
            means.append((_mean(window[x][window.ok]), _mean(window[y][window.ok])))
    unit = next(lane.unit for lane in streams[0].lanes if lane.name == position_lanes(streams[0])[0][0])
    columns = np.array(means).reshape(-1, 2)
    return Orbit(last, turns, tuple(names), columns[:, 0], columns[:, 1], unit)


def _mean(values: npt.NDArray[np.generic]) -> float:
    return float(values.mean(dtype=np.float64)) if len(values) else float("nan")
