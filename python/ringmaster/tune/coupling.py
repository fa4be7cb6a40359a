# SPDX-License-Identifier: Apache-2.0
"""Coupling by closest approach: quadrupoles move the tunes through one another, and they do not meet.

Of two modes that are coupled by |C⁻| the tunes are (Q_x + Q_y)/2 ± ½ √(Δ² + |C⁻|²), Δ being the distance that they
would have without (G. Guignard, CERN 76-06 (1976)). Only frequencies are looked at, which all BPMs of both planes show
alike: no roll, gain or crosstalk of a BPM can feign a coupling or hide one. Two lines that are nearer than four bins of
8192 turns, 5 · 10⁻⁴, are not told apart.

First a small step tells how far the tunes go per unit. Then a scan goes through the place where they would meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from ringmaster.beam.tune import spectrum
from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.moving.hand import Hand, refuse_closed_loops, refuse_owned
from ringmaster.moving.modulation import ShareDone
from ringmaster.moving.stopping import Pause, stopped_at_pauses
from ringmaster.optics.lines import Floats
from ringmaster.optics.model import fractional
from ringmaster.spectra.series import interpolated
from ringmaster.tune.model import Expected

WINDOW_TURNS = 8192
BLOCKS = 4
"""Of a setting's turns: their scatter is the error."""
WINDOWS = 3
"""Half-overlapping ones in each block."""
NEAR = 0.03
"""Around the tunes of the setting before, where they are looked for."""
APART_BINS = 4
"""Of two lines."""
VISIBLE = 8.0
"""Times the level between them."""
PROBE = 0.1
"""Of the greatest offset: the first step."""
LEAST_POINTS = 5
POLL_S = 0.01


class OneLine(ValueError):
    """Fewer than two lines are seen: the beam moves in one plane alone, or the two are too near."""


@dataclass(frozen=True)
class Scan:
    """How to scan."""

    supplies: Sequence[str]
    """All of them move by the same."""
    most: float
    """In their unit: no further than that from where they stand."""
    span: float
    """Distance of the uncoupled tunes, on either side, that is scanned."""
    points: int
    settle_s: float
    """From the supplies' arrival to the data."""


@dataclass(frozen=True)
class Coupling:
    """What was found."""

    closest_approach: float
    """|C⁻|."""
    sigma: float
    centre: float
    """Offset at which the tunes are nearest."""
    slope: float
    """Change of Q_x − Q_y, without coupling, per unit."""
    offset: Floats
    """Shape (points,): of the scan …"""
    tune: Floats
    """… the two tunes, shape (points, 2), the lower first …"""
    tune_sigma: Floats
    """… and their errors."""
    fit: Floats
    """Shape (points,): the distance of the tunes by the fit."""
    start: tuple[float, float]
    """Tunes before anything moved."""
    end: tuple[float, float]
    """And when all was back."""
    merged: int
    """Settings that were left out, because the two lines were too near."""


def measure(
    ws: Workspace, expected: Expected, scan: Scan, rate: str = "turn", progress: ShareDone = lambda _: None
) -> Coupling:
    """Scans. KeyboardInterrupt, too, comes after all is back. Raises ValueError where the tunes do not get near."""
    refuse_closed_loops(ws)
    for name in scan.supplies:
        refuse_owned(ws, name)
    with stopped_at_pauses() as pause:
        look = _Look(ws, expected, rate, pause)
        near = (fractional(expected.tunes[0]), fractional(expected.tunes[1]))
        start, _ = look.tunes(near, 0.0)
        hand = Hand(ws, scan.supplies, pause)
        try:
            for i, name in enumerate(scan.supplies):
                hand.begin(name, scan.most)
                progress(0.1 * i / len(scan.supplies))
            offsets, tunes, sigmas = _scan(hand, look, scan, _ordered(start, near), progress)
        finally:
            hand.put_back()
        end, _ = look.tunes(near, scan.settle_s)
    value, sigma, centre, slope, fit = fit_approach(offsets, tunes, sigmas)
    before, after = _pair(_ordered(start, near)), _pair(_ordered(end, near))
    merged = scan.points - len(offsets)
    return Coupling(value, sigma, centre, slope, offsets, tunes, sigmas, fit, before, after, merged)


def _pair(tunes: Floats) -> tuple[float, float]:
    return float(tunes[0]), float(tunes[1])


def _ordered(tunes: Floats, near: tuple[float, float]) -> Floats:
    """Those of x and y, by the lattice: which of two lines is which, where they are far apart."""
    return tunes if near[0] < near[1] else tunes[::-1]


def _scan(hand: Hand, look: "_Look", scan: Scan, start: Floats, progress: ShareDone) -> tuple[Floats, Floats, Floats]:
    """Offsets, tunes and errors."""
    distance = float(start[0] - start[1])
    probe = PROBE * scan.most
    hand.go_together(dict.fromkeys(scan.supplies, probe))
    after, _ = look.tunes(_pair(start), scan.settle_s)
    moved = after if start[0] < start[1] else after[::-1]
    slope = (float(moved[0] - moved[1]) - distance) / probe
    centre = -distance / slope if slope else np.inf
    reach = abs(scan.span / slope) if slope else np.inf
    if not abs(centre) + reach <= scan.most:
        raise ValueError(
            f"the tunes are {abs(distance):.4f} apart and move by {abs(slope):.2g} per unit: to scan their meeting "
            f"takes {abs(centre) + reach:.3g}, and --most allows {scan.most:g}"
        )
    offsets = np.linspace(centre - reach, centre + reach, scan.points)
    if abs(offsets[-1]) < abs(offsets[0]):
        offsets = offsets[::-1]
    kept: list[float] = []
    tunes: list[Floats] = []
    sigmas: list[Floats] = []
    for i, offset in enumerate(offsets.tolist()):
        hand.go_together(dict.fromkeys(scan.supplies, offset))
        # where they would be, without coupling: the sum moves, too, and is followed from point to point
        near = _pair(tunes[-1]) if tunes else _pair(start + (moved - start) * offset / probe)
        progress(0.1 + 0.9 * (i + 1) / len(offsets))
        try:
            found, sigma = look.tunes(near, scan.settle_s)
        except OneLine:
            continue
        kept.append(offset)
        tunes.append(found)
        sigmas.append(sigma)
    if len(kept) < LEAST_POINTS:
        raise ValueError(f"two lines were seen at {len(kept)} of {len(offsets)} settings; it takes {LEAST_POINTS}")
    return np.array(kept), np.array(tunes), np.array(sigmas)


class _Look:
    """Both tunes of a setting, from the newest turns of all BPMs of the mapping that send each turn."""

    def __init__(self, ws: Workspace, expected: Expected, rate: str, pause: Pause) -> None:
        self._ws, self._pause = ws, pause
        rows = [row.rpartition("/") for row in expected.rows]
        self._rows = [(f"{instrument}/{rate}", lane) for instrument, _, lane in rows]
        missing = [stream for stream, _ in self._rows if stream not in ws.streams]
        if missing:
            raise ObjectNotFound(f"workspace {ws.name!r} has no stream {missing[0]!r}, which the mapping names")
        self._streams = {name: ws.streams[name] for name, _ in self._rows}
        self._rate_hz = ws.parameters["server/turn_rate_hz"].number

    def tunes(self, near: tuple[float, float], settle_s: float) -> tuple[Floats, Floats]:
        """The lower and the higher one, and their errors; ``settle_s`` from now."""
        block = WINDOW_TURNS * (WINDOWS + 1) // 2
        first = max(stream.head or 0 for stream in self._streams.values()) + 1 + int(settle_s * self._rate_hz)
        end = first + BLOCKS * block
        while any((stream.head or 0) < end for stream in self._streams.values()):
            self._ws.check()
            self._pause(POLL_S)
        windows = {name: stream.read(first, BLOCKS * block) for name, stream in self._streams.items()}
        values = [windows[name].values(lane) for name, lane in self._rows]
        signals = np.array([interpolated(one) for one in values if np.isfinite(one).mean() > 0.5])
        pieces = [signals[:, k * block : (k + 1) * block] for k in range(BLOCKS)]
        found = np.array([two_lines(piece, near) for piece in pieces])
        return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(BLOCKS)


def two_lines(signals: Floats, near: tuple[float, float]) -> Floats:
    """Tunes of the two highest lines near these, the lower first. Raises OneLine."""
    starts = range(0, signals.shape[1] - WINDOW_TURNS + 1, WINDOW_TURNS // 2)
    amplitudes = [spectrum(one[k : k + WINDOW_TURNS])[1] for one in signals for k in starts]
    at = np.arange(WINDOW_TURNS // 2 + 1) / WINDOW_TURNS
    power = np.mean(np.square(amplitudes), axis=0)
    allowed = np.zeros(len(at), np.bool_)
    for tune in near:
        allowed |= np.abs(at - tune) < NEAR
    level = float(np.median(power[allowed]))
    found: list[float] = []
    left = np.where(allowed, power, 0.0)
    for _ in range(2):
        top = int(np.argmax(left))
        if not left[top] > VISIBLE * level:
            raise OneLine(f"fewer than two lines within {NEAR:g} of the tunes {near[0]:.4f} and {near[1]:.4f}")
        around = slice(max(0, top - 2), top + 3)
        found.append(float(np.sum(power[around] * at[around]) / np.sum(power[around])))
        left = np.where(np.abs(np.arange(len(at)) - top) < APART_BINS, 0.0, left)
    return np.sort(np.array(found))


def fit_approach(offsets: Floats, tunes: Floats, sigmas: Floats) -> tuple[float, float, float, float, Floats]:
    """|C⁻|, its error, where, the slope of Q_x − Q_y per unit, and the distances by the fit.

    Errors by the scatter about the fit, where that is larger than the tunes' own.
    """
    distance = tunes[:, 1] - tunes[:, 0]
    own = np.sqrt(np.mean(np.sum(sigmas**2, axis=1)))
    edge = np.abs(np.diff(distance) / np.diff(offsets))
    begin = np.array([distance.min(), edge.max(), offsets[int(np.argmin(distance))], 0.0])
    size = np.array([begin[0], begin[1], np.ptp(offsets), begin[1] / np.ptp(offsets)])

    def model(p: Floats) -> Floats:
        away = offsets - p[2] * size[2]
        free = p[1] * size[1] * away + p[3] * size[3] * away**2
        return np.asarray(np.hypot(free, p[0] * size[0]))

    found = least_squares(lambda p: (model(p) - distance) / own, begin / size, x_scale=0.1)
    best, slopes = np.asarray(found.x), np.asarray(found.jac)
    worse = max(1.0, float(2 * found.cost) / max(1, len(distance) - len(best)))
    error = np.sqrt(np.diag(np.linalg.pinv(slopes.T @ slopes)) * worse)
    value, sigma, centre, slope = best[0] * size[0], error[0] * size[0], best[2] * size[2], best[1] * size[1]
    return abs(float(value)), float(sigma), float(centre), float(slope), model(best)
