# SPDX-License-Identifier: Apache-2.0
"""What the demonstration found of the tune and its ripple, beside what the ring simulates, and what of it is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringmaster.fabric.workspace import Workspace
from ringmaster.monitor.tune import read_tune
from ringmaster.monitor.tune_spectrum import TuneSpectrum, read_tune_spectrum

RIPPLE_HZ = (50.0, 100.0)
"""Of the supply of a quadrupole, in configs/feedback-ring.yaml."""
REACH_HZ = 2.0
TOLERANCE = 0.05
SURE = 4.0
"""The tolerance must be so many standard deviations: else there were too few tunes to judge."""
ENOUGH = 0.9
"""Share of the tunes that must be there, and trusted."""
TUNE_TOLERANCE = 2e-5
"""The ripple that the window takes away, of both lines and to spare."""


@dataclass(frozen=True)
class Ripple:
    """One line of the tune's spectrum."""

    plane: str
    hz: float
    """That the ring simulates."""
    amplitude: float
    """As found, corrected for the window; 0 where no line was."""
    raw: float
    sigma: float
    """Standard deviation of ``amplitude``."""
    simulated: float

    @property
    def is_sure(self) -> bool:
        """Whether there were tunes enough to judge it."""
        return SURE * self.sigma < TOLERANCE * self.simulated

    @property
    def is_right(self) -> bool:
        """Within the tolerance."""
        return abs(self.amplitude - self.simulated) <= TOLERANCE * self.simulated


@dataclass(frozen=True)
class DemoTune:
    """The newest tune, and its ripple over the last seconds; the JSON has these names under "feedback.tune"."""

    tune: dict[str, float]
    sigma: dict[str, float]
    simulated: dict[str, float]
    reasons: dict[str, Sequence[str]]
    """Not to trust it; empty where it is good."""
    delay_s: float
    """By which it is late."""
    span_s: float
    """Of the tunes whose spectrum shows the ripple; 0: too few were to be trusted."""
    trusted_share: float
    ripple: tuple[Ripple, ...]

    @property
    def doubts(self) -> list[str]:
        """Why not all of it can be judged, in words; that is no fault of the measurement."""
        if self.trusted_share < ENOUGH:
            words = sorted({word for reasons in self.reasons.values() for word in reasons})
            why = ", ".join(words) or "the host was late"
            return [f"of the tunes {self.trusted_share:.0%} are to be trusted, too few to judge ripple: {why}"]
        unsure = [f"{one.hz:g} Hz in {one.plane}" for one in self.ripple if not one.is_sure]
        return [f"{self.span_s:.1f} s of tunes are too few to judge ripple of {', '.join(unsure)}"] if unsure else []

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words."""
        wrong = [
            f"the tune in {plane} is {self.tune[plane]:.6f}, simulated {self.simulated[plane]:.6f}"
            for plane in "xy"
            if not self.reasons[plane] and abs(self.tune[plane] - self.simulated[plane]) > TUNE_TOLERANCE
        ]
        if self.trusted_share < ENOUGH:
            return wrong
        return wrong + [
            f"ripple of the tune in {one.plane} at {one.hz:g} Hz is {one.amplitude:.3g}, simulated {one.simulated:.3g}"
            for one in self.ripple
            if one.is_sure and not one.is_right
        ]


def find_tune_and_ripple(ws: Workspace) -> DemoTune | None:
    """As of now; None where no application measures the tune."""
    figures = read_tune(ws)
    if figures is None:
        return None
    spectrum = read_tune_spectrum(ws)
    lines = spectrum.lines if spectrum else None
    return DemoTune(
        tune={name: plane.tune for name, plane in figures.planes},
        sigma={name: plane.sigma for name, plane in figures.planes},
        simulated={name: plane.simulated for name, plane in figures.planes},
        reasons={name: plane.reasons for name, plane in figures.planes},
        delay_s=figures.delay_s,
        span_s=lines.span_s if lines else 0.0,
        trusted_share=lines.trusted_share if lines else 0.0,
        ripple=tuple(_ripples(spectrum)) if spectrum else (),
    )


def _ripples(spectrum: TuneSpectrum) -> Iterator[Ripple]:
    """Of all lines that the ring simulates."""
    for hz in RIPPLE_HZ:
        for plane in "xy":
            own = [one.amplitude for one in spectrum.simulated.get(plane, ()) if abs(one.hz - hz) <= REACH_HZ]
            found = spectrum.lines.near(plane, hz, REACH_HZ)
            amplitude, raw, sigma = (found.amplitude, found.raw, found.sigma) if found else (0.0, 0.0, 0.0)
            if own:
                yield Ripple(plane, hz, amplitude, raw, sigma, max(own))
