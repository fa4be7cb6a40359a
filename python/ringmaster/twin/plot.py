# SPDX-License-Identifier: Apache-2.0
"""Curves along the ring, drawn into a PNG or SVG file by matplotlib, which nothing else needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.twin.elements import Kind
from ringmaster.twin.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
COLOURS = ("#1f5f8b", "#c1440e")
"""Of the horizontal and the vertical plane."""
MAGNETS = {
    Kind.DIPOLE: ("#d9a441", 0.6),
    Kind.QUADRUPOLE: ("#a03232", 1.0),
    Kind.SEXTUPOLE: ("#3b7d4f", 0.8),
    Kind.OCTUPOLE: ("#6a4c93", 0.8),
}
"""Colour and height in the strip that shows where the magnets are."""


def check_suffix(path: Path) -> None:
    """Raises TwinArgument for another kind of file."""
    if path.suffix.lower() not in SUFFIXES:
        raise TwinArgument(f"{path}: found suffix {path.suffix!r}, expected .png or .svg")


def draw(report: Report, path: Path) -> None:
    """Writes the file."""
    check_suffix(path)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: F401 says now whether it is there
        from matplotlib.figure import Figure
    except ImportError:
        raise TwinArgument("plots need matplotlib: install `ringmaster[plot]`, or matplotlib itself") from None
    panels = _panels(report)
    heights = [0.25, *(1.0 for _ in panels)]
    figure = Figure(figsize=(11, 1.0 + 1.9 * len(panels)), layout="constrained")
    strip, *axes = figure.subplots(len(heights), sharex=True, height_ratios=heights)
    _magnets(strip, report)
    strip.set_title(_title(report), loc="left", fontsize=10)
    for each, (label, values) in zip(axes, panels, strict=True):
        _panel(each, report.curves.s_m, label, values)
    axes[0].legend(loc="upper right", ncols=2, frameon=False)
    axes[-1].set_xlabel("s, m")
    figure.savefig(path, dpi=150)


def _title(report: Report) -> str:
    lattice = report.twin.lattice
    motion = "6D" if report.twin.is_6d else "4D"
    return f"{lattice.name or 'lattice'}, {lattice.energy / 1e9:g} GeV, {lattice.circumference:.6g} m, {motion}"


def _panels(report: Report) -> list[tuple[str, Any]]:
    c = report.curves
    panels: list[tuple[str, Any]] = [("β, m", c.beta_m), ("dispersion, m", c.dispersion_m)]
    panels.append(("closed orbit, µm", c.orbit_m * 1e6))
    if c.size_m is not None:
        panels.append(("beam size σ, µm", c.size_m * 1e6))
    return panels


def _panel(axes: "Axes", s_m: Any, label: str, values: Any) -> None:
    for plane, name in enumerate(("horizontal", "vertical")):
        axes.plot(s_m, values[:, plane], color=COLOURS[plane], linewidth=1, label=name)
    axes.set_ylabel(label)
    axes.set_xlim(s_m[0], s_m[-1])
    axes.grid(alpha=0.3)


def _magnets(axes: "Axes", report: Report) -> None:
    lattice = report.twin.lattice
    s_m = report.curves.s_m
    for kind, (colour, height) in MAGNETS.items():
        indices = lattice.find(kind=kind)
        widths = s_m[indices + 1] - s_m[indices]
        sign = np.array([_sign(lattice[int(i)]) for i in indices]) if kind == Kind.QUADRUPOLE else np.ones(len(indices))
        axes.bar(s_m[indices], height * sign, widths, bottom=0, align="edge", color=colour, linewidth=0)
    axes.axhline(0, color="#777777", linewidth=0.5)
    axes.set_ylim(-1.1, 1.1)
    axes.axis("off")


def _sign(quadrupole: Any) -> float:
    """Focusing ones stand up, others hang."""
    return 1.0 if quadrupole.K >= 0 else -1.0
