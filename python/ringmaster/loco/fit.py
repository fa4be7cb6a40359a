# SPDX-License-Identifier: Apache-2.0
"""The fit: Levenberg and Marquardt with priors, or Gauss and Newton with a cut of singular values.

What is minimised is χ² plus (θ/σ)² of each parameter with a prior. A common factor of all BPM gains of a plane against
all corrector gains changes nothing but dispersion and what couples the planes. Where these tell too little of it, the
mean corrector gain of the plane is taken to be 1, and errors are those under this condition.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ringmaster.errors import TwinNoAnswer
from ringmaster.loco.data import Data
from ringmaster.loco.model import Answers, Floats, Model, State, reading
from ringmaster.loco.normal import gradient_of, normal_matrix, parts_of

Progress = Callable[[int, float], None]
"""Of an iteration and its χ² per degree of freedom."""
NEAR = 1e-2
"""Of the square of what a step moves a parameter, over its error: after such a one the normal matrix serves for errors.
"""
KNOWN = 2e-3
"""A mean corrector gain that is known so well by what was measured is no convention."""
DONE = 1e-4
"""What a step has to gain of χ² for each parameter, for another one: it moves them by a hundredth of their errors."""
GOOD = 0.8
"""Of what a step promised: then the next one needs no new normal matrix."""
LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e6
"""Of the scaled normal matrix, whose diagonal is 1."""


@dataclass(frozen=True)
class Options:
    """How to fit."""

    gains: bool = True
    """Of BPMs."""
    cross: bool = True
    """What a BPM has of the other plane: roll, crunch."""
    kicks: bool = True
    """Gains of correctors."""
    rolls: bool = True
    """Of correctors."""
    energy: bool = False
    """Energy shifts of correctors."""
    gain_sigma: float = 0.2
    """Prior width of gains of BPMs and correctors. inf: none."""
    roll_sigma: float = 0.1
    """Of rolls and cross terms, rad and 1."""
    cut: float | None = None
    """Gauss and Newton, without priors: singular values below this share of the largest count as zero."""
    gauge: bool = True
    """Takes the mean corrector gain of a plane to be 1 where nothing tells it."""
    dispersion_weights: tuple[float, float] = (1.0, 1.0)
    """Of x and y, over 1/σ; what is reported as χ² has them not."""
    outliers: float | None = None
    """Leaves out elements whose residual is so many standard deviations of all residuals off."""
    iterations: int = 12


@dataclass
class Fit:
    """What came out."""

    model: Model
    data: Data
    """As it was fitted: without what was left out on the way."""
    state: State
    sigma: State
    """Standard errors by the noise of the data and the priors. NaN: not fitted."""
    chi2: float
    elements: int
    """Of the response, with dispersion."""
    parameters: int
    """Fitted ones."""
    effective: float
    """Of them, what the data decided and not the priors."""
    singular_values: Floats
    """Of the weighted derivatives with columns scaled, largest first."""
    used: int
    """Singular values that were not cut."""
    history: list[float]
    """χ² per degree of freedom, before the first step and after each."""
    residual: Floats
    """[row, column + RF] measured − model, over σ; 0 of what was left out."""
    conventions: tuple[str, ...]
    """What of the null directions was held, and by what."""
    converged: bool
    covariance: Floats = field(repr=False)
    """Of the fitted parameters."""
    free: NDArray[np.intp] = field(repr=False)
    """Their places in a state's vector."""
    answers: Answers = field(repr=False)

    @property
    def freedom(self) -> float:
        """Degrees of freedom: elements less what the data decided."""
        return max(1.0, self.elements - self.effective)

    @property
    def reduced(self) -> float:
        """χ² per degree of freedom."""
        return self.chi2 / self.freedom


class Fitter:
    """One fit while it runs."""

    def __init__(self, model: Model, data: Data, options: Options, begin: State | None = None) -> None:
        rows, columns = model.shape
        self.model, self.options = model, options
        self.begin = begin or State.ideal(len(model.gradients), rows // 2, columns)
        self.conventions: list[str] = []
        self._set_data(data)
        self.free, self.center, self.precision = self._parameters(rows, columns)

    def _set_data(self, data: Data) -> None:
        self.data, self.values = data, data.clean
        self.weights = data.weights**2
        x, y = self.options.dispersion_weights
        self.scaled = self.weights.copy()
        self.scaled[: data.bpms, -1] *= x**2
        self.scaled[data.bpms :, -1] *= y**2
        self.elements = int((self.weights > 0).sum())

    def _parameters(self, rows: int, columns: int) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Which are fitted, what they are expected to be, and how surely: 1/σ²."""
        o = self.options
        seen_rows, seen = (self.weights[:, :-1] > 0).any(axis=1), (self.weights[:, :-1] > 0).any(axis=0)
        gradients = len(self.model.gradients)
        of_rows, of_columns = (
            (o.gains & seen_rows, o.cross & seen_rows),
            (o.kicks & seen, o.rolls & seen, o.energy & seen),
        )
        asked = np.concatenate([np.ones(gradients, bool), *of_rows, *of_columns])
        sigma = [one.sigma for one in self.model.gradients]
        widths = [o.gain_sigma, o.roll_sigma, o.gain_sigma, o.roll_sigma, np.inf]
        counts = [rows, rows, columns, columns, columns]
        width = np.concatenate([sigma, *[np.full(n, w) for n, w in zip(counts, widths, strict=True)]])
        precision = np.zeros(len(width)) if o.cut is not None else 1 / width**2
        free = np.flatnonzero(asked)
        return free, State.ideal(gradients, rows // 2, columns).vector[free], precision[free]

    def run(self, progress: Progress = lambda _n, _chi2: None) -> Fit:
        """Steps until χ² stands. Ctrl-C stops where it is. Raises TwinNoAnswer where the begin has no answer."""
        state = self.begin
        answers = self.model.answers(state.gradients)
        cost = self._cost(answers, state)
        history = [self._reduced(answers, state)]
        progress(0, history[0])
        damping, normal, converged, moved = 0.0, None, False, np.inf
        try:
            for iteration in range(1, self.options.iterations + 1):
                if self.options.outliers is not None:
                    self._drop_outliers(answers, state)
                    cost = self._cost(answers, state)
                moved = 0.0 if normal is None else moved
                normal, slope = self._equations(answers, state, normal)
                step, damping, found = self._step(answers, state, cost, normal, slope, damping)
                if found is None:
                    converged = True
                    break
                promised = float(slope @ step - step @ normal @ step / 2) * 2
                gained = cost - found[2]
                answers, state, cost = found
                moved += float(step @ normal @ step)
                history.append(self._reduced(answers, state))
                progress(iteration, history[-1])
                if gained < self._enough(cost):
                    converged = True
                    break
                if gained < GOOD * promised or gained > cost or self.options.cut is not None:
                    normal = None
        except KeyboardInterrupt:
            pass
        return self._result(answers, state, history, converged, normal if moved < NEAR * len(self.free) else None)

    def _equations(self, answers: Answers, state: State, normal: Floats | None) -> tuple[Floats, Floats]:
        """Normal matrix, with priors, and the downhill slope of half the cost; of the free parameters."""
        self.model.put(state.gradients)
        parts = parts_of(self.model.factors(state), answers, state, self.scaled)
        residual = np.where(self.scaled > 0, self.values - reading(answers, state), 0.0)
        slope = gradient_of(parts, residual)[self.free] - self.precision * (state.vector[self.free] - self.center)
        if normal is None:
            normal = normal_matrix(parts)[np.ix_(self.free, self.free)]
            normal[np.diag_indices_from(normal)] += self.precision
        return normal, slope

    def _cost(self, answers: Answers, state: State) -> float:
        residual = np.where(self.scaled > 0, self.values - reading(answers, state), 0.0)
        off = state.vector[self.free] - self.center
        return float((self.scaled * residual**2).sum() + (self.precision * off**2).sum())

    def _step(
        self, answers: Answers, state: State, cost: float, normal: Floats, slope: Floats, damping: float
    ) -> tuple[Floats, float, tuple[Answers, State, float] | None]:
        """One that makes it better, with more damping until it does; None where there is none."""
        while True:
            step = self._solved(normal, slope, answers, state, damping)
            whole = np.zeros(len(state.vector))
            whole[self.free] = step
            tried = state.changed(whole)
            try:
                moved = self.model.answers(tried.gradients)
                new = self._cost(moved, tried)
            except TwinNoAnswer:
                new = np.inf
            if new < cost:
                return step, damping / 100 if damping > LEAST_DAMPING else 0.0, (moved, tried, new)
            if float(slope @ step) < self._enough(cost) or damping > MOST_DAMPING:
                return step, damping, None
            damping = max(damping * 10, LEAST_DAMPING)

    def _enough(self, cost: float) -> float:
        return DONE * len(self.free) + 1e-7 * cost

    def _solved(self, normal: Floats, slope: Floats, answers: Answers, state: State, damping: float) -> Floats:
        scale = self._scale(normal, answers, state)
        scaled = normal / np.outer(scale, scale)
        if self.options.cut is not None:
            values, vectors = scipy.linalg.eigh(scaled)
            kept = values > values[-1] * self.options.cut**2
            part = vectors[:, kept] / (values[kept] + damping * values[-1])
            return np.asarray(part @ (vectors[:, kept].T @ (slope / scale)) / scale, np.float64)
        scaled[np.diag_indices_from(scaled)] += damping
        factor = scipy.linalg.cho_factor(scaled, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(scipy.linalg.cho_solve(factor, slope / scale) / scale, np.float64)

    def _scale(self, normal: Floats, answers: Answers, state: State) -> Floats:
        """Of the columns. With a cut as MATLAB's LOCO has it, which decides what is small: gains by their values,
        couplings and gradients until they weigh as much as the whole response.
        """
        length = np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
        if self.options.cut is None:
            return np.asarray(length, np.float64)
        rows, columns = self.model.shape
        gradients = len(self.model.gradients)
        whole = np.sqrt(float((self.scaled * reading(answers, state) ** 2).sum()))
        scale = np.zeros(len(state.vector))
        scale[self.free] = length / whole
        scale[gradients : gradients + 2 * rows] = 1.0
        begin = gradients + 2 * rows
        scale[begin : begin + columns] = 1 / state.gain
        return scale[self.free]

    def _drop_outliers(self, answers: Answers, state: State) -> None:
        residual = self.values - reading(answers, state)
        kept = self.weights > 0
        for _ in range(2):
            far = np.abs(residual - residual[kept].mean()) > (self.options.outliers or np.inf) * residual[kept].std()
            kept &= ~far
        if kept.sum() < self.elements:
            self._set_data(self.data.kept(kept))

    def _reduced(self, answers: Answers, state: State) -> float:
        """By the count of parameters, which is at hand in each iteration."""
        residual = np.where(self.weights > 0, self.values - reading(answers, state), 0.0)
        return float((self.weights * residual**2).sum()) / max(1, self.elements - len(self.free))

    def _result(
        self, answers: Answers, state: State, history: list[float], converged: bool, normal: Floats | None
    ) -> Fit:
        """``normal``: of the last step, if that is near enough."""
        if normal is None:
            normal, _ = self._equations(answers, state, None)
        scale = self._scale(normal, answers, state)
        pure = normal.copy()
        pure[np.diag_indices_from(pure)] -= self.precision
        if self.options.cut is not None:
            values, vectors = scipy.linalg.eigh(pure / np.outer(scale, scale))
            kept = values > values[-1] * self.options.cut**2
            part = vectors[:, kept] / np.sqrt(values[kept])
            covariance = part @ part.T / np.outer(scale, scale)
            used, effective = int(kept.sum()), float(len(self.free))
            self.conventions.append(f"singular values below {self.options.cut:g} of the largest count as zero")
        else:
            values = scipy.linalg.eigvalsh(pure / np.outer(scale, scale), check_finite=False)
            factor = scipy.linalg.cho_factor(normal / np.outer(scale, scale), lower=True, check_finite=False)
            covariance = scipy.linalg.cho_solve(factor, np.eye(len(scale)), check_finite=False) / np.outer(scale, scale)
            used, effective = len(values), float(np.einsum("ij,ji->", covariance, pure))
            if self.options.gauge and self.options.gains and self.options.kicks:
                state, covariance = self._gauged(state, covariance)
                answers = self.model.answers(state.gradients)
        sigma = np.full(len(state.vector), np.nan)
        sigma[self.free] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        residual = np.where(self.weights > 0, self.values - reading(answers, state), 0.0) * self.data.weights
        return Fit(
            model=self.model,
            data=self.data,
            state=state,
            sigma=state.changed(sigma - state.vector),
            chi2=float((residual**2).sum()),
            elements=self.elements,
            parameters=len(self.free),
            effective=effective,
            singular_values=np.sqrt(np.maximum(values[::-1], 0.0)),
            used=used,
            history=history,
            residual=residual,
            conventions=tuple(self.conventions),
            converged=converged,
            covariance=covariance,
            free=self.free,
            answers=answers,
        )

    def _gauged(self, state: State, covariance: Floats) -> tuple[State, Floats]:
        """Under the condition that mean corrector gains are 1 where nothing measured says what they are."""
        rows = self.model.shape[0]
        at = len(self.model.gradients) + 2 * rows
        for plane, name in enumerate("xy"):
            of_plane = [at + i for i, one in enumerate(self.model.columns) if one.plane == plane]
            places = np.flatnonzero(np.isin(self.free, of_plane))
            if not len(places):
                continue
            of_mean = covariance[:, places].mean(axis=1)
            variance = float(of_mean[places].mean())
            sigma = np.sqrt(variance)
            if sigma < KNOWN:
                by = "the dispersion" if plane == 0 and self.data.has_dispersion else "the coupling of the planes"
                self.conventions.append(
                    f"{name}: {by} tells the common scale of BPMs and correctors, to {100 * sigma:.2g} %"
                )
                continue
            state = scaled(state, self.model, plane, float(state.vector[self.free[places]].mean()))
            covariance = covariance - np.outer(of_mean, of_mean) / variance
            self.conventions.append(
                f"{name}: nothing tells the common scale of BPMs and correctors: the mean corrector gain is set to 1"
            )
        return state, covariance


def scaled(state: State, model: Model, plane: int, by: float) -> State:
    """The same machine with all kicks of a plane smaller, and all readings of this plane larger, by a factor."""
    half = len(state.own) // 2
    own, cross, gain, roll = state.own.copy(), state.cross.copy(), state.gain.copy(), state.roll.copy()
    of_plane = np.array([one.plane == plane for one in model.columns])
    own[plane * half : (plane + 1) * half] *= by
    cross[(1 - plane) * half : (2 - plane) * half] *= by
    gain[of_plane] /= by
    roll[of_plane] *= by
    roll[~of_plane] /= by
    return State(state.gradients, own, cross, gain, roll, state.energy)


def fit(model: Model, data: Data, options: Options | None = None, progress: Progress = lambda _n, _chi2: None) -> Fit:
    """Fits a model to data."""
    return Fitter(model, data, options or Options()).run(progress)
