# SPDX-License-Identifier: Apache-2.0
"""Offsets of all BPMs, drawn into a file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ringmaster import plots
from ringmaster.bba.analyse import Found
from ringmaster.bba.report import UM, Truth

MARKS = {"quadrupole": "s", "sextupole": "o"}


def draw(found: Found, path: Path, truth: Mapping[int, Truth] | None = None) -> None:
    """Offsets, where the beam was, and what the steps did; with a truth also the errors."""
    made = plots.figure(11, 9 if truth is None else 11)
    panels = made.subplots(3 if truth is None else 4, sharex=True)
    for kind, mark in MARKS.items():
        some = [one for one in found.offsets if one.kind == kind]
        if not some:
            continue
        bpm = np.array([one.bpm + 1 for one in some])
        total = np.array([one.total_nm for one in some]) * UM
        for plane, name in enumerate("xy"):
            style = {"color": plots.COLOURS[name], "marker": mark, "ms": 3.5, "lw": 0.8, "ls": "none"}
            offset, away = ([getattr(one, what)[plane] * UM for one in some] for what in ("offset_nm", "away_nm"))
            panels[0].errorbar(bpm, offset, total[:, plane], label=f"{name}, {kind}s", **style)
            panels[1].errorbar(bpm, away, total[:, plane], **style)
            if truth is not None:
                wrong = [
                    (one.offset_nm[plane] - truth[one.bpm].offset_nm[plane]) * UM if one.bpm in truth else np.nan
                    for one in some
                ]
                panels[3].errorbar(bpm, wrong, total[:, plane], **style)
        panels[2].plot(bpm, [one.strength for one in some], mark, ms=3.5, color=plots.QUIET, label=f"{kind}s")
    panels[0].set_ylabel("offset, µm")
    panels[0].legend(frameon=False, fontsize=8, ncols=4, loc="upper right")
    panels[1].set_ylabel("beam − centre, µm")
    panels[2].set_ylabel("step, of expected")
    panels[2].legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    if truth is not None:
        panels[3].set_ylabel("offset − truth, µm")
    panels[-1].set_xlabel("BPM")
    for axes in panels:
        axes.grid(alpha=0.3)
    plots.save(made, path)
