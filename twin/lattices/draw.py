# SPDX-License-Identifier: Apache-2.0
"""Draw one achromat of the ring, β and dispersion and magnets, as its recipe makes it.

`python3 twin/lattices/draw.py` writes docs/ring/achromat.svg and prints the peaks; it needs matplotlib.
"""

from __future__ import annotations

import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from elettra2_like import LONG_STRAIGHT_BETAS_M, Families, Rays, design, walk

PLOT = Path(__file__).resolve().parents[2] / "docs/ring/achromat.svg"
POINTS_APART_M = 0.1  # enough for the eye, and a small file
MAGNETS = {  # first letters of families: what they are, the colour, and from where to where they are drawn
    "B": ("dipole", "#d9a441", (-0.6, 0.6)),
    "RB": ("reverse bend", "#c1440e", (0, 1)),
    "QF": ("quadrupole", "#a03232", (0, 1)),
    "QD": ("quadrupole", "#a03232", (-1, 0)),
    "S": ("sextupole", "#3b7d4f", (-0.35, 0.35)),
}


@dataclass(frozen=True)
class HalfAchromat:
    """Optics from the middle of a long straight to that of the next short one, and where each magnet is (name, s)."""

    s_m: Rays
    betas_m: tuple[Rays, Rays]
    dispersion_m: Rays
    magnets: list[tuple[str, float, float]]


def half_achromat(families: Families) -> HalfAchromat:
    """By matrices from the long straight, where α and dispersion are 0."""
    step = 1e-6
    rays = step * np.hstack([np.eye(5), -np.eye(5)])
    s_m, matrices, magnets = [0.0], [np.eye(5)], [("", 0.0, 0.0)]
    for name, length_m in walk(families, rays):
        end_m = s_m[-1] + length_m
        last, start_m, _ = magnets[-1]
        magnets[-1 if name == last else len(magnets) :] = [(name, start_m if name == last else s_m[-1], end_m)]
        s_m.append(end_m)
        matrices.append((rays[:, :5] - rays[:, 5:]) / (2 * step))
    m = np.array(matrices)
    pairs = zip((0, 2), LONG_STRAIGHT_BETAS_M, strict=True)
    horizontal, vertical = (m[:, i, i] ** 2 * beta + m[:, i, i + 1] ** 2 / beta for i, beta in pairs)
    return HalfAchromat(np.array(s_m), (horizontal, vertical), m[:, 0, 4], [each for each in magnets if each[0]])


def kept(s_m: Rays) -> list[int]:
    """Indices of points far enough apart, and the last."""
    indices = [0]
    for i, s in enumerate(s_m):
        if s - s_m[indices[-1]] >= POINTS_APART_M:
            indices.append(i)
    return [*indices, len(s_m) - 1]


def draw_magnets(axes: Any, half: HalfAchromat) -> None:
    """A strip of boxes: focusing quadrupoles stand, defocusing ones hang."""
    end_m = half.s_m[-1]
    for name, start, stop in half.magnets:
        kind, colour, (low, high) = MAGNETS[max((k for k in MAGNETS if name.startswith(k)), key=len)]
        label = kind if kind not in axes.get_legend_handles_labels()[1] else None
        starts = [start, 2 * end_m - stop]
        axes.bar(starts, high - low, stop - start, low, align="edge", color=colour, linewidth=0, label=label)
    axes.axhline(0, color="#777777", linewidth=0.5)
    axes.axis("off")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)


def main() -> int:
    """Draws it. Returns the exit status."""
    import matplotlib  # type: ignore[import-untyped,import-not-found,unused-ignore]  # only to draw

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "ringmaster", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot  # type: ignore[import-untyped,import-not-found,unused-ignore]

    half = half_achromat(design())
    peaks_m = [values.max() for values in (*half.betas_m, half.dispersion_m)]
    print("at most: β {:.1f} and {:.1f} m, dispersion {:.4f} m".format(*peaks_m))
    points = kept(half.s_m)
    s_m = np.concatenate([half.s_m[points], 2 * half.s_m[-1] - half.s_m[points][::-1]])

    def mirrored(values: Rays) -> Rays:
        return np.concatenate([values[points], values[points][::-1]])

    figure, (strip, axes) = pyplot.subplots(
        2, figsize=(8, 3.6), sharex=True, height_ratios=(0.16, 1), layout="constrained"
    )
    draw_magnets(strip, half)
    for values, colour, name in zip(half.betas_m, ("#1f5f8b", "#c1440e"), ("horizontal", "vertical"), strict=True):
        axes.plot(s_m, mirrored(values), color=colour, linewidth=1.2, label=f"{name} β")
    axes.plot([], [], color="#3b7d4f", linestyle="--", linewidth=1.2, label="dispersion")
    axes.set(xlim=(0, s_m[-1]), ylim=(0, 30), xlabel="s from the middle of a long straight, m", ylabel="β, m")
    right = axes.twinx()
    right.plot(s_m, 1e3 * mirrored(half.dispersion_m), color="#3b7d4f", linestyle="--", linewidth=1.2)
    right.set(ylim=(0, 100), ylabel="dispersion, mm")
    axes.legend(loc="upper center", ncols=3, frameon=False)
    axes.grid(alpha=0.3)
    PLOT.parent.mkdir(exist_ok=True)
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    PLOT.write_text(re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", drawn.getvalue()))  # small
    return 0


if __name__ == "__main__":
    sys.exit(main())
