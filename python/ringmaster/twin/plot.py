# SPDX-License-Identifier: Apache-2.0
"""Curves along the ring, drawn into a PNG or SVG file by matplotlib, which nothing else needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmaster import plots
from ringmaster.twin._library import Floats
from ringmaster.twin.elements import Kind
from ringmaster.twin.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#1f5f8b", "#c1440e")
"""Of the horizontal and the vertical plane."""
INSIDE = 8
"""Points drawn for each element."""
SMALL = 1e-4
"""Of a phase advance squared: below, series are nearer than differences."""
MAGNETS = {
    Kind.DIPOLE: ("#d9a441", 0.6),
    Kind.QUADRUPOLE: ("#a03232", 1.0),
    Kind.SEXTUPOLE: ("#3b7d4f", 0.8),
    Kind.OCTUPOLE: ("#6a4c93", 0.8),
}
"""Colour and height in the strip that shows where the magnets are."""


def draw(report: Report, path: Path) -> None:
    """Writes the file."""
    panels = _panels(report)
    heights = [0.25, *(1.0 for _ in panels)]
    figure = plots.figure(11, 1.0 + 1.9 * len(panels))
    strip, *axes = figure.subplots(len(heights), sharex=True, height_ratios=heights)
    _magnets(strip, report)
    strip.set_title(_title(report), loc="left", fontsize=10)
    for each, (label, s_m, values) in zip(axes, panels, strict=True):
        _panel(each, s_m, label, values)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper right", ncols=2, frameon=False)
    axes[-1].set_xlabel("s, m")
    plots.save(figure, path)


def _title(report: Report) -> str:
    lattice = report.twin.lattice
    motion = "6D" if report.twin.is_6d else "4D"
    return f"{lattice.name or 'lattice'}, {lattice.energy / 1e9:g} GeV, {lattice.circumference:.6g} m, {motion}"


def _panels(report: Report) -> list[tuple[str, Floats, Floats]]:
    """Label, places and values of each."""
    c = report.curves
    k = _focusing(report)
    panels = [
        ("β, m", *smooth(c.s_m, c.beta_m, -2.0 * c.alpha, 4.0 * k)),
        ("dispersion, m", *smooth(c.s_m, c.dispersion_m, c.dispersion_slope, k)),
        ("closed orbit, µm", *smooth(c.s_m, c.orbit_m * 1e6, c.orbit_slope * 1e6, k)),
    ]
    if c.square_size_m2 is not None and c.square_size_slope_m is not None:
        s_m, square = smooth(c.s_m, c.square_size_m2, c.square_size_slope_m, 4.0 * k)
        panels.append(("beam size σ, µm", s_m, np.sqrt(np.maximum(square, 0.0)) * 1e6))
    return panels


def _focusing(report: Report) -> Floats:
    """K of each element in both planes, 1/m²."""
    lattice = report.twin.lattice
    k = np.zeros((len(lattice), 2))
    for kind in (Kind.DIPOLE, Kind.QUADRUPOLE, Kind.MULTIPOLE):
        for i in lattice.find(kind=kind):
            element = lattice[int(i)]
            gradient = element.PolynomB[1] if len(element.PolynomB) > 1 else 0.0
            curvature = getattr(element, "BendingAngle", 0.0) / element.Length if element.Length > 0.0 else 0.0
            k[i] = gradient + curvature**2, -gradient
    return k


def smooth(s_m: Floats, values: Floats, slopes: Floats, k: Floats) -> tuple[Floats, Floats]:
    """Curves within each element that meet values and slopes at its ends: a + b s + c cos √k s + d sin √k s.

    Where an element focuses by K alone, that is what trajectories and dispersion do with k = K, β and squares of sizes
    with k = 4 K; in a drift it is a cubic. A cubic through a strong magnet would miss the waist of β.
    """
    t = np.linspace(0.0, 1.0, INSIDE, endpoint=False)[:, None, None]
    length = np.diff(s_m)[:, None]
    first, second = _bent(t * length, k)
    (first_end, second_end), (first_slope, second_slope) = _bent(length, k), _bent_slopes(length, k)
    rise = values[1:] - values[:-1] - slopes[:-1] * length
    turn = slopes[1:] - slopes[:-1]
    det = np.where(length > 0.0, first_end * second_slope - second_end * first_slope, 1.0)
    b = np.where(length > 0.0, (rise * second_slope - turn * second_end) / det, 0.0)
    c = np.where(length > 0.0, (turn * first_end - rise * first_slope) / det, 0.0)
    curve = (values[:-1] + slopes[:-1] * t * length + b * first + c * second).swapaxes(0, 1)
    places = (s_m[:-1, None] + t[:, 0, 0] * length).ravel()
    return np.append(places, s_m[-1]), np.vstack([curve.reshape(-1, values.shape[1]), values[-1:]])


def _cos_sin(s: Floats, k: Floats) -> tuple[Floats, Floats]:
    """Cos √k s and sin √k s / √k, of any sign of k."""
    root = np.sqrt(k.astype(np.complex128))
    sine = np.where(root == 0.0, s, np.sin(root * s) / np.where(root == 0.0, 1.0, root))
    return np.cos(root * s).real, sine.real


def _bent(s: Floats, k: Floats) -> tuple[Floats, Floats]:
    """(1 - cos √k s) / k and (s - sin √k s / √k) / k: s²/2 and s³/6 where k is small."""
    cosine, sine = _cos_sin(s, k)
    small = np.abs(k) * s**2 < SMALL
    by = np.where(k == 0.0, 1.0, k)
    return (
        np.where(small, s**2 / 2.0 - k * s**4 / 24.0, (1.0 - cosine) / by),
        np.where(small, s**3 / 6.0 - k * s**5 / 120.0, (s - sine) / by),
    )


def _bent_slopes(s: Floats, k: Floats) -> tuple[Floats, Floats]:
    """Derivatives of both by s."""
    return _cos_sin(s, k)[1], _bent(s, k)[0]


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
        axes.bar(
            s_m[indices], height * sign, widths, bottom=0, align="edge", color=colour, edgecolor=colour, linewidth=0.5
        )
    axes.axhline(0, color="#777777", linewidth=0.5)
    axes.set_ylim(-1.1, 1.1)
    axes.axis("off")


def _sign(quadrupole: Any) -> float:
    """Focusing ones stand up, others hang."""
    return 1.0 if quadrupole.K >= 0 else -1.0
