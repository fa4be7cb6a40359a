# SPDX-License-Identifier: Apache-2.0
"""What a change would do, along the ring."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.twins.what_if import WhatIf

COLOURS = ("#1f5f8b", "#c1440e")
"""Of the horizontal and the vertical plane."""


def plot_what_if(found: WhatIf, s_m: NDArray[np.float64], path: Path) -> None:
    """Δβ/β, orbit and dispersion at the BPMs, whose places are ``s_m``."""
    panels = (
        ("Δβ/β, %", 100 * found.beating),
        ("orbit moves by, µm", found.orbit_um),
        ("dispersion changes by, mm", 1e3 * found.dispersion_m),
    )
    made = plots.figure(11, 7)
    axes = made.subplots(len(panels), sharex=True)
    for axis, (label, values) in zip(axes, panels, strict=True):
        for plane, colour in enumerate(COLOURS):
            axis.plot(s_m, values[:, plane], ".-", color=colour, linewidth=0.8, markersize=3, label="xy"[plane])
        axis.axhline(0.0, color="#999999", linewidth=0.6)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    numbers = found.numbers()
    tunes = "; ".join(
        f"{name.replace('_', ' ')} {before:.5f} → {after:.5f}"
        for name, (before, after) in numbers.items()
        if name in ("tune_x", "tune_y")
    )
    names = list(found.moves)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    axes[0].set_title(f"{names[0] if names else 'nothing'}{more} moved; {tunes}", loc="left", fontsize=10)
    made.legend(*axes[0].get_legend_handles_labels(), loc="upper right", ncols=2, frameon=False)
    axes[-1].set_xlabel("s, m")
    plots.save(made, path)
