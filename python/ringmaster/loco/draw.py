# SPDX-License-Identifier: Apache-2.0
"""A result, drawn into a file."""

from pathlib import Path
from typing import Any

import numpy as np

from ringmaster import plots
from ringmaster.loco.model import Floats
from ringmaster.loco.report import Optics
from ringmaster.loco.result import Result


def draw(result: Result, optics: Optics | None, path: Path) -> None:
    """β-beating, gradients, gains of BPMs and correctors, residuals and singular values."""
    made = plots.figure(12, 12)
    panels = made.subplots(4, 2)
    _beating(panels[0, 0], optics)
    _gradients(panels[0, 1], result)
    _along(panels[1, 0], result, "BPM gain", result.own, result.own_sigma, 1.0)
    _along(panels[1, 1], result, "BPM, of the other plane", result.cross, result.cross_sigma, 0.0)
    _correctors(panels[2, 0], result, "corrector gain", result.gain, result.gain_sigma)
    _correctors(panels[2, 1], result, "corrector roll, rad", result.roll, result.roll_sigma)
    _residuals(panels[3, 0], result)
    _singular_values(panels[3, 1], result)
    for axes in panels.flat:
        axes.grid(alpha=0.3)
    made.suptitle(
        f"{Path(result.measurement or result.lattice).name}: χ² {result.reduced:.5g} per degree of freedom", fontsize=11
    )
    plots.save(made, path)


def _beating(axes: Any, optics: Optics | None) -> None:
    axes.set_ylabel("β / design − 1, %")
    axes.set_xlabel("BPM, along the ring")
    if optics is None:
        axes.set_title("the fitted ring is not stable", loc="left", fontsize=9)
        return
    for plane, name in enumerate("xy"):
        off = 100 * (optics.beta[:, plane] / optics.design_beta[:, plane] - 1)
        axes.plot(off, ".-", ms=3, lw=0.7, color=plots.COLOURS[name], label=name)
    x, y = (100 * value for value in optics.beating)
    axes.set_title(f"β-beating before correction: x {x:.2f} %, y {y:.2f} % RMS", loc="left", fontsize=9)
    axes.legend(frameon=False, fontsize=8, ncols=2)


def _gradients(axes: Any, result: Result) -> None:
    normal = np.array([one.component == "B" for one in result.gradients], bool)
    number = np.arange(len(normal))
    for chosen, name, colour in ((normal, "normal", plots.PREDICTED), (~normal, "skew", plots.MEASURED)):
        if chosen.any():
            values, sigma = result.by_gradient[chosen], np.nan_to_num(result.by_gradient_sigma[chosen])
            axes.errorbar(number[chosen], values, sigma, fmt=".", ms=3, lw=0.6, color=colour, label=name)
    axes.set_ylabel("gradient − design, 1/m²")
    axes.set_xlabel("parameter")
    axes.legend(frameon=False, fontsize=8, ncols=2)


def _along(axes: Any, result: Result, name: str, values: Floats, sigma: Floats, ideal: float) -> None:
    half = result.bpms
    for plane, word in enumerate("xy"):
        some = slice(plane * half, (plane + 1) * half)
        errors = np.nan_to_num(sigma[some])
        axes.errorbar(
            np.arange(half), values[some], errors, fmt=".", ms=3, lw=0.6, color=plots.COLOURS[word], label=word
        )
    axes.axhline(ideal, color=plots.LIMIT, lw=0.8)
    axes.set_ylabel(name)
    axes.set_xlabel("BPM, along the ring")
    axes.legend(frameon=False, fontsize=8, ncols=2)


def _correctors(axes: Any, result: Result, name: str, values: Floats, sigma: Floats) -> None:
    for plane, word in enumerate("xy"):
        some = result.planes == plane
        errors = np.nan_to_num(sigma[some])
        axes.errorbar(
            np.arange(some.sum()), values[some], errors, fmt=".", ms=3, lw=0.6, color=plots.COLOURS[word], label=word
        )
    axes.set_ylabel(name)
    axes.set_xlabel("corrector of the plane")
    axes.legend(frameon=False, fontsize=8, ncols=2)


def _residuals(axes: Any, result: Result) -> None:
    residual = result.residual[:, :-1]
    used = residual[residual != 0]
    if not used.size:
        return
    width = float(np.std(used)) * 4
    axes.hist(np.clip(used, -width, width), bins=120, color=plots.PREDICTED, log=True)
    axes.set_xlabel("(measured − model) / error")
    axes.set_ylabel("elements")
    axes.set_title(f"{used.size} elements, {np.std(used):.3g} RMS", loc="left", fontsize=9)


def _singular_values(axes: Any, result: Result) -> None:
    values = result.singular_values / result.singular_values[0]
    axes.semilogy(np.maximum(values, 1e-12), color=plots.PREDICTED, lw=1)
    if result.used < len(values):
        axes.axvline(result.used, color=plots.LIMIT, lw=0.8)
    axes.set_ylabel("singular value / largest")
    axes.set_xlabel("number")
    axes.set_title(f"{result.used} of {len(values)} used", loc="left", fontsize=9)
