# SPDX-License-Identifier: Apache-2.0
"""Curves along the ring, drawn into a PNG or SVG file by matplotlib, which nothing else needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Floats
from ringmaster.twin.elements import Kind
from ringmaster.twin.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
COLOURS = ("#1f5f8b", "#c1440e")
"""Of the horizontal and the vertical plane."""
INSIDE = 8
"""Points drawn for each element."""
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
    for each, (label, s_m, values) in zip(axes, panels, strict=True):
        _panel(each, s_m, label, values)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper right", ncols=2, frameon=False)
    axes[-1].set_xlabel("s, m")
    figure.savefig(path, dpi=150)


def _title(report: Report) -> str:
    lattice = report.twin.lattice
    motion = "6D" if report.twin.is_6d else "4D"
    return f"{lattice.name or 'lattice'}, {lattice.energy / 1e9:g} GeV, {lattice.circumference:.6g} m, {motion}"


def _panels(report: Report) -> list[tuple[str, Floats, Floats]]:
    """Label, places and values of each."""
    c = report.curves
    panels = [
        ("β, m", *_smooth(c.s_m, c.beta_m, -2.0 * c.alpha)),
        ("dispersion, m", *_smooth(c.s_m, c.dispersion_m, c.dispersion_slope)),
        ("closed orbit, µm", *_smooth(c.s_m, c.orbit_m * 1e6, c.orbit_slope * 1e6)),
    ]
    if c.square_size_m2 is not None and c.square_size_slope_m is not None:
        s_m, square = _smooth(c.s_m, c.square_size_m2, c.square_size_slope_m)
        panels.append(("beam size σ, µm", s_m, np.sqrt(np.maximum(square, 0.0)) * 1e6))
    return panels


def _smooth(s_m: Floats, values: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """Third order curves from entrance to exit of each element, by values and slopes there; exact in drifts."""
    t = np.linspace(0.0, 1.0, INSIDE, endpoint=False)[None, :, None]
    length = np.diff(s_m)[:, None, None]
    y0, y1 = values[:-1, None], values[1:, None]
    d0, d1 = slopes[:-1, None] * length, slopes[1:, None] * length
    curve = y0 + t * (d0 + t * (3.0 * (y1 - y0) - 2.0 * d0 - d1 + t * (2.0 * (y0 - y1) + d0 + d1)))
    places = (s_m[:-1, None] + t[0, :, 0] * length[:, :, 0]).ravel()
    return np.append(places, s_m[-1]), np.vstack([curve.reshape(-1, values.shape[1]), values[-1:]])


def _panel(axes: "Axes", s_m: Floats, label: str, values: Floats) -> None:
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
