# SPDX-License-Identifier: Apache-2.0
"""A simulation drawn into a PNG or SVG file: orbit RMS over time, and its spectrum before and after."""

from pathlib import Path

import numpy as np

from ringmaster.errors import SimulationError
from ringmaster.simulation.run import Simulation

SUFFIXES = (".png", ".svg")
COLOURS = {"x": "#1f5f8b", "y": "#c1440e"}
POINTS = 4000
"""Of a curve, at most: more are not seen."""


def check_suffix(path: Path) -> None:
    """Raises SimulationError for another kind of file."""
    if path.suffix.lower() not in SUFFIXES:
        raise SimulationError(f"{path}: found suffix {path.suffix!r}, expected .png or .svg")


def draw(run: Simulation, path: Path, split_s: float) -> None:
    """Writes the file. Before is up to ``split_s``, after is from there; the spectra are of the second half of either,
    so that what begins has settled.
    """
    check_suffix(path)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: F401 says now whether it is there
        from matplotlib.figure import Figure
    except ImportError:
        raise SimulationError("plots need matplotlib: install `ringmaster[plot]`, or matplotlib itself") from None
    planes = [plane for plane in COLOURS if run.rows(plane)]
    if not planes:
        raise SimulationError(f"{run.folder}: no orbit was recorded, so there is nothing to draw")
    end_s = run.cycles / run.rate_hz
    figure = Figure(figsize=(11, 4.0 + 2.6 * len(planes)), layout="constrained")
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
    figure.savefig(path, dpi=150)
