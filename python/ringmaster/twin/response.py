# SPDX-License-Identifier: Apache-2.0
"""How the closed orbit answers to correctors and to the RF frequency."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib
from ringmaster.twin.elements import Kind
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.orbit import Orbiting
from ringmaster.twin.points import Refpts

PLANES = {0: 0, "x": 0, "h": 0, "H": 0, 1: 1, "y": 1, "v": 1, "V": 1}
ROUNDING = 1e-12
"""Singular values below this share of the largest are zeros."""
Steerer = tuple[int, int | str]
"""Index of an element, and plane."""


def plane_index(plane: int | str) -> int:
    """0 or 1 from 0, "x", "h", "H", or 1, "y", "v", "V"."""
    if plane not in PLANES:
        raise TwinArgument(f"found plane {plane!r}, expected one of {', '.join(map(str, PLANES))}")
    return PLANES[plane]


class _Asked:
    """What the functions of the orbit's response take."""

    def __init__(
        self,
        machine: Machine,
        bpmrefs: Refpts,
        steerers: Sequence[Steerer],
        kick: float,
        rf_step: float,
        dp: float | None,
    ) -> None:
        self.machine = machine
        self.points: Points = machine.get_uint32_index(bpmrefs)
        if not len(self.points):
            raise TwinArgument("no BPMs to answer: the lattice has none of these, so name others by bpmrefs")
        self.steerers = ffi.new("struct rm_steerer[]", len(steerers))
        for made, (element, plane) in zip(self.steerers, steerers, strict=True):
            made.element, made.plane = int(element), plane_index(plane)
        self._orbiting = Orbiting(machine, dp)
        self.options = ffi.new("struct rm_response_options *")
        self.options.orbit = self._orbiting.struct[0]
        self.options.kick_rad, self.options.rf_step_hz = kick, rf_step

    def matrix(self, function: Any, *more: Any) -> Floats:
        made = np.empty((2, len(self.points), len(self.steerers) + 1))
        points = buffer("uint32_t", self.points), len(self.points)
        out = buffer("double", made)
        call(function, self.machine.pointer, self.options, *points, self.steerers, len(self.steerers), *more, out)
        return made


def orbit_response(
    ring: Ring,
    bpmrefs: Refpts = Kind.MONITOR,
    steerers: Sequence[Steerer] = (),
    *,
    tracked: bool = False,
    kick: float = 0.0,
    rf_step: float = 0.0,
    dp: float | None = None,
) -> Floats:
    """All of it at once: (2 planes, points, steerers + 1), m/rad, of both planes' readings to each steerer.

    The last column is of the RF frequency, m/Hz (4D: of δ, m). ``steerers`` are (element, plane). From the one-turn
    matrix, or with ``tracked`` by closed orbits at kicks of ± ``kick`` (0: 1e-7 rad) and ± ``rf_step`` (0: 1 Hz).
    """
    function = lib.rm_twin_response_tracked if tracked else lib.rm_twin_response
    return _Asked(machine_of(ring), bpmrefs, steerers, kick, rf_step, dp).matrix(function)


def response_derivative(
    ring: Ring,
    magnet: int,
    bpmrefs: Refpts = Kind.MONITOR,
    steerers: Sequence[Steerer] = (),
    *,
    component: str = "B",
    dp: float | None = None,
) -> Floats:
    """Derivative of :func:`orbit_response` by PolynomB[1] ("B") or PolynomA[1] ("A") of a magnet, per m^-2."""
    which = lib.RM_NORMAL if component == "B" else lib.RM_SKEW
    asked = _Asked(machine_of(ring), bpmrefs, steerers, 0.0, 0.0, dp)
    return asked.matrix(lib.rm_twin_response_derivative, magnet, which)


def response_factors(
    ring: Ring,
    magnets: Sequence[int],
    bpmrefs: Refpts = Kind.MONITOR,
    steerers: Sequence[Steerer] = (),
    *,
    component: str = "B",
    dp: float | None = None,
) -> tuple[Floats, Floats]:
    """Derivatives of :func:`orbit_response` by PolynomB[1] or PolynomA[1] of many magnets, per m^-2, as products.

    ``left`` (magnets, 2 planes, points, 6) times ``right`` (magnets, 6, steerers + 1) are these derivatives, at a
    closed orbit that stays where it is.
    """
    which = lib.RM_NORMAL if component == "B" else lib.RM_SKEW
    asked = _Asked(machine_of(ring), bpmrefs, steerers, 0.0, 0.0, dp)
    indices: Points = np.ascontiguousarray(magnets, np.uint32)
    left = np.empty((len(indices), 2, len(asked.points), 6))
    right = np.empty((len(indices), 6, len(steerers) + 1))
    out = buffer("double", left), buffer("double", right)
    points = buffer("uint32_t", asked.points), len(asked.points)
    given = *points, asked.steerers, len(steerers), buffer("uint32_t", indices), len(indices), which
    call(lib.rm_twin_response_factors, asked.machine.pointer, asked.options, *given, *out)
    return left, right


class OrbitResponseMatrix:
    """One plane's readings to the same plane's steerers, as the Accelerator Toolbox has it.

    ::

        matrix = OrbitResponseMatrix(twin, "h", cavrefs=Kind.CAVITY)
        matrix.build_analytical()
        kicks = matrix.get_correction(orbit)  # to be added
    """

    def __init__(
        self,
        ring: Ring,
        plane: int | str,
        bpmrefs: Refpts = Kind.MONITOR,
        steerrefs: Refpts = Kind.CORRECTOR,
        *,
        cavrefs: Refpts = None,
        steerdelta: float = 0.0,
        cavdelta: float = 0.0,
    ) -> None:
        """``cavrefs``: not None for a last column of the RF frequency, of all cavities.

        ``steerdelta`` (0: 1e-7 rad) and ``cavdelta`` (0: 1 Hz) are the steps of ``build``.
        """
        self._machine = machine_of(ring)
        self.plane = plane_index(plane)
        self.bpmrefs = self._machine.get_uint32_index(bpmrefs)
        self.steerrefs = self._machine.get_uint32_index(steerrefs)
        self._has_rf = cavrefs is not None
        if not len(self.steerrefs) and not self._has_rf:
            raise TwinArgument(
                "no correctors to steer with: the lattice has none of these, so name others by steerrefs"
            )
        self._steps = steerdelta, cavdelta
        self._response: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Readings, steerers (and RF)."""
        return len(self.bpmrefs), len(self.steerrefs) + self._has_rf

    @property
    def response(self) -> Floats:
        """Readings (m) per steerer (rad), and RF frequency (Hz): as ``shape``."""
        if self._response is None:
            raise TwinArgument("no matrix yet: call build_analytical() or build_tracking() first")
        return self._response

    def build_analytical(self, *, dp: float | None = None) -> Floats:
        """From the one-turn matrix."""
        return self._built(False, dp)

    def build_tracking(self, *, dp: float | None = None) -> Floats:
        """From closed orbits at changed kicks: what the Accelerator Toolbox calls ``build``."""
        return self._built(True, dp)

    build = build_tracking

    def _built(self, tracked: bool, dp: float | None) -> Floats:
        steerers = [(int(i), self.plane) for i in self.steerrefs]
        kick, rf_step = self._steps
        both = orbit_response(self._machine, self.bpmrefs, steerers, tracked=tracked, kick=kick, rf_step=rf_step, dp=dp)
        self._response = both[self.plane, :, : self.shape[1]].copy()
        return self._response

    def correction_matrix(self, nvals: int | None = None) -> Floats:
        """The pseudo-inverse by the ``nvals`` largest singular values (None: all but zeros), rad/m and Hz/m.

        Before, the RF frequency's column is scaled to the steerers' mean length, or it would be the first to go.
        """
        weights = self._weights()
        u, s, vh = np.linalg.svd(self.response * weights, full_matrices=False)
        kept = np.flatnonzero(s > s[0] * ROUNDING)[:nvals]
        return np.asarray(weights[:, None] * (vh[kept].T / s[kept]) @ u[:, kept].T, np.float64)

    def _weights(self) -> Floats:
        lengths = np.linalg.norm(self.response, axis=0)
        weights = np.ones(len(lengths))
        if self._has_rf and lengths[-1] > 0.0:
            weights[-1] = lengths[:-1].mean() / lengths[-1]
        return weights

    def get_correction(self, deviation: Floats, nvals: int | None = None) -> Floats:
        """What to add to the steerers (rad), and to the RF frequency (Hz), against a deviation of the readings (m)."""
        return -self.correction_matrix(nvals) @ deviation
