# SPDX-License-Identifier: Apache-2.0
"""Curves along the ring, drawn into a PNG or SVG file by matplotlib, which nothing else needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Floats
from ringmaster.twin.elements import Kind
from ringmaster.twin.inside import PARTS, carried, parts, places
from ringmaster.twin.report import Curves, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
COLOURS = ("#1f5f8b", "#c1440e")
"""Of the horizontal and the vertical plane."""
PLANES = (0, 2)
"""Coordinates x and y."""
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
    s_m = places(report.curves.s_m)
    for each, (label, values) in zip(axes, panels, strict=True):
        _panel(each, s_m, label, values)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper right", ncols=2, frameon=False)
    axes[-1].set_xlabel("s, m")
    figure.savefig(path, dpi=150)


def _title(report: Report) -> str:
    lattice = report.twin.lattice
    motion = "6D" if report.twin.is_6d else "4D"
    return f"{lattice.name or 'lattice'}, {lattice.energy / 1e9:g} GeV, {lattice.circumference:.6g} m, {motion}"


def _panels(report: Report) -> list[tuple[str, Floats]]:
    """Label and values of each, at `places` of the curves."""
    c = report.curves
    to_parts = parts(c.matrices)
    beta_m = [carried(to_parts, c.modes[:, mode], plane) for mode, plane in enumerate(PLANES)]
    panels = [
        ("β, m", np.stack(beta_m, axis=1)),
        ("dispersion, m", _smooth(c, c.dispersion_m, c.dispersion_slope)),
        ("closed orbit, µm", _smooth(c, c.orbit_m, c.orbit_slope) * 1e6),
    ]
    if c.beam is not None:
        square_m2 = np.stack([carried(to_parts, c.beam, plane) for plane in PLANES], axis=1)
        panels.append(("beam size σ, µm", np.sqrt(np.maximum(square_m2, 0.0)) * 1e6))
    return panels


def _smooth(curves: Curves, values: Floats, slopes: Floats) -> Floats:
    """Third order curves from entrance to exit of each element, by values and slopes there; exact in drifts."""
    t = (np.arange(PARTS) / PARTS)[None, :, None]
    length = np.diff(curves.s_m)[:, None, None]
    y0, y1 = values[:-1, None], values[1:, None]
    d0, d1 = slopes[:-1, None] * length, slopes[1:, None] * length
    inside = y0 + t * (d0 + t * (3.0 * (y1 - y0) - 2.0 * d0 - d1 + t * (2.0 * (y0 - y1) + d0 + d1)))
    return np.vstack([inside.reshape(-1, values.shape[1]), values[-1:]])


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
        # the edge keeps short magnets of a large ring from falling between two dots of the picture
        axes.bar(
            s_m[indices], height * sign, widths, bottom=0, align="edge", color=colour, edgecolor=colour, linewidth=0.5
        )
    axes.axhline(0, color="#777777", linewidth=0.5)
    axes.set_ylim(-1.1, 1.1)
    axes.axis("off")


def _sign(quadrupole: Any) -> float:
    """Focusing ones stand up, others hang."""
    return 1.0 if quadrupole.K >= 0 else -1.0
