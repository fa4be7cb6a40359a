# SPDX-License-Identifier: Apache-2.0
"""What was measured, drawn into a file."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.tune.chromaticity import Chromaticity
from ringmaster.tune.coupling import Coupling
from ringmaster.tune.damping import Damping
from ringmaster.tune.model import Expected
from ringmaster.tune.synchrotron import SynchrotronLine

Floats = NDArray[np.float64]

BINS = 24
"""Of a period."""


def draw_chromaticity(found: Chromaticity, path: Path) -> None:
    """Both tunes over the phase of the modulation: means of bins, and the sine that was found."""
    made = plots.figure(9, 6)
    panels = made.subplots(2, sharex=True)
    fine = np.linspace(0, 1, 200)
    for plane, name in enumerate("xy"):
        axes, shift = panels[plane], 1e6 * found.shift[plane]
        number = np.minimum((found.phase * BINS).astype(int), BINS - 1)
        middle = (np.arange(BINS) + 0.5) / BINS
        inside = [shift[number == i] for i in range(BINS)]
        mean = [float(np.mean(one)) if len(one) else np.nan for one in inside]
        error = [float(np.std(one) / np.sqrt(len(one))) if len(one) else np.nan for one in inside]
        axes.errorbar(middle, mean, error, fmt=".", color=plots.COLOURS[name], label="measured")
        size = float(np.hypot(*np.linalg.lstsq(_basis(found.phase), shift, rcond=None)[0][:2]))
        fit = _basis(fine) @ np.linalg.lstsq(_basis(found.phase), shift, rcond=None)[0]
        axes.plot(fine, fit, color=plots.QUIET, lw=1, label=f"± {size:.3g} · 10⁻⁶")
        axes.set_ylabel(f"tune {name} − mean, 10⁻⁶")
        title = f"chromaticity {found.value[plane]:.3f} ± {found.sigma[plane]:.2g}, the lattice's "
        axes.set_title(title + f"{found.expected[plane]:.3f}", loc="left", fontsize=9)
        axes.legend(frameon=False, fontsize=8)
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel(f"phase of the RF's modulation, δ ± {found.delta:.3g} at {found.hz:g} Hz")
    plots.save(made, path)


def _basis(
    phase: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    angle = 2 * np.pi * phase
    return np.stack([np.cos(angle), np.sin(angle), np.ones(len(phase))], axis=1)


def draw_damping(found: dict[str, Damping], expected: Expected, unit: str, path: Path) -> None:
    """The envelopes, with the exponentials that were found and the lattice's."""
    made = plots.figure(9, 3.2 * len(found))
    panels = made.subplots(len(found), sharex=True, squeeze=False)[:, 0]
    for axes, (name, one) in zip(panels, found.items(), strict=True):
        lattice = expected.damping_turns["xy".index(name)]
        time, used = one.time_turns, one.used
        axes.semilogy(time, one.amplitude, ".", ms=2, color=plots.COLOURS[name])
        rate = 1 / one.turns.value
        start = float(np.exp(np.mean(np.log(one.amplitude[:used]) + rate * time[:used])))
        axes.semilogy(time[:used], start * np.exp(-rate * time[:used]), color=plots.MEASURED, lw=1, label="found")
        axes.semilogy(time, start * np.exp(-time / lattice), "--", color=plots.QUIET, lw=1, label="the lattice's")
        axes.axvline(time[used - 1], color=plots.LIMIT, lw=0.8)
        axes.set_ylabel(f"amplitude {name}, {unit}")
        title = f"damping time {one.turns.value:.0f} ± {one.turns.sigma:.2g} turns, the lattice's {lattice:.0f}"
        axes.set_title(title, loc="left", fontsize=9)
        axes.legend(frameon=False, fontsize=8)
        axes.grid(alpha=0.3, which="both")
    panels[-1].set_xlabel("turns after the kick")
    plots.save(made, path)


def draw_synchrotron(found: list[SynchrotronLine], expected: Expected, path: Path) -> None:
    """The periodograms about the line, with what was fitted."""
    made = plots.figure(9, 0.6 + 2.8 * len(found))
    panels = made.subplots(len(found), sharex=True, squeeze=False)[:, 0]
    for axes, one in zip(panels, found, strict=True):
        axes.semilogy(one.at, one.power, lw=0.5, color=plots.QUIET)
        axes.semilogy(one.at, one.fit, lw=1.2, color=plots.MEASURED, label="found")
        axes.axvline(expected.synchrotron_tune, color=plots.PREDICTED, lw=0.8, ls="--", label="the lattice's")
        axes.set_title(f"{one.name}: {one.tune:.6f} ± {one.sigma:.1g}", loc="left", fontsize=9)
        axes.set_ylabel(f"({one.unit})² · turn" if one.unit else "δ² · turn")
        axes.set_ylim(bottom=float(np.median(one.power)) / 30)
        axes.legend(frameon=False, fontsize=8)
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel("synchrotron tune")
    plots.save(made, path)


def draw_coupling(found: Coupling, unit: str, path: Path) -> None:
    """Both tunes over the quadrupoles' offset, and their distance with the fit."""
    made = plots.figure(9, 6)
    above, below = made.subplots(2, sharex=True)
    for i, colour in enumerate(plots.COLOURS.values()):
        above.errorbar(found.offset, found.tune[:, i], found.tune_sigma[:, i], fmt=".", color=colour)
    above.set_ylabel("tunes")
    distance = found.tune[:, 1] - found.tune[:, 0]
    below.plot(found.offset, distance, ".", color=plots.MEASURED, label="measured")
    below.plot(found.offset, found.fit, color=plots.QUIET, lw=1, label="fit")
    below.axhline(found.closest_approach, color=plots.LIMIT, lw=0.8)
    title = f"closest approach {found.closest_approach:.3g} ± {found.sigma:.1g}"
    below.set_title(title, loc="left", fontsize=9)
    below.set_ylabel("distance of the tunes")
    below.set_xlabel(f"offset of the quadrupoles, {unit}")
    below.legend(frameon=False, fontsize=8)
    for axes in (above, below):
        axes.grid(alpha=0.3)
    plots.save(made, path)
