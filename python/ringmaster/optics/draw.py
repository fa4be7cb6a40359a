# SPDX-License-Identifier: Apache-2.0
"""Measured optics beside the model's, drawn into a file."""

from pathlib import Path
from typing import Any

import numpy as np

from ringmaster import plots
from ringmaster.optics.dispersion import Dispersion
from ringmaster.optics.turns import Measured

LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8, "loc": "lower right", "bbox_to_anchor": (1.0, 0.97)}
"""Above the panel: its curves fill it."""


def draw(found: Measured, path: Path, dispersion: Dispersion | None = None) -> None:
    """Of each plane: β as measured and as in the model, and the error of the phase; and the dispersion."""
    rows = 4 if dispersion is None else 5
    made = plots.figure(11, 1 + 2 * rows)
    panels = made.subplots(rows, sharex=True)
    number = np.arange(len(found.model))
    for plane, (name, one) in enumerate(zip("xy", found.planes, strict=True)):
        colour, beta = plots.COLOURS[name], found.model.beta_m[:, plane]
        above, below = panels[2 * plane], panels[2 * plane + 1]
        above.plot(number, beta, color=plots.QUIET, lw=1, label="model")
        errors = {"fmt": ".", "ms": 4, "lw": 0.8}
        above.errorbar(number, one.beta_phase_m, one.sigma_beta_phase_m, color=colour, label="from phase", **errors)
        above.plot(number, one.beta_amplitude_m, "+", color=colour, ms=5, alpha=0.5, label="from amplitude")
        above.set_ylabel(f"β {name}, m")
        above.set_title(f"tune {one.tune:.6f} ± {one.sigma_tune:.1g}", loc="left", fontsize=9)
        above.legend(ncols=3, **LEGEND)
        below.errorbar(number, 1e3 * one.phase_error_rad, 1e3 * one.sigma_phase_rad, color=colour, **errors)
        below.axhline(0, color=plots.LIMIT, lw=0.8)
        below.set_ylabel("phase − model, mrad")
    if dispersion is not None:
        panels[4].plot(number, dispersion.model_m, color=plots.QUIET, lw=1, label="model")
        measured = {"fmt": ".", "ms": 4, "lw": 0.8, "color": plots.COLOURS["x"], "label": "from the energy oscillation"}
        panels[4].errorbar(number, dispersion.dispersion_m, dispersion.sigma_m, **measured)
        panels[4].set_ylabel("dispersion x, m")
        panels[4].set_title(f"synchrotron tune {dispersion.tune:.6f}", loc="left", fontsize=9)
        panels[4].legend(ncols=2, **LEGEND)
    for axes in panels:
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel("BPM, along the ring")
    plots.save(made, path)
