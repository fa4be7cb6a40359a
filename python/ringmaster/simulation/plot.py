# SPDX-License-Identifier: Apache-2.0
"""A simulation drawn into a PNG or SVG file: orbit RMS over time, and its spectrum before and after."""

from pathlib import Path

import numpy as np

from ringmaster import plots
from ringmaster.errors import SimulationError
from ringmaster.simulation.run import Simulation

COLOURS = {"x": "#1f5f8b", "y": "#c1440e"}
POINTS = 4000
"""Of a curve, at most: more are not seen."""


def draw(run: Simulation, path: Path, split_s: float) -> None:
    """Writes the file. Before is up to ``split_s``, after is from there; the spectra are of the second half of either,
    so that what begins has settled.
    """
    planes = [plane for plane in COLOURS if run.rows(plane)]
    if not planes:
        raise SimulationError(f"{run.folder}: no orbit was recorded, so there is nothing to draw")
    end_s = run.cycles / run.rate_hz
    figure = plots.figure(11, 4.0 + 2.6 * len(planes))
    over_time, *others = figure.subplots(1 + len(planes))
    step = max(1, run.cycles // POINTS)
    for plane in planes:
        over_time.plot(run.time_s[::step], run.rms_um(plane)[::step], color=COLOURS[plane], label=plane, lw=0.8)
    over_time.axvline(split_s, color="0.5", lw=0.8, ls=":")
    over_time.set(xlabel="time, s", ylabel="orbit RMS, µm", yscale="log")
    over_time.legend(frameon=False, ncols=2)
    over_time.set_title(f"{run.summary['application']}, {run.rate_hz:.6g} Hz", loc="left", fontsize=10)
    for axes, plane in zip(others, planes, strict=True):
        orbit = run.orbit(plane)
        stretches = {"before": (split_s / 2, split_s), "after": ((split_s + end_s) / 2, end_s)}
        for name, (since, until) in stretches.items():
            if until - since < 32 / run.rate_hz:
                continue
            found = run.spectrum(orbit, since, until)
            mean = np.sqrt(np.mean(found.density**2, axis=1))
            colour = COLOURS[plane] if name == "after" else "0.6"
            axes.loglog(found.hz[1:], mean[1:], color=colour, lw=0.9, label=f"{plane} {name}")
        axes.set(xlabel="frequency, Hz", ylabel="nm/√Hz")
        axes.grid(alpha=0.25, which="both")
        axes.legend(frameon=False)
    plots.save(figure, path)
