# SPDX-License-Identifier: Apache-2.0
"""What is asked of one ring: four rankings, and their true answers, which are known before anything is ranked.

Of each ring: the ripple with all readbacks; the same ripple with its own hidden, alone, among a tenth, or among all;
and, of the window before the ripple, its frequency and one of the mains, with all readbacks and with some hidden.

Truth. The same ring without mains and ripples has the same noise, so the difference of the two is what lines do. A
supply moves the beam by its true response times its true current; all else (magnets at the mains, feet of lines nearby)
is what is left of the difference. Of what no readback tells, a hidden supply is the source if it alone makes more than
half; else it is none of these. The source of the motion is that or the supply with a readback, whichever moves the beam
more, in nm² over all readings. d is the root of that motion's power in units of the noise's, over all pieces and
readings that the noise's covariance has made white. Where d is below 3 the truth is: nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from source_ring import MAINS_HZ, RATE_HZ, WINDOW, Recorded, Ring, Window, design, dynamics

from ringmaster.spectra.cross import amplitudes, bin_of
from ringmaster.spectra.density import piece_size
from ringmaster.spectra.sources import NONE, NOTHING, PIECES

LOWEST_HZ = 33.0
"""That a window of this length resolves from its noise."""
NEAR_HZ = 25.0
"""From a line of the mains, at most, where a ripple is near to it."""
MEASURED_ERROR = 0.01
"""Of a matrix that was measured, in parts of a column's RMS; that of the design is off by what the ring is."""
VISIBLE = 9.0
NOISE_BINS = 20
"""On each side, that tell the noise."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One question, and its true answer."""

    what: str
    """Kind: "shown", "hidden", "quiet", "mains"."""
    where: str
    """Frequency: "free", "near", "mains"."""
    hz: float
    window: Window
    hidden: frozenset[str]
    response: Floats
    """That the ranking gets."""
    truth: str
    d: float


def draw_ring(seed: int) -> tuple[Ring, str]:
    """And where its frequency lies."""
    random = np.random.default_rng(seed)
    where = str(random.choice(["free", "near", "mains"]))
    line = float(random.choice(MAINS_HZ[:4]))
    if where == "free":
        hz = float(np.exp(random.uniform(np.log(LOWEST_HZ), np.log(800))))
        hz += NEAR_HZ * (min(abs(hz - mains) for mains in MAINS_HZ) < NEAR_HZ)
    else:
        away = 0.0 if where == "mains" else random.uniform(8, NEAR_HZ) * random.choice([-1, 1])
        hz = line + float(away) if line + float(away) > LOWEST_HZ else line - float(away)
    columns = design().columns
    ampere = float(np.exp(random.uniform(np.log(2e-5), np.log(2e-2))))
    mains = float(np.exp(random.uniform(np.log(1e-3), np.log(1))))
    ripple = float(np.exp(random.uniform(np.log(1e-5), np.log(1e-3))))
    peaks = ripple * random.lognormal(0, 0.7, len(columns))
    supplies = {name: float(peak) for name, peak in zip(columns, peaks, strict=True)}
    return Ring(seed, columns[random.integers(len(columns))], hz, ampere, mains, supplies), where


def cases(ring: Ring, where: str, recorded: Recorded) -> Iterator[Case]:
    """The four of one ring."""
    random = np.random.default_rng((ring.seed, 1))
    columns = design().columns
    known = _known_response(recorded, random)

    def hide(share: float) -> frozenset[str]:
        return frozenset(name for name in columns if random.random() < share)

    line = float(random.choice(MAINS_HZ[:4]))
    asked = (
        ("shown", where, ring.hz, recorded.rippling, hide(0)),
        ("hidden", where, ring.hz, recorded.rippling, hide(float(random.choice([0, 0.1, 1]))) | {ring.culprit}),
        ("quiet", where, ring.hz, recorded.quiet, hide(0)),
        ("mains", "mains", line, recorded.quiet, hide(float(random.choice([0, 0.1, 1])))),
    )
    for what, place, hz, window, hidden in asked:
        truth, d = true_source(window, recorded.response, hz, hidden)
        yield Case(what, place, hz, window, hidden, known, truth, d)


def _known_response(recorded: Recorded, random: np.random.Generator) -> Floats:
    """As designed, or as measured: either in half of the rings."""
    true = recorded.response
    if random.random() < 0.5:
        return design().values
    rms = np.sqrt(np.mean(true**2, axis=0))
    return np.asarray(true + MEASURED_ERROR * rms * random.standard_normal(true.shape))


def _whitener(window: Window, at: int, size: int) -> Floats:
    """That makes the noise around a frequency white: there are more samples of it than rows."""
    found, _ = amplitudes(window.noise_nm, size)
    near = found[:, :, max(1, at - NOISE_BINS) : at + NOISE_BINS + 1].transpose(0, 2, 1).reshape(-1, found.shape[1])
    return np.asarray(np.linalg.inv(np.linalg.cholesky(np.real(near.conj().T @ near) / len(near))))


def true_source(window: Window, response: Floats, hz: float, hidden: frozenset[str]) -> tuple[str, float]:
    """Its name and d."""
    columns = design().columns
    size = piece_size(WINDOW, PIECES)
    at = bin_of(hz, RATE_HZ, size)
    lines = amplitudes(window.orbit_nm - window.noise_nm, size)[0][:, :, at]
    current = amplitudes(window.current_a, size)[0][:, :, at] * dynamics(hz)
    power = np.sum(np.abs(current) ** 2, axis=0) * np.sum(response**2, axis=0)
    concealed = np.array([name in hidden for name in columns])
    untold = lines - (current * ~concealed) @ response.T
    best = int(np.argmax(power * concealed))
    alone = current[:, best, None] * response[:, best]
    options = {NONE: untold}
    if concealed[best] and power[best] > np.sum(np.abs(untold - alone) ** 2):
        options = {columns[best]: alone}
    read = int(np.argmax(power * ~concealed))
    if not concealed[read]:
        options[columns[read]] = current[:, read, None] * response[:, read]
    name = max(options, key=lambda each: float(np.sum(np.abs(options[each]) ** 2)))
    seen = float(np.sum(np.abs(options[name] @ _whitener(window, at, size).T) ** 2))
    return (name if seen > VISIBLE else NOTHING), float(np.sqrt(seen))
