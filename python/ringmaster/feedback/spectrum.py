# SPDX-License-Identifier: Apache-2.0
"""Spectrum of the orbit, and its RMS cumulated over frequency, against a tenth of the beam's size."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import row_plane
from ringmaster.feedback.names import State
from ringmaster.spectra.density import piece_size, welch
from ringmaster.spectra.series import USUAL_S, held_s

Floats = NDArray[np.float64]
SHARE = 0.1
"""Of the beam's size that the orbit may move: what every light source asks for."""
PIECES = 4
WHOLE = 0.99
"""Share of its records that a BPM must have sent."""
SETTLE_S = 3.0
"""After switching: soft start and what was there before must be over."""


@dataclass(frozen=True)
class Spectrum:
    """Of one plane, averaged over its BPMs."""

    plane: str
    label: str
    hz: Floats
    density: Floats
    """µm²/Hz."""
    bpms: int

    @property
    def cumulated_um(self) -> Floats:
        """RMS of all below a frequency."""
        step = self.hz[1] - self.hz[0]
        return np.asarray(np.sqrt(np.cumsum(self.density) * step))

    def as_json(self) -> dict[str, Any]:
        """The RMS up to some frequencies, and whole."""
        upto = [f for f in (1, 10, 100, 1000) if self.hz[0] <= f <= self.hz[-1]]
        cumulated = self.cumulated_um
        return {
            "plane": self.plane,
            "label": self.label,
            "bpms": self.bpms,
            "rms_um": float(cumulated[-1]),
            "rms_um_up_to_hz": {str(f): float(np.interp(f, self.hz, cumulated)) for f in upto},
        }


def capture(
    ws: Workspace, rows: Sequence[str], rate: str, seconds: float | None = None
) -> tuple[float, dict[str, Floats]]:
    """Rate (Hz) and nm of each row over the newest ``seconds``: waits for them, then takes all at once.

    Without ``seconds``: 4 s, or as much as the streams hold. Rows that sent nothing, or not all, are left out.
    """
    turn_rate = ws.parameters["server/turn_rate_hz"].number
    streams = {name: ws.streams[name] for name in {f"{row.rpartition('/')[0]}/{rate}" for row in rows}}
    first = next(iter(streams.values()))
    held = held_s(first, turn_rate)
    if seconds is None:
        seconds = min(USUAL_S, held)
    elif seconds > held:
        raise ValueError(f"{first.name} holds {held:.2g} s, not {seconds:g} s: give --seconds less, or leave it out")
    count = int(seconds * turn_rate / first.period)
    begin = first.head
    give_up = monotonic() + 3 * seconds + 10
    while begin is None or (first.head or 0) < begin + count * first.period:
        if monotonic() > give_up:
            raise RuntimeError(f"nothing comes in the stream {first.name}")
        sleep(0.01)
        begin = first.head if begin is None else begin
    found: dict[str, Floats] = {}
    share: dict[str, float] = {}
    windows = {name: stream.latest(count) for name, stream in streams.items()}
    for row in rows:
        instrument, _, lane = row.rpartition("/")
        values = windows[f"{instrument}/{rate}"].values(lane)
        share[row] = float(np.isfinite(values).mean()) if len(values) == count else 0.0
        if share[row] > WHOLE:
            found[row] = values
    if not found:
        best = max(share.values())
        raise RuntimeError(
            f"at best {best:.1%} of a BPM's records came, and a spectrum needs {WHOLE:.0%}: `ringmaster top` shows why"
        )
    return turn_rate / first.period, found


@contextmanager
def switched(feedback: Feedback) -> Iterator[Callable[[int], None]]:
    """Gives what switches the loop and waits until it has settled; leaves it as it was found."""
    before = feedback.number("loop")

    def switch(value: int) -> None:
        feedback.put("loop", value)
        sleep(SETTLE_S)
        if value == 1 and feedback.state != State.ON:
            raise RuntimeError(f"{feedback.name} is {feedback.state.name}, not ON: `ringmaster feedback why` says why")

    try:
        yield switch
    finally:
        feedback.put("loop", before)


def spectra(rate_hz: float, orbit_nm: dict[str, Floats], label: str) -> list[Spectrum]:
    """Of both planes."""
    made = []
    for plane in "xy":
        chosen = [values for row, values in orbit_nm.items() if row_plane(row) == plane]
        if chosen:
            found = [welch(values * 1e-3, rate_hz, piece_size(len(values), PIECES)) for values in chosen]
            density = np.mean([one.density for one in found], axis=0)
            made.append(Spectrum(plane, label, found[0].hz, density, len(chosen)))
    return made


def beam_sizes_um(lattice_path: str, pattern: str) -> tuple[float, float]:
    """Median RMS sizes at these elements, as the twin's equilibrium has them."""
    from ringmaster.twin import Twin, load_lattice

    twin = Twin(load_lattice(lattice_path))
    twin.enable_6d()
    _, _, beam = twin.ohmi_envelope(pattern)
    square = np.maximum(np.asarray(beam.r66)[:, [0, 2], [0, 2]], 0.0)
    x, y = np.median(np.sqrt(square), axis=0) * 1e6
    return float(x), float(y)


def draw(made: Sequence[Spectrum], limits_um: dict[str, float], path: Path) -> None:
    """A column for each plane: density above, cumulated RMS below, with the limit."""
    planes = [plane for plane in "xy" if any(one.plane == plane for one in made)]
    figure = plots.figure(5.6 * len(planes), 6.5)
    axes = figure.subplots(2, len(planes), squeeze=False, sharex="col")
    for column, plane in enumerate(planes):
        above, below = axes[0][column], axes[1][column]
        chosen = [one for one in made if one.plane == plane]
        for one, colour in zip(chosen, (plots.QUIET, plots.COLOURS[plane], "#333333"), strict=False):
            above.loglog(one.hz, np.sqrt(one.density), linewidth=0.8, color=colour, label=one.label)
            label = f"{one.label}: {one.cumulated_um[-1]:.3g} µm"
            below.loglog(one.hz, one.cumulated_um, linewidth=1.4, color=colour, label=label)
        if plane in limits_um:
            label = f"10 % of the beam: {limits_um[plane]:.3g} µm"
            below.axhline(limits_um[plane], color=plots.MEASURED, linestyle="--", linewidth=1, label=label)
        above.set_title(f"{'horizontal' if plane == 'x' else 'vertical'}, mean of {chosen[0].bpms} BPMs", loc="left")
        above.set_ylabel("µm/√Hz")
        below.set_ylabel("cumulated RMS, µm")
        below.set_xlabel("frequency, Hz")
        for each in (above, below):
            each.grid(alpha=0.3, which="both")
            each.legend(frameon=False, fontsize=8)
    plots.save(figure, path)
