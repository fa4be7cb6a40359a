# SPDX-License-Identifier: Apache-2.0
"""The betatron tune from turn-by-turn positions."""

import numpy as np
import numpy.typing as npt

from ringmaster.beam.bpm import bpm_streams, common_turn, position_lanes
from ringmaster.fabric.workspace import Workspace
from ringmaster.spectra.density import piece_density

Signal = npt.NDArray[np.floating] | npt.NDArray[np.integer]


TUNE_TURNS = 8192
TUNE_BPMS = 8
"""So many BPMs suffice to tell a line from noise."""


def read_tunes(ws: Workspace, turns: int = TUNE_TURNS) -> tuple[float, float]:
    """Fractional tunes, x and y, in 1 / turn, from the newest ``turns`` turns of the first BPMs.

    BPMs that do not send every turn have no part in it. Raises ValueError where there are no others, and while there
    are fewer turns than that.
    """
    streams = bpm_streams(ws, "turn")
    if not streams:
        raise ValueError(f"workspace {ws.name!r}: no turn-by-turn BPMs; a tune needs a BPM that sends every turn")
    last = common_turn(streams, turns)
    if last is None or last < turns:
        raise ValueError(f"workspace {ws.name!r}: {turns} turns of beam positions are not there yet")
    x_signals: list[Signal] = []
    y_signals: list[Signal] = []
    for stream in streams[:TUNE_BPMS]:
        window = stream.read(last - turns + 1, turns)
        if window.ok.mean() > 0.5:
            x, y = position_lanes(stream)[0]
            x_signals.append(window.values(x))
            y_signals.append(window.values(y))
    return find_tune(*x_signals), find_tune(*y_signals)


def spectrum(signal: Signal) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Frequency in units of the revolution frequency (0–0.5) and amplitude in the signal's unit; shapes (n//2 + 1,).

    The mean is removed and a Hann window applied; a sine of amplitude a on a bin's centre shows as a. The first and the
    last bin are 0. NaN are missing turns, which have no part in it (ringmaster.spectra.density). Raises ValueError
    where fewer than half of the turns are there.
    """
    values = np.asarray(signal, dtype=np.float64)
    found = piece_density(values, 1.0, "hann")
    if found is None:
        there = int(np.isfinite(values).sum())
        raise ValueError(f"{there} of {len(values)} turns have a value; a spectrum takes half of them")
    density, bandwidth = found
    amplitude = np.zeros(len(values) // 2 + 1)
    amplitude[1 : len(density) + 1] = np.sqrt(2 * bandwidth * density)
    return np.arange(len(amplitude)) / len(values), amplitude


def find_tune(*signals: Signal, low: float = 0.02, high: float = 0.5) -> float:
    """Fractional tune: where the common power of ``signals`` peaks between ``low`` and ``high``, in 1 / turn.

    Each signal is one value per turn, shape (n,), n ≥ 16, equal for all: several BPMs of one plane make a weak line
    stand out. NaN are missing turns. Interpolated between bins: right to some 1e-6 for a clean line of 8192 turns, and
    to some hundredths of 1/n in noise.
    """
    if not signals or len(signals[0]) < 16:
        raise ValueError("a tune needs signals of at least 16 turns")
    power = np.sum([spectrum(signal)[1] ** 2 for signal in signals], axis=0)
    count = len(signals[0])
    first, last = int(np.ceil(low * count)), min(int(high * count), len(power) - 1)
    first = max(first, 1)
    if first > last:
        raise ValueError(f"no bin of {count} turns lies between {low} and {high}")
    peak = first + int(np.argmax(power[first : last + 1]))
    return (peak + _offset(power, peak)) / count


def _offset(power: npt.NDArray[np.float64], peak: int) -> float:
    """Distance of a line from its highest bin, -0.5 to 0.5 bins: exact for one line under a Hann window."""
    if not 0 < peak < len(power) - 1 or power[peak] == 0:
        return 0.0
    left, centre, right = np.sqrt(power[peak - 1 : peak + 2])
    side, sign = (right, 1) if right >= left else (left, -1)
    ratio = float(side / centre)
    return sign * min(0.5, max(-0.5, (2 * ratio - 1) / (1 + ratio)))
