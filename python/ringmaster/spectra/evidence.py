# SPDX-License-Identifier: Apache-2.0
"""How likely a motion is made by readbacks alone, by one more source, or by anything else; in closed form.

Motion is Y, shape (K pieces, B BPMs), whitened: its noise is of variance 1, up to a factor f. ``read`` are readbacks,
P = read Rᵀ what they predict. Responses are wrong by a share ε at each BPM, and P by a gain g. Over the pieces that is
a covariance W = ε² Σ r r† mean(R²) + f; and P P† γ²/B beside it where a line has its own free pattern.

**Nothing** else: Y = (1 + g) P + noise, Gaussian.

**A line**: Y = (1 + g) P + u cᵀ + noise. u says how the line goes on from piece to piece, any unit vector; c is what it
does at the BPMs: a pattern that is the same in all pieces, so that an error of it counts once and not K times. Of a
source h, c = a (R_h + e). Of anything else, c is any pattern at all; or an orbit, as many sources together make one, of
covariance R Rᵀ. e is half of the one kind and half of the other: BPMs that are wrong, and optics that are.

Given u all is Gaussian, and the exponent is a quadratic form u† M u. Its mean over all u is the normalisation of the
complex Bingham distribution, here by saddle point (A. Kume, A. Wood, Biometrika 92, 465 (2005)).
"""

import numpy as np

from ringmaster.spectra.cross import Complexes
from ringmaster.spectra.density import Floats

MODEL_ERROR = 0.1
"""σ of g."""
STEPS = 7
"""Of the search for the saddle point; Newton's, so that few are enough."""


class Evidence:
    """Of one motion and its readbacks. All results are logarithms of densities, but for one constant."""

    def __init__(self, y: Complexes, read: Complexes, columns: Floats) -> None:
        self.pieces, self.bpms = y.shape
        self.predicted = read @ columns.T
        self.residual = y - self.predicted
        self.between = (read * np.mean(columns**2, axis=0)) @ read.conj().T
        """Of errors of the responses, for an ε of 1."""
        orbits, self.basis = np.linalg.eigh(columns @ columns.T)
        self.orbits = np.maximum(orbits, 0.0) * self.bpms / np.trace(columns @ columns.T)
        """Variance of orbits along each column of ``basis``; its mean is 1."""
        self.gain = MODEL_ERROR**2 * (self.predicted @ self.predicted.conj().T) / self.bpms

    def nothing(self, epsilon: float, factors: Floats) -> list[float]:
        """Readbacks and noise, for each factor of the noise."""
        value, frame = np.linalg.eigh(epsilon**2 * self.between)
        residual, predicted = (frame.conj().T @ one for one in (self.residual, self.predicted))
        alpha = np.maximum(value, 0.0) + factors[:, None]
        rr = np.sum(np.sum(np.abs(residual) ** 2, axis=1) / alpha, axis=1)
        pp = np.sum(np.sum(np.abs(predicted) ** 2, axis=1) / alpha, axis=1)
        pr = np.sum(np.sum(predicted.conj() * residual, axis=1) / alpha, axis=1)
        spread = 1 + MODEL_ERROR**2 * pp
        squares = rr - MODEL_ERROR**2 * np.abs(pr) ** 2 / spread
        made: list[float] = (-squares - np.log(spread) - self.bpms * np.sum(np.log(alpha), axis=1)).tolist()
        return made

    def line(self, epsilon: float, factor: float) -> "Line":
        """For lines beside the readbacks."""
        return Line(self, epsilon, factor)


class Line:
    """Likelihoods of one line, for an error of what readbacks predict and a factor of the noise."""

    def __init__(self, whole: Evidence, epsilon: float, factor: float) -> None:
        covariance = epsilon**2 * whole.between + whole.gain + factor * np.eye(whole.pieces)
        root = np.linalg.cholesky(covariance)
        self.whole = whole
        self.z = np.linalg.solve(root, whole.residual) @ whole.basis
        determinant = 2 * whole.bpms * float(np.sum(np.log(np.abs(np.diag(root)))))
        self.power = float(np.sum(np.abs(self.z) ** 2))
        self.noise = -self.power - determinant

    def any_pattern(self, sizes: Floats) -> Floats:
        """Of a line with any pattern, of these powers at a BPM; shape (sizes,)."""
        value = np.maximum(np.linalg.eigvalsh(self.z @ self.z.conj().T), 0.0)
        return self._free((sizes / (1 + sizes))[:, None] * value, 1 + sizes[:, None] * np.ones(self.whole.bpms))

    def any_orbit(self, sizes: Floats) -> Floats:
        """Of a line with a pattern that many sources together make."""
        variance = 1 + sizes[:, None] * self.whole.orbits
        return self._free(self._form(variance)[0], variance)

    def any_motion(self, sizes: Floats) -> Floats:
        """Of a motion that is another one in each piece."""
        return np.asarray(self.noise - self.z.size * np.log1p(sizes) + self.power * sizes / (1 + sizes))

    def _free(self, own: Floats, variance: Floats) -> Floats:
        """Of patterns with these variances along the basis, shape (sizes, BPMs), and eigenvalues of the form of u."""
        none = np.zeros((len(own), 1))
        made = log_mean(own, np.zeros((len(own), 1, own.shape[1])), none)[:, 0]
        return np.asarray(self.noise + made - np.sum(np.log(variance), axis=1))

    def _form(self, variance: Floats) -> tuple[Floats, Complexes]:
        """Eigenvalues and vectors of the quadratic form of u."""
        value, frame = np.linalg.eigh((self.z * (1 - 1 / variance)[:, None, :]) @ self.z.conj().T)
        return np.maximum(value, 0.0), frame

    def sources(self, columns: Floats, errors: Floats) -> Floats:
        """Of lines with the patterns ``columns``, shape (BPMs, sources), of the power that the line has.

        The likelihood of one number hardly depends on what power was expected of it. So that is not integrated over:
        the integral over its logarithm is e times it. ``errors`` are the ε of the pattern; shape (errors, sources).
        """
        size = max(1.0, float(np.linalg.norm(self.z, 2)) ** 2 / self.whole.bpms)
        pattern = self.whole.basis.T @ (columns / np.linalg.norm(columns, axis=0))
        variance = 1 + size * errors[:, None] ** 2 * (1 + self.whole.orbits) / 2
        own, frame = self._form(variance)
        weighted = pattern / variance[:, :, None]
        norm = np.sum(pattern * weighted, axis=1)
        along = frame.conj().transpose(0, 2, 1) @ (self.z @ weighted)
        power = np.ascontiguousarray((np.abs(along) ** 2).transpose(0, 2, 1))
        lifted = size * self.whole.bpms
        made = log_mean(own, power, lifted / (1 + lifted * norm))
        return np.asarray(self.noise + made - np.sum(np.log(variance), axis=1)[:, None] - np.log1p(lifted * norm))


def log_mean(own: Floats, power: Floats, lifted: Floats) -> Floats:
    """Log of the mean of exp(u† M u) over all complex unit vectors u of K, M = diag(own) + lifted × v v†.

    ``own`` is (sizes, K); ``power``, which is |v|², (sizes, sources, K); ``lifted`` and the result (sizes, sources).
    The saddle point θ has tr (θ − M)⁻¹ = 1; it is 1 to K above M's largest eigenvalue. Newton's steps come to both
    from below: 1/tr and 1/(v† (θ − diag)⁻¹ v) are concave.
    """
    own = own[:, None, :]
    size = own.shape[-1]
    theta = np.broadcast_to(own.max(axis=-1) + 1, lifted.shape)
    for _ in range(STEPS):
        at = _Saddle(theta, own, power, lifted)
        to_eigenvalue = (lifted - 1 / at.first) * at.first**2 / at.second + 1
        theta = theta + np.where(at.inside > 0, (1 - 1 / at.trace) * at.trace**2 / at.square, to_eigenvalue)
    at = _Saddle(theta, own, power, lifted)
    usual = size - size * np.log(size) + np.log(size) / 2
    return np.asarray(theta - at.log_determinant - np.log(at.square) / 2 - usual)


class _Saddle:
    """Of θ − M: sums over the diagonal, which are all that its one further term needs (Sherman and Morrison)."""

    def __init__(self, theta: Floats, own: Floats, power: Floats, lifted: Floats) -> None:
        inverse = 1 / (theta[..., None] - own)
        seen = power * inverse
        self.first = np.maximum(np.sum(seen, axis=-1), 1e-300)
        seen *= inverse
        self.second = np.maximum(np.sum(seen, axis=-1), 1e-300)
        third = np.sum(seen * inverse, axis=-1)
        self.inside = 1 - lifted * self.first
        """The determinant over that of the diagonal; not above 0 below the largest eigenvalue."""
        safe = np.where(self.inside > 0, self.inside, 1.0)
        self.trace = np.sum(inverse, axis=-1) + lifted * self.second / safe
        self.square = np.sum(inverse**2, axis=-1) + lifted * (2 * third * safe + lifted * self.second**2) / safe**2
        """Trace of the square of the inverse."""
        self.log_determinant = np.log(safe) - np.sum(np.log(inverse), axis=-1)
