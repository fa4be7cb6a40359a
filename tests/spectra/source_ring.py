# SPDX-License-Identifier: Apache-2.0
"""A living ring in simulated time, in whose supplies a ripple begins; and what each supply truly does to the beam.

One ring of ``configs/elettra.yaml`` for each seed, with errors, ripples and disturbances of its own. It runs for two
windows of 1.6 s: without the ripple, and with it. Readbacks are the true currents with the noise that supplies have.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.feedback.from_twin import twin_matrix
from ringmaster.feedback.matrix import Matrix
from ringmaster.machine.mapping import resolve
from ringmaster.machine.server_file import read_yaml
from ringmaster.places import CONFIGS
from ringmaster.simulation import Simulation, simulate
from ringmaster.spectra.series import Series
from ringmaster.twin import Twin, load_lattice

TURN_RATE_HZ = 1157000
PERIOD = 116
RATE_HZ = TURN_RATE_HZ / PERIOD
WINDOW = 15970
"""Records, 1.6 s: what the ring of these streams holds."""
FLUSH = 500
"""Records before a window: what began before it has decayed in chambers and filters."""
MAINS_HZ = (50.0, 100.0, 150.0, 300.0, 600.0)
READBACK_NOISE_A = 1e-4
EDDY_HZ = 1000.0
"""Of the chamber between a current and its kick."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ring:
    """What is drawn of one ring, and what is done to it."""

    seed: int
    culprit: str
    """The supply that gets a ripple: "sr/ps/ch_01_05"."""
    hz: float
    amplitude_a: float
    mains: float
    """Of the magnets, in parts of what the configuration has."""
    supplies_a: Mapping[str, float]
    """Ripple of each supply at the mains, peak at 50 Hz; half of it at each further line."""


@dataclass(frozen=True)
class Window:
    """What the beam and the supplies did, record for record."""

    orbit_nm: Floats
    """Shape (rows, records)."""
    noise_nm: Floats
    """What the orbit would have been without lines: no mains, no ripple."""
    current_a: Floats
    """Shape (supplies, records), as they truly were."""
    readback_a: Floats

    def series(self, hidden: set[str]) -> dict[str, Series]:
        """As ``rank_at`` takes them, without the readbacks of supplies that are hidden."""
        matrix = design()
        rows = zip(matrix.rows, self.orbit_nm, strict=True)
        found = {row: Series(row, "nm", RATE_HZ, values, 0, PERIOD) for row, values in rows}
        for name, values in zip(matrix.columns, self.readback_a, strict=True):
            if name not in hidden:
                found[name] = Series(name, "A", RATE_HZ, values, 0, PERIOD)
        return found


@dataclass(frozen=True)
class Recorded:
    """Of one ring: without the ripple and with it, and what truly answers."""

    quiet: Window
    rippling: Window
    response: Floats
    """Shape (rows, supplies): nm per ampere at 0 Hz."""


@cache
def design() -> Matrix:
    """The response matrix of the lattice as designed: all that the ranking is told of the ring."""
    twin = Twin(load_lattice("elettra2_like"))
    twin.disable_6d()
    return twin_matrix(twin, resolve(twin.lattice, read_yaml(CONFIGS / "feedback-elettra.yaml")["lattice"]))


def dynamics(hz: float) -> complex:
    """What is left of a ripple of a current in the readings, and how much later, beside 0 Hz.

    The chamber; and the orbit's step, which takes the current at its end for all of it.
    """
    return complex(np.exp(1j * np.pi * hz / RATE_HZ) / (1 + 1j * hz / EDDY_HZ))


def record(folder: Path, ring: Ring) -> Recorded:
    """Runs it in simulated time, and once more with nothing but its noise."""
    ripple = f"event=ripple, supply: {ring.culprit}, amplitude: {ring.amplitude_a:.9g}, hz: {ring.hz:.9g}"
    begin_s = (FLUSH + WINDOW) / RATE_HZ
    run = _run(folder / "whole", ring, [f"0:machine/mains={ring.mains:.9g}", f"{begin_s:.9f}:{ripple}"])
    noise = _run(folder / "noise", replace(ring, supplies_a={}), ["0:machine/mains=0"])
    quiet, rippling = (_window(run, noise, begin, ring.seed) for begin in (FLUSH, 2 * FLUSH + WINDOW))
    return Recorded(quiet, rippling, _response(run))


def _run(folder: Path, ring: Ring, at: list[str]) -> Simulation:
    folder.mkdir(parents=True, exist_ok=True)
    config, overlay = folder / "config.yaml", folder / "ring.yaml"
    config.write_text(json.dumps(_configuration()))
    overlay.write_text(json.dumps(_overlay(ring)))
    cycles, record = 2 * (FLUSH + WINDOW), "readings,currents"
    return simulate(config, overlay, "ramp", folder / "out", cycles=cycles, at=at, record=record)


def _window(run: Simulation, noise: Simulation, begin: int, seed: int) -> Window:
    part = slice(begin, begin + WINDOW)
    order = [run.actuators.index(name) for name in design().columns]
    current = np.asarray(run.currents[part]).T[order]
    readback = current + READBACK_NOISE_A * np.random.default_rng((seed, begin)).standard_normal(current.shape)
    return Window(_rows(run)[:, part], _rows(noise)[:, part], current, readback)


def _rows(run: Simulation) -> Floats:
    """Of both planes, in the order of the matrix."""
    return _in_order(run, {plane: run.orbit(plane).T for plane in "xy"})


def _response(run: Simulation) -> Floats:
    order = [run.actuators.index(name) for name in design().columns]
    return _in_order(run, {plane: run.response(plane) for plane in "xy"})[:, order]


def _in_order(run: Simulation, planes: Mapping[str, Floats]) -> Floats:
    named = {row: planes[plane][i] for plane in "xy" for i, row in enumerate(run.rows(plane))}
    return np.stack([named[row] for row in design().rows])


def _configuration() -> dict[str, Any]:
    """Of configs/elettra.yaml, with an application that leaves all supplies where they are."""
    made: dict[str, Any] = read_yaml(CONFIGS / "elettra.yaml")
    made["setpoints"] = {"period_turns": PERIOD}
    made["applications"] = [
        {
            "name": "ramp",
            "code": "ramp",
            "period_turns": PERIOD,
            "freshness_turns": 1000000,
            "inputs": ["bpm*/raw"],
            "supplies": ["sr/ps/ch_*", "sr/ps/cv_*"],
        }
    ]
    made["roles"] = [role for role in made["roles"] if role["role"] != "application"]
    return made


def _overlay(ring: Ring) -> dict[str, Any]:
    made: dict[str, Any] = read_yaml(CONFIGS / "elettra-ring.yaml")
    made["seed"] = made["machine"]["seed"] = ring.seed
    for name, peak in ring.supplies_a.items():
        lines = [{"hz": hz, "amplitude": peak if hz == MAINS_HZ[0] else peak / 2} for hz in MAINS_HZ[:4]]
        made["supplies"].append({"supplies": name, "ripple": lines})
    return made
