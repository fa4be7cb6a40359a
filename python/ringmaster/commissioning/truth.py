# SPDX-License-Identifier: Apache-2.0
"""The machine that a virtual ring's truth file tells of, as a twin: the lattice, all errors that were drawn, and where
the supplies stand. instruments/truth.h has the file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.twin import Kind, Lattice, Twin, load_lattice

Floats = NDArray[np.float64]
SEXTUPOLE = 2
"""Order of its field."""


@dataclass(frozen=True)
class Wiring:
    """How the truth's chains are this server's supplies."""

    chains: Mapping[str, Sequence[str]]
    """Names of the supplies of each chain, in its order."""
    rf: tuple[str, float] | None
    """The supply of the RF frequency, and Hz per its unit."""

    def supply(self, entry: Mapping[str, Any]) -> str:
        """Of an entry with `chain` and `supply`, which count from 1. Raises ValueError."""
        names = self.chains.get(entry["chain"], ())
        if not 1 <= entry["supply"] <= len(names):
            raise ValueError(
                f"the truth has supply {entry['supply']} of chain {entry['chain']!r}, and the server's configuration "
                f"has {len(names)} there: is the truth that of this ring?"
            )
        return str(names[entry["supply"] - 1])


@dataclass(frozen=True)
class Truth:
    """What was drawn."""

    drawn: Mapping[str, Any]
    lattice: Lattice

    @property
    def bpms(self) -> NDArray[np.uint32]:
        """Their elements."""
        return np.array([bpm["element"] for bpm in self.drawn["bpms"]], np.uint32)

    def centres_m(self) -> Floats:
        """(bpm, 2): where the centre of the magnet stands that each BPM is aligned to; NaN where none is."""
        at = {yoke["name"]: (yoke["dx_m"], yoke["dy_m"]) for yoke in self.drawn["magnets"]}
        nothing = (np.nan, np.nan)
        return np.array([at.get(bpm.get("magnet", bpm.get("quadrupole", "")), nothing) for bpm in self.drawn["bpms"]])

    def reading_matrices(self) -> Floats:
        """(bpm, 2, 2): what each BPM reads per position of the beam."""
        keys = (("xx", "xy"), ("yx", "yy"))
        return np.array([[[bpm[key] for key in row] for row in keys] for bpm in self.drawn["bpms"]])

    def readings_m(self, orbit_m: Floats) -> Floats:
        """(bpm, 2): what the BPMs read of an orbit (bpm, 2), by gains, rolls and offsets alone."""
        offset = np.array([[bpm["offset_x_m"], bpm["offset_y_m"]] for bpm in self.drawn["bpms"]])
        return np.asarray(np.einsum("bij,bj->bi", self.reading_matrices(), orbit_m) + offset)


def load(path: Path) -> Truth:
    """Reads the file. Raises ValueError, OSError, LatticeAbsent."""
    try:
        drawn = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(drawn, dict) or "lattice" not in drawn or "bpms" not in drawn:
        raise ValueError(f"{path}: no truth of a ring with a machine; `ringmaster virtual … --truth FILE` writes one")
    return Truth(drawn, load_lattice(drawn["lattice"]))


def true_twin(truth: Truth, wiring: Wiring, values: Mapping[str, float]) -> Twin:
    """The machine with these supplies, in their units; those that are not named stand at 0."""
    twin = Twin(truth.lattice)
    for entry in truth.drawn["gradients"]:
        element = entry["element"]
        design = truth.lattice[element].PolynomB[1]
        twin.set_polynom(element, "B", 1, design * (1 + entry["relative"]))
    for yoke in truth.drawn["magnets"]:
        _misalign(twin, yoke)
    for entry in truth.drawn.get("strengths", ()):
        if (value := values.get(wiring.supply(entry), 0.0)) != 0:
            _change(twin, entry, value * entry["per_unit"])
    _kick(twin, truth, wiring, values)
    twin.enable_6d()
    if wiring.rf is not None and wiring.rf[0] in values:
        twin.set_cavity(Frequency=twin.rf_frequency + values[wiring.rf[0]] * wiring.rf[1])
    return twin


def _pieces(twin: Twin, yoke: Mapping[str, Any]) -> list[int]:
    """Elements of its kind."""
    kind = twin[yoke["first"]].kind
    thin = kind == Kind.THIN_MULTIPOLE
    return [i for i in range(yoke["first"], yoke["end"]) if twin[i].kind == kind and (thin or twin[i].Length != 0)]


def _misalign(twin: Twin, yoke: Mapping[str, Any]) -> None:
    pieces = _pieces(twin, yoke)
    length = sum(twin[i].Length for i in pieces) or 1.0
    for i in pieces:
        if yoke["dx_m"] or yoke["dy_m"] or yoke["roll_rad"]:
            twin.set_misalignment(i, x=yoke["dx_m"], y=yoke["dy_m"], roll=yoke["roll_rad"])
        if yoke["sextupole"]:
            twin.set_polynom(i, "B", SEXTUPOLE, twin[i].PolynomB[SEXTUPOLE] * (1 + yoke["sextupole"]))
        if yoke["skew_per_m"]:
            twin.set_polynom(i, "A", 1, twin[i].PolynomA[1] + yoke["skew_per_m"] / length)


def _change(twin: Twin, entry: Mapping[str, Any], change: float) -> None:
    """By a supply of magnets, as instruments/machine_strengths.c does it."""
    length = sum(twin[i].Length for i in entry["elements"]) or 1.0
    for i in entry["elements"]:
        if entry["change"] == "skew":
            twin.set_polynom(i, "A", 1, twin[i].PolynomA[1] + change / length)
        elif entry["change"] == "sextupole":
            twin.set_polynom(i, "B", SEXTUPOLE, twin[i].PolynomB[SEXTUPOLE] * (1 + change))
        else:
            twin.set_polynom(i, "B", 1, twin[i].PolynomB[1] * (1 + change))
            if twin.lattice[i].kind == Kind.DIPOLE:
                field = change * twin[i].BendingAngle / twin[i].Length
                twin.set_polynom(i, "B", 0, twin[i].PolynomB[0] + field)


def _kick(twin: Twin, truth: Truth, wiring: Wiring, values: Mapping[str, float]) -> None:
    """Hidden steering, and what the correctors' currents add to it."""
    kicks: dict[int, Floats] = {}
    for entry in truth.drawn["steering"]:
        kicks[entry["element"]] = np.array([entry["x_rad"], entry["y_rad"]])
    for entry in truth.drawn["correctors"]:
        per_unit = np.array([entry["x_rad_per_unit"], entry["y_rad_per_unit"]])
        value = values.get(wiring.supply(entry), 0.0)
        kicks[entry["element"]] = kicks.get(entry["element"], np.zeros(2)) + value * per_unit
    for element, kick in kicks.items():
        base = truth.lattice[element].KickAngle
        twin.set_kick(element, horizontal=float(base[0] + kick[0]), vertical=float(base[1] + kick[1]))
