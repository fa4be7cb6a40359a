# SPDX-License-Identifier: Apache-2.0
"""From readings to a response: sines are fitted, what stands between setpoint and orbit is divided out.

A response at rest is real. So what is left of imaginary part, once supply, chamber and filter are divided out, is
noise, or a plant that is another than was said: it is told by families.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ringmaster.response import closed, mains, plants
from ringmaster.response.measured import MeasuredResponse
from ringmaster.response.plan import Plan, Tone, within
from ringmaster.response.plants import Family, Phases, doubt_of, response_of
from ringmaster.response.sines import PRESENT, Fitted, Window, drift

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Taken:
    """Of one group, all that came in its window."""

    values: Floats
    """[row, record] nm, NaN for what did not come. They may be written over."""
    first_turn: int
    """Of the first record."""
    begin_turn: int
    """From which the sines count."""
    others: Mapping[str, Floats] = field(default_factory=dict)
    """Of supplies that a loop moves meanwhile: [record] what they were told in the step of that record."""


@dataclass(frozen=True)
class Analysis:
    """What was found."""

    response: MeasuredResponse
    phases: tuple[Phases, ...]
    """By family, beyond its plant."""
    families: tuple[Family, ...]
    """With the plants that were divided out."""
    imaginary_pull: float
    """RMS of imaginary parts over their errors: 1 where supplies are as their plants."""
    mains_hz: float
    """Mean; NaN where no mains were seen."""
    silent: tuple[str, ...]
    """Rows with too few records."""
    missing: float
    """Share of the records of all other rows that did not come."""
    excursion_nm: Floats
    """[row] RMS of what all sines together moved it."""


@dataclass(frozen=True)
class _Lines:
    """Phasors of all groups side by side, per amplitude, and what belongs to each."""

    ratio: Complexes
    """[row, line] readings over the sine that was commanded."""
    variance: Floats
    hz: Floats
    supplies: tuple[str, ...]
    fits: tuple[Fitted, ...]
    mains_hz: tuple[float, ...]
    moved: Complexes
    """[row, line] nm"""
    others: Complexes
    """[other supply, line] per amplitude."""
    other_names: tuple[str, ...]


def analyse(
    rows: Sequence[str],
    plan: Plan,
    taken: Sequence[Taken],
    families: Sequence[Family],
    *,
    rf: tuple[str, float] | None = None,
    left_out: Sequence[str] = (),
    about: Mapping[str, str | float] | None = None,
    fit_plants: bool = False,
    progress: Progress = lambda _: None,
) -> Analysis:
    """``rf``: its supply and Hz per unit. ``left_out``: supplies that did not do what they were told; they are NaN.

    With ``fit_plants`` bandwidth and delay of all families are fitted to the phases, else of those that no file has.
    """
    lines = _lines(plan, taken, progress)
    families = _with_plants(lines, families, fit_plants and not len(lines.other_names))
    transfer = response_of(families, lines.supplies, lines.hz)
    checks = _checks(lines, families, transfer)
    transfer = transfer * _later(checks, families, lines)
    value, noise, imaginary = _at_rest(lines, families, transfer)
    doubt = doubt_of(families, lines.supplies, lines.hz)
    sigma = np.hypot(noise, value * doubt)
    good = ~np.isin(lines.supplies, list(left_out))
    value[:, ~good], sigma[:, ~good] = np.nan, np.nan
    names = np.array(lines.supplies)
    is_rf = names == (rf[0] if rf is not None else "")
    hz_per_unit = rf[1] if rf is not None else 1.0
    nothing = np.full(len(rows), np.nan)
    has_rf = bool(is_rf.any())
    response = MeasuredResponse(
        tuple(rows),
        tuple(str(name) for name in names[~is_rf]),
        value[:, ~is_rf],
        sigma[:, ~is_rf],
        value[:, is_rf][:, 0] / hz_per_unit if has_rf else nothing,
        sigma[:, is_rf][:, 0] / abs(hz_per_unit) if has_rf else nothing,
        np.sqrt(np.mean([fit.rms**2 for fit in lines.fits], axis=0)),
        np.mean([fit.mean for fit in lines.fits], axis=0),
        dict(about or {}),
        doubt[~is_rf],
    )
    present = np.min([fit.present for fit in lines.fits], axis=0)
    silent = present < PRESENT
    told = np.isfinite(value) & good
    return Analysis(
        response,
        checks,
        tuple(families),
        float(np.sqrt(np.mean((imaginary[told] / noise[told]) ** 2))) if told.any() else float("nan"),
        float(np.mean(lines.mains_hz)),
        tuple(row for row, out in zip(rows, silent, strict=True) if out),
        float(1 - np.mean(present[~silent])) if (~silent).any() else 1.0,
        np.sqrt(0.5 * np.square(np.abs(lines.moved)).sum(axis=1) / len(plan.groups)),
    )


def _lines(plan: Plan, taken: Sequence[Taken], progress: Progress) -> _Lines:
    fits, ratio, variance, moved, hz_found = [], [], [], [], []
    others: list[Complexes] = []
    names = tuple(taken[0].others)
    for number, (group, one) in enumerate(zip(plan.groups, taken, strict=True)):
        begin, share = number / len(taken), 1 / len(taken)
        bins = np.array([tone.periods for tone in group])
        window, mains_hz = window_of(plan, bins, one.values)
        fit = window.fit(one.values, within(progress, begin, share))
        commanded = _commanded(plan, group, one)
        fits.append(fit)
        hz_found.append(mains_hz)
        moved.append(fit.phasors)
        ratio.append(fit.phasors / commanded)
        variance.append(fit.variance / np.abs(commanded) ** 2)
        if names:
            told = window.fit(np.array([one.others[name] for name in names]))
            others.append(told.phasors / commanded)
    return _Lines(
        np.concatenate(ratio, axis=1),
        np.concatenate(variance, axis=1),
        np.array([plan.hz(tone) for group in plan.groups for tone in group]),
        plan.supplies,
        tuple(fits),
        tuple(hz_found),
        np.concatenate(moved, axis=1),
        np.concatenate(others, axis=1) if names else np.empty((0, len(plan.supplies)), np.complex128),
        names,
    )


def window_of(plan: Plan, bins: NDArray[np.int64], values: Floats) -> tuple[Window, float]:
    """With the drift, and the lines of the mains as they were; and their frequency, NaN where there are none."""
    phase = mains.phase_of(values, plan.rate_hz, bins, plan.mains)
    if phase is None:
        return Window(plan.records, bins, drift(plan.records)), float("nan")
    highest = float(bins.max()) * plan.rate_hz / plan.records
    others = mains.functions(phase, plan.rate_hz, highest, plan.mains)
    return Window(plan.records, bins, others), mains.hz_of(phase, plan.rate_hz)[0]


def _commanded(plan: Plan, group: Sequence[Tone], taken: Taken) -> Complexes:
    """Phasors of what was commanded, at the first record: amplitude · sin(ω (turn − begin) + phase)."""
    cycles = (taken.first_turn - taken.begin_turn) / plan.period_turns
    periods = np.array([tone.periods for tone in group])
    angle = 2 * np.pi * np.mod(periods * cycles, plan.records) / plan.records
    amplitude = np.array([tone.amplitude for tone in group])
    phase = np.array([tone.phase for tone in group])
    return np.asarray(amplitude * np.exp(1j * (angle + phase - 0.5 * np.pi)), np.complex128)


def _with_plants(lines: _Lines, families: Sequence[Family], fit_all: bool) -> tuple[Family, ...]:
    """Those that are to be fitted are."""
    phase, sigma = plants.column_phases(lines.ratio, lines.variance)
    made = []
    for family in families:
        at = np.array([family.has(name) for name in lines.supplies])
        if at.any() and (fit_all or not family.given):
            made.append(plants.fitted(family, lines.hz[at], phase[at], sigma[at]))
        else:
            made.append(family)
    return tuple(made)


def _at_rest(lines: _Lines, families: Sequence[Family], transfer: Complexes) -> tuple[Floats, Floats, Floats]:
    """Values, their errors, and imaginary parts that ought to be 0."""
    if not lines.other_names:
        found = lines.ratio / transfer
        return found.real.copy(), np.sqrt(lines.variance) / np.abs(transfer), found.imag
    shape = (len(lines.other_names), len(lines.supplies))
    others = np.empty(shape, np.complex128)
    for k, hz in enumerate(lines.hz):
        others[:, k] = response_of(families, lines.other_names, np.full(shape[0], hz))
    solved = closed.solve(lines.ratio, lines.variance, transfer, lines.others * others)
    return solved.values, solved.sigma, solved.imaginary


def _checks(lines: _Lines, families: Sequence[Family], transfer: Complexes) -> tuple[Phases, ...]:
    """Of an open loop: a closed one turns phases by itself."""
    if lines.other_names:
        return ()
    phase, sigma = plants.column_phases(lines.ratio / transfer, lines.variance / np.abs(transfer) ** 2)
    made = []
    for family in families:
        at = np.array([family.has(name) for name in lines.supplies]) & np.isfinite(phase) & (sigma < 1)
        if at.any():
            made.append(plants.check(family, lines.hz[at], phase[at], sigma[at]))
    return tuple(made)


def _later(checks: Sequence[Phases], families: Sequence[Family], lines: _Lines) -> Complexes:
    """[line] the delay that each family has beyond its plant: it turns a response, and would make it too small."""
    delay_us = {check.family: check.delay_us for check in checks}
    names = [plants.family_of(families, supply).name for supply in lines.supplies]
    seconds = 1e-6 * np.array([delay_us.get(name, 0.0) for name in names])
    return np.asarray(np.exp(-2j * np.pi * lines.hz * seconds), np.complex128)
