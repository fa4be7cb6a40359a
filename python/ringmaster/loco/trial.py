# SPDX-License-Identifier: Apache-2.0
"""A twin with errors that are known, and the response that would be measured of it: for tests and `bench loco`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.errors import TwinNoAnswer
from ringmaster.loco.data import NM, Data
from ringmaster.loco.fit import scaled
from ringmaster.loco.gradients import Gradient
from ringmaster.loco.model import Column, Floats, Model, State, reading
from ringmaster.response.measured import MeasuredResponse
from ringmaster.twin import Twin

X_NM_PER_READING = 200.0
"""Noise of a 10 kHz reading, RMS."""
READINGS = 96_420
"""In ten seconds."""
MACHINE_UM = 30.0
"""RMS of the orbit of all correctors' sines together, in each plane."""
USERS_UM = {0: 1.2, 1: 0.12}
"""The same of users' mode, some per cent of a beam size: so elements are known to 1 % (x) and 10 % (y)."""


@dataclass(frozen=True)
class Errors:
    """Of a machine, RMS; normal numbers cut at two sigma."""

    beta_beat: float = 0.1
    """Gradients are scaled until β is off by so much."""
    skew: float = 1.0
    """Of the prior widths."""
    bpm_gain: float = 0.03
    bpm_cross: float = 0.02
    kick_gain: float = 0.05
    kick_roll: float = 0.02


@dataclass(frozen=True)
class Machine:
    """One with errors."""

    state: State
    beating: float
    """RMS, of both planes at the BPMs."""


def made(model: Model, errors: Errors, seed: int) -> Machine:
    """Draws errors. Gradients are drawn by their priors, which say how they share, and scaled to the beating asked."""
    rng = np.random.default_rng(seed)
    rows, columns = model.shape

    def drawn(count: int, sigma: float | Floats) -> Floats:
        return np.clip(rng.standard_normal(count), -2, 2) * sigma

    widths = np.array([one.sigma for one in model.gradients])
    skew = np.array([one.component == "A" for one in model.gradients])
    shape = drawn(len(widths), widths)
    ideal = beta_of(model, np.zeros(len(widths)))
    scale, low, high = 1.0, 0.0, np.inf
    for _ in range(12):
        found = _beating_or_inf(model, scale * np.where(skew, 0, shape), ideal)
        low, high = (scale, high) if found < errors.beta_beat else (low, scale)
        tried = scale * (np.clip(errors.beta_beat / found, 0.3, 2.0) if found else 1.0)
        scale = float(tried if low < tried < high or not found else (low + high) / 2)
    gradients = np.where(skew, errors.skew, scale) * shape
    state = State(
        gradients,
        1 + drawn(rows, errors.bpm_gain),
        drawn(rows, errors.bpm_cross),
        1 + drawn(columns, errors.kick_gain),
        drawn(columns, errors.kick_roll),
        np.zeros(columns),
    )
    return Machine(state, beating_of(model, gradients, ideal))


def beta_of(model: Model, gradients: Floats) -> Floats:
    """[BPM, plane] of the twin at these gradients."""
    model.put(gradients)
    _, _, optics = model.twin.get_optics(model.bpms)
    return np.asarray(optics.beta[:, :2], np.float64)


def beating_of(model: Model, gradients: Floats, design: Floats) -> float:
    """RMS of Δβ/β over BPMs and planes."""
    return float(np.sqrt(np.mean((beta_of(model, gradients) / design - 1) ** 2)))


def _beating_or_inf(model: Model, gradients: Floats, design: Floats) -> float:
    try:
        return beating_of(model, gradients, design)
    except TwinNoAnswer:
        return np.inf


def measured(model: Model, machine: Machine, users: bool, seed: int) -> Data:
    """Of one measurement of ten seconds, with its noise."""
    rng = np.random.default_rng(seed)
    exact = reading(model.answers(machine.state.gradients), machine.state)
    sigma = noise_of(model, exact, users)
    values = exact + sigma * rng.standard_normal(exact.shape)
    return Data(_rows(len(model.bpms)), model.columns, values, sigma)


def as_measured(data: Data) -> MeasuredResponse:
    """As `ringmaster response measure` writes it: rows in the order of the BPMs, nm."""
    order = [plane * data.bpms + bpm for bpm in range(data.bpms) for plane in (0, 1)]
    values, sigma = data.values[order] / NM, data.sigma[order] / NM
    quiet = np.full(len(order), X_NM_PER_READING)
    return MeasuredResponse(
        rows=tuple(data.rows[at] for at in order),
        columns=tuple(one.supply for one in data.columns),
        values=values[:, :-1],
        sigma=sigma[:, :-1],
        dispersion=values[:, -1],
        dispersion_sigma=sigma[:, -1],
        noise_nm=quiet,
        orbit_nm=np.zeros(len(order)),
        about={"mode": "trial"},
    )


def noise_of(model: Model, exact: Floats, users: bool) -> Floats:
    """σ of each element: of an amplitude from so many readings, over the excitation that the mode allows.

    Dispersion is measured by a sine of the RF of as much orbit as all correctors of the plane make.
    """
    planes = np.array([one.plane for one in model.columns])
    amplitude = X_NM_PER_READING * 1e-9 * np.sqrt(2 / READINGS)
    sigma = np.empty_like(exact)
    for plane in (0, 1):
        of_plane = np.flatnonzero(planes == plane)
        half = exact[plane * len(model.bpms) : (plane + 1) * len(model.bpms)]
        total = (USERS_UM[plane] if users else MACHINE_UM) * 1e-6
        each = total * np.sqrt(2 / max(1, len(of_plane)))
        sigma[:, of_plane] = amplitude * np.sqrt((half[:, of_plane] ** 2).mean(axis=0)) / each
    horizontal = exact[: len(model.bpms), -1]
    total = (USERS_UM[0] if users else MACHINE_UM) * 1e-6 * np.sqrt(2)
    sigma[:, -1] = amplitude * np.sqrt((horizontal**2).mean()) / total
    return sigma


def _rows(count: int) -> tuple[str, ...]:
    return tuple(f"bpm{number:03d}/{plane}" for plane in "xy" for number in range(1, count + 1))


def model_of(twin: Twin, gradients: Sequence[Gradient], correctors: str = "C[SL]_*", every: int = 1) -> Model:
    """All BPMs of a twin, and both planes of its correctors by pattern."""
    lattice = twin.lattice
    found = [int(i) for i in lattice.find(correctors)][::every]
    columns = [Column(f"{'xy'[plane]}/{lattice.names[i]}", i, plane, 1e-6) for plane in (0, 1) for i in found]
    return Model(twin, [int(i) for i in lattice.get_bpms()], columns, gradients)


def gauged(state: State, model: Model, planes: Sequence[int]) -> State:
    """The same machine by the convention that the mean corrector gain of these planes is 1."""
    for plane in planes:
        of_plane = np.array([one.plane == plane for one in model.columns])
        state = scaled(state, model, plane, float(state.gain[of_plane].mean()))
    return state
