# SPDX-License-Identifier: Apache-2.0
"""BPMs and correctors that are not what their names say: dead, wrong in sign, with planes or cables swapped, or lying.

Before the fit each measured row is compared with each row of the model, and each column with each column, by the cosine
of the angle between them. Neither gains nor errors of the optics change it much: β-beating of 10 % leaves 0.94. All
get the places at which the least is left over, and an exchange that halves that is a fault. After the fit all are
compared with the model as fitted: what was a fault beside the design alone is none. Rows and columns with a χ² far
above that of the others are named, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ringmaster.loco.data import Data
from ringmaster.loco.fit import Fit
from ringmaster.loco.model import Answers, Floats, reading

DEAD = 0.1
"""Of the usual size relative to the model: less is nothing."""
BLIND = 0.5
"""A cosine of less is like nothing in the model."""
CLEARLY = 0.5
"""What an exchange leaves of its rows (1 − cosine²), over what they leave at their own places: less is a swap."""
LYING = 0.3
"""A gain that is so far from those of the others."""
FAR_CHI2, LEAST_CHI2 = 10.0, 4.0
"""Over the median of χ² per element of all rows, and by itself: more is a fault."""
SPOILT = 0.3
"""Of the worst χ²: those of less may be good ones, which the worst spoil. The next fit says it."""
LEAST_ELEMENTS = 4
PASSES = 3
DOUBTS = 6
"""Of a cosine, by which another one has to be nearer: noise that is alike in neighbours moves it by some."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a reading or a corrector."""

    kind: str
    """ "dead", "noise", "sign", "swapped", "gain", "chi2"."""
    column: bool
    """A corrector's; else a reading's."""
    at: int
    """Its row or column."""
    name: str
    what: str
    """In words."""
    instead: int | None = None
    """What it is taken for: the row or column of the model."""
    sign: int = 1

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"

    @property
    def is_repairable(self) -> bool:
        """Whether sign or place are known."""
        return self.kind in ("sign", "swapped")

    @property
    def excludes(self) -> bool:
        """Whether it spoils a fit: a wrong gain does not, the fit finds it."""
        return self.kind != "gain"


def before_fit(data: Data, answers: Answers) -> list[Fault]:
    """Compares with a model without errors of BPMs and correctors, as designed or as fitted."""
    values, model, sigma = data.clean[:, :-1], answers.main, data.sigma[:, :-1]
    planes = np.array([one.plane for one in data.columns])
    row_planes, supplies = np.repeat([0, 1], data.bpms), [one.supply for one in data.columns]
    rows: list[Fault] = []
    columns: list[Fault] = []
    for _ in range(PASSES):  # each time without what is at fault across
        good = _good(columns, len(supplies))
        rows = _faults(_compared(values[:, good], model[:, good], sigma[:, good]), data.rows, row_planes, False)
        good = _good(rows, len(values))
        columns = _faults(_compared(values[good].T, model[good].T, sigma[good].T), supplies, planes, True)
    return rows + columns


def _good(faults: Sequence[Fault], count: int) -> NDArray[np.bool_]:
    bad = {one.at for one in faults if one.excludes}
    return np.array([i not in bad for i in range(count)])


def _noise(sigma: Floats) -> Floats:
    """[row] expected square of the noise of a row."""
    return np.asarray((np.where(np.isfinite(sigma), sigma, 0.0) ** 2).sum(axis=1), np.float64)


@dataclass(frozen=True)
class _Comparison:
    cosine: Floats
    """[measured, model]"""
    size: Floats
    """[measured] over the model's; NaN: not measured."""
    noise: Floats
    """[measured] the share of its square that noise is."""


def _compared(values: Floats, model: Floats, sigma: Floats) -> _Comparison:
    """Rows with rows. What is across weighs the same: neither strong correctors nor large β decide alone."""
    across = np.sqrt((model**2).mean(axis=0))
    values, model, sigma = values / across, model / across, sigma / across
    seen, noise = np.isfinite(sigma), _noise(sigma)
    measured = np.where(seen, values, 0.0)
    square = (measured**2).sum(axis=1)
    overlap = seen.astype(float) @ (model**2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        # noise makes vectors longer and not more alike: without it
        length = np.sqrt(np.maximum(square - noise, 0.1 * square))
        cosine = np.where(overlap > 0, (measured @ model.T) / (length[:, None] * np.sqrt(overlap)), 0.0)
        size = np.sqrt(square / np.diag(overlap))
    enough = seen.sum(axis=1) >= LEAST_ELEMENTS
    share = np.divide(noise, square, out=np.ones_like(noise), where=square > 0)
    return _Comparison(np.nan_to_num(cosine), np.where(enough, size, np.nan), share)


def _faults(found: _Comparison, names: Sequence[str], planes: NDArray[np.int_], column: bool) -> list[Fault]:
    faults = []
    cosine = np.abs(found.cosine)
    own, best = np.diag(found.cosine), cosine.max(axis=1)
    usual = [np.nanmedian(found.size[planes == plane]) if (planes == plane).any() else np.nan for plane in (0, 1)]
    relative = found.size / np.array(usual)[planes]
    places = _places(found, np.flatnonzero((relative >= DEAD) & (best >= BLIND)))
    for at, name in enumerate(names):
        if np.isnan(found.size[at]):
            continue
        other = places.get(at, at)
        sign = 1 if found.cosine[at, other] > 0 else -1
        # of a plane that is taken for the other one, the size is the other one's
        if relative[at] < DEAD:
            faults.append(Fault("dead", column, at, name, _dead(column, relative[at])))
        elif best[at] < BLIND:
            what = "does what no corrector of the model does" if column else "reads what no BPM of the model reads"
            faults.append(Fault("noise", column, at, name, f"{what} (likeness {best[at]:.2f})"))
        elif other != at:
            what = _swapped(names, at, other, sign, places.get(other) == at)
            faults.append(Fault("swapped", column, at, name, what, other, sign))
        elif own[at] < 0:
            faults.append(Fault("sign", column, at, name, "has the wrong sign", at, -1))
        elif abs(relative[at] - 1) > LYING:
            faults.append(Fault("gain", column, at, name, f"has {relative[at]:.2f} of the gain that the others have"))
    return faults


def _places(found: _Comparison, some: NDArray[np.intp]) -> dict[int, int]:
    """Where each of ``some`` belongs, no two at one place, so that least is left over.

    Neighbours are nearly alike, and errors of the optics make one look like the other. So what is left over of one at
    its own place, with its own sign, counts by the share ``CLEARLY`` only: an exchange has to leave less than that, of
    all that change places in it together.
    """
    left = 1 - np.minimum(np.abs(found.cosine[some]), 1.0) ** 2
    doubts = 2 * DOUBTS * np.array([_doubt(found, int(at)) for at in some])
    cost = left + doubts[:, None]
    own = np.arange(len(some)), some
    cost[own] = np.where(np.diag(found.cosine)[some] > 0, CLEARLY, 1.0) * left[own]
    rows, taken = linear_sum_assignment(cost)
    return {int(some[row]): int(to) for row, to in zip(rows, taken, strict=True)}


def _doubt(found: _Comparison, at: int) -> float:
    """How far noise alone moves a cosine."""
    return float(np.sqrt(min(found.noise[at], 1.0) / found.cosine.shape[0]))


def _dead(column: bool, relative: float) -> str:
    return f"is dead: it {'moves the beam' if column else 'reads'} {100 * relative:.1f} % of what is usual"


def _swapped(names: Sequence[str], at: int, other: int, sign: int, mutual: bool) -> str:
    first, second = names[at].rpartition("/"), names[other].rpartition("/")
    same = "swapped with" if mutual else "takes the place of"
    minus = ", with the wrong sign" if sign < 0 else ""
    if first[0] and first[0] == second[0] and first[2][1:] == second[2][1:]:
        return f"has its planes swapped: it is {names[other]}{minus}"
    return f"{same} {names[other]}{minus}"


def after_fit(fit: Fit) -> list[Fault]:
    """Rows and columns whose χ² is far above that of the others."""
    found = [*_far(fit, False), *_far(fit, True)]
    worst = max((chi2 for chi2, _ in found), default=0.0)
    return [fault for chi2, fault in found if chi2 > worst * SPOILT]


def _far(fit: Fit, column: bool) -> Iterator[tuple[float, Fault]]:
    axis = 0 if column else 1
    residual = fit.residual[:, :-1]
    counts = (fit.data.weights[:, :-1] > 0).sum(axis=axis)
    each = np.full(len(counts), np.nan)
    some = counts >= LEAST_ELEMENTS
    each[some] = (residual**2).sum(axis=axis)[some] / counts[some]
    names = [one.supply for one in fit.data.columns] if column else list(fit.data.rows)
    limit = max(LEAST_CHI2, FAR_CHI2 * float(np.nanmedian(each))) if some.any() else np.inf
    usual = np.nanmedian(each) if some.any() else np.nan
    for at in np.flatnonzero(np.nan_to_num(each) > limit):
        what = f"lies: its χ² is {each[at]:.3g} for each element, {each[at] / usual:.3g} times the usual"
        yield float(each[at]), Fault("chi2", column, int(at), names[at], what)


def again(fit: Fit) -> list[Fault]:
    """The comparison with the model as fitted, and what its χ² says where that finds nothing. Sharper than before."""
    sharper = [one for one in before_fit(fit.data, _as_fitted(fit)) if one.kind != "gain"]
    known = {(one.column, one.at) for one in sharper}
    return sharper + [one for one in after_fit(fit) if (one.column, one.at) not in known]


def confirmed(faults: Sequence[Fault], data: Data, fit: Fit) -> list[Fault]:
    """Those of places and gains that the fitted model tells, too: beside the design, errors of the optics look so.

    ``data``: as measured, with what the fit left out.
    """
    seen = {(one.column, one.at) for one in before_fit(data, _as_fitted(fit)) if one.excludes}
    planes = (np.repeat([0, 1], data.bpms), np.array([one.plane for one in data.columns]))
    gains = fit.state.own, fit.state.gain

    def is_confirmed(one: Fault) -> bool:
        if one.kind == "gain":
            alike = gains[one.column][planes[one.column] == planes[one.column][one.at]]
            return bool(abs(gains[one.column][one.at] / np.median(alike) - 1) > LYING)
        return one.kind != "swapped" or (one.column, one.at) in seen

    return [one for one in faults if is_confirmed(one)]


def _as_fitted(fit: Fit) -> Answers:
    return replace(fit.answers, main=reading_of(fit))


def reading_of(fit: Fit) -> Floats:
    """[row, column] what the fitted model reads."""
    return reading(fit.answers, fit.state)[:, :-1]


def excluded(data: Data, faults: Sequence[Fault]) -> Data:
    """Without what is at fault."""
    rows = [one.at for one in faults if one.excludes and not one.column]
    columns = [one.at for one in faults if one.excludes and one.column]
    return data.without(rows, columns)


def repaired(data: Data, faults: Sequence[Fault]) -> Data:
    """With signs and places put right, and without what cannot be: each reading goes where it belongs."""
    values, sigma = data.values.copy(), data.sigma.copy()
    for of_columns in (False, True):
        moved = [one for one in faults if one.is_repairable and one.column == of_columns]
        taken = values.T if of_columns else values
        errors = sigma.T if of_columns else sigma
        before, before_errors = taken.copy(), errors.copy()
        for one in moved:
            errors[one.at] = np.inf
        for one in moved:
            to = one.at if one.instead is None else one.instead
            taken[to], errors[to] = one.sign * before[one.at], before_errors[one.at]
    hopeless = [one for one in faults if not one.is_repairable]
    return excluded(replace(data, values=values, sigma=sigma), hopeless)
