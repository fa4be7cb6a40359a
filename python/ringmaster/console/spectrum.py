# SPDX-License-Identifier: Apache-2.0
"""The spectrum of the beam's motion in both planes, with its lines marked."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringmaster.beam.bpm import bpm_streams, common_turn, position_lanes
from ringmaster.beam.tune import TUNE_BPMS, TUNE_TURNS, find_tune, spectrum
from ringmaster.fabric.workspace import Workspace

PEAKS = 3
LOWEST = 0.02
"""Below are the slow motions of the orbit, not its tune."""
NEIGHBOURS = 24
"""Bins on each side that belong to a line's foot."""
ABOVE_NOISE = 4.0
"""A line stands so many times above the median amplitude."""


class Peak(NamedTuple):
    """One line."""

    tune: float
    """Fractional, in 1 / turn."""
    amplitude: float
    """In the unit of the plane."""


@dataclass(frozen=True)
class Plane:
    """The spectrum of one plane: root mean square over the BPMs of the amplitudes of a turn-by-turn signal."""

    amplitude: npt.NDArray[np.float64]
    """Shape (turns // 2 + 1,): from 0 to half the revolution frequency."""
    tune: float
    """The highest line's frequency, between bins."""
    peaks: tuple[Peak, ...]
    """Highest first."""


@dataclass(frozen=True)
class BeamSpectrum:
    """Both planes, over the same turns."""

    turn: int
    """The last turn that went in."""
    turns: int
    bpms: int
    """How many signals went in for each plane."""
    unit: str
    x: Plane
    y: Plane


def read_spectrum(ws: Workspace, turns: int = TUNE_TURNS) -> BeamSpectrum | None:
    """Of the newest ``turns`` turns of the first turn-by-turn BPMs; None while they are not there."""
    streams = [stream for stream in bpm_streams(ws, "turn") if stream.capacity - stream.margin >= turns]
    last = common_turn(streams, turns)
    if last is None or last < turns:
        return None
    signals: dict[str, list[npt.NDArray[np.float64]]] = {"x": [], "y": []}
    for stream in streams[:TUNE_BPMS]:
        window = stream.read(last - turns + 1, turns)
        if window.ok.mean() > 0.5:
            for plane, lane in zip("xy", position_lanes(stream)[0], strict=True):
                signals[plane].append(window.values(lane))
    if not signals["x"]:
        return None
    unit = next(lane.unit for lane in streams[0].lanes if lane.name == position_lanes(streams[0])[0][0])
    return BeamSpectrum(last, turns, len(signals["x"]), unit, _plane(signals["x"]), _plane(signals["y"]))


def _plane(signals: list[npt.NDArray[np.float64]]) -> Plane:
    power = np.mean([spectrum(signal)[1] ** 2 for signal in signals], axis=0)
    amplitude = np.sqrt(power)
    return Plane(amplitude, find_tune(*signals), find_peaks(amplitude))


def find_peaks(amplitude: npt.NDArray[np.float64], peaks: int = PEAKS) -> tuple[Peak, ...]:
    """The highest lines that stand above the noise, each at least ``NEIGHBOURS`` bins from a higher one."""
    count = 2 * (len(amplitude) - 1)
    rest = amplitude.copy()
    rest[: int(LOWEST * count)] = 0.0
    floor = ABOVE_NOISE * float(np.median(amplitude))
    found: list[Peak] = []
    while len(found) < peaks:
        top = int(np.argmax(rest))
        if rest[top] <= floor:
            break
        found.append(Peak(top / count, float(rest[top])))
        rest[max(0, top - NEIGHBOURS) : top + NEIGHBOURS + 1] = 0.0
    return tuple(found)


def folded(amplitude: npt.NDArray[np.float64], points: int) -> npt.NDArray[np.float64]:
    """The spectrum in ``points`` points, each the largest of its bins, so that no line is missed."""
    edges = np.linspace(0, len(amplitude), points, endpoint=False).astype(np.intp)
    folded_: npt.NDArray[np.float64] = np.maximum.reduceat(amplitude, edges)
    return folded_
