# SPDX-License-Identifier: Apache-2.0
"""How the orbit of a simulated loop moves before and after it was closed.

FOLDER is what `ringmaster simulate --out FOLDER --at CLOSED_AT:feedback/loop=1` left.
"""

import argparse
import sys

import numpy as np

from ringmaster.errors import SimulationError
from ringmaster.monitor.feedback import BPMS, LINES_HZ, RECORDS, Motion, decibel, power_of
from ringmaster.simulation import Simulation

BANDS_HZ = (10, 100, 300, 1000, 1e9)
LEAST = 512
"""Cycles that a spectrum needs."""


def motion(run: Simulation, begin: int, end: int) -> Motion:
    """Over the newest cycles from ``begin`` to ``end``, RECORDS of them where there are so many."""
    count = min(RECORDS, end - begin) // 2 * 2
    if count < LEAST:
        raise SimulationError(
            f"{run.folder}: cycles {begin} to {end} are too few for a spectrum, expected {LEAST} at least; the run has "
            f"{run.cycles}, {run.cycles / run.rate_hz:g} s"
        )
    orbits = [run.orbit(plane)[end - count : end] * 1e-3 for plane in "xy"]
    x, y = (np.mean([power_of(bpm) for bpm in orbit.T[:: max(1, orbit.shape[1] // BPMS)]], axis=0) for orbit in orbits)
    return Motion(np.arange(1, count // 2 + 1) * run.rate_hz / count, x, y)


def print_table(folder: str, closed_at_s: float) -> None:
    """Bands and lines of both planes: before, after, and by how much they are less."""
    run = Simulation.load(folder)
    closed = int(closed_at_s * run.rate_hz)
    before, after = motion(run, 0, closed), motion(run, closed, run.cycles)
    for plane in "xy":
        for hz in BANDS_HZ:
            pair = before.rms_um(plane, hz), after.rms_um(plane, hz)
            print(f"{plane}  below {hz:6g} Hz  {pair[0]:8.3f}  {pair[1]:8.3f} µm  {decibel(*pair):5.1f} dB")
        for hz in LINES_HZ:
            pair = before.line_um(plane, hz), after.line_um(plane, hz)
            print(f"{plane}  line  {hz:6g} Hz  {pair[0]:8.3f}  {pair[1]:8.3f} µm  {decibel(*pair):5.1f} dB")


def main() -> None:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of the simulation, such as run")
    parser.add_argument(
        "closed_at", type=float, help="seconds from its beginning to the closing of the loop, such as 0.5"
    )
    asked = parser.parse_args()
    try:
        print_table(asked.folder, asked.closed_at)
    except SimulationError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
