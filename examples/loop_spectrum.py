# SPDX-License-Identifier: Apache-2.0
"""How the orbit of a simulated loop moves before and after it was closed: loop_spectrum.py FOLDER CLOSED_AT_S."""

import sys

import numpy as np

from ringmaster.console.feedback import BPMS, LINES_HZ, RECORDS, Motion, decibel, power_of
from ringmaster.simulate import Simulation

BANDS_HZ = (10, 100, 300, 1000, 1e9)


def motion(run: Simulation, end: int) -> Motion:
    """Over the records before cycle ``end``."""
    orbits = [run.orbit(plane)[end - RECORDS : end] * 1e-3 for plane in "xy"]
    x, y = (np.mean([power_of(bpm) for bpm in orbit.T[:: orbit.shape[1] // BPMS]], axis=0) for orbit in orbits)
    return Motion(np.arange(1, RECORDS // 2 + 1) * run.rate_hz / RECORDS, x, y)


def main() -> None:
    """Prints bands and lines of both planes."""
    run = Simulation.load(sys.argv[1])
    before, after = motion(run, int(float(sys.argv[2]) * run.rate_hz)), motion(run, run.cycles)
    for plane in "xy":
        for hz in BANDS_HZ:
            pair = before.rms_um(plane, hz), after.rms_um(plane, hz)
            print(f"{plane}  below {hz:6g} Hz  {pair[0]:8.3f}  {pair[1]:8.3f} µm  {decibel(*pair):5.1f} dB")
        for hz in LINES_HZ:
            pair = before.line_um(plane, hz), after.line_um(plane, hz)
            print(f"{plane}  line  {hz:6g} Hz  {pair[0]:8.3f}  {pair[1]:8.3f} µm  {decibel(*pair):5.1f} dB")


if __name__ == "__main__":
    main()
