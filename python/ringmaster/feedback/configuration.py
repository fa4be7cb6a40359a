# SPDX-License-Identifier: Apache-2.0
"""The feedback's own file, as apps/feedback/files/configuration.h describes it: what predictions need of it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ringmaster.feedback.law import Plant, Resonator, Tuning
from ringmaster.feedback.matrix import Matrix, load_csv
from ringmaster.machine.server_file import read_yaml


@dataclass(frozen=True)
class Family:
    """Actuators that have a plant and a law in common."""

    name: str
    patterns: tuple[str, ...]
    plant: Plant
    tuning: Tuning | None
    """None: it takes only what is handed over to it."""
    unload_to: str | None
    crossover_hz: float

    def has(self, actuator: str) -> bool:
        """Whether an actuator is one of its."""
        return any(_matches(pattern, actuator) for pattern in self.patterns)


@dataclass(frozen=True)
class Configuration:
    """The file."""

    path: Path
    matrix: Matrix
    families: tuple[Family, ...]
    coupled: bool
    per_corrector: bool
    rate_hz: float
    """Of cycles."""

    def family(self, name: str | None) -> Family:
        """The one of that name; without one the first that has a law of its own."""
        acting = [family for family in self.families if family.tuning is not None]
        chosen = [family for family in acting if name in (None, family.name)]
        if not chosen:
            names = ", ".join(family.name for family in acting) or "none"
            raise ValueError(f"{self.path}: no family {name!r} that has a law of its own; those that have are: {names}")
        return chosen[0]

    def family_of(self, actuator: str) -> Family | None:
        """Whose actuator it is."""
        return next((family for family in self.families if family.has(actuator)), None)


def _matches(pattern: str, name: str) -> bool:
    """Each * stands for any characters or none; nothing else is special."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def read_configuration(path: Path, rate_hz: float) -> Configuration:
    """Reads the file and its matrix. Raises ValueError for what cannot be understood, OSError."""
    read = _mapping(path, read_yaml(path), "the file")
    resonators = [_resonator(path, entry) for entry in read.get("resonators") or []]
    families = read.get("families")
    if not isinstance(families, list) or not families:
        raise ValueError(f"{path}: found no list `families`, which says what actuators there are")
    return Configuration(
        path=path,
        matrix=replace(load_csv(matrix_path(path)), rf=rf_actuator(path)),
        families=tuple(_family(path, entry, resonators, rate_hz) for entry in families),
        coupled=bool(read.get("coupled", False)),
        per_corrector=read.get("per", "mode") == "corrector",
        rate_hz=rate_hz,
    )


def matrix_path(path: Path) -> Path:
    """Of the matrix that the file names, which is resolved from the file's folder."""
    named = _mapping(path, read_yaml(path), "the file").get("matrix")
    if not isinstance(named, str):
        raise ValueError(f"{path}: no key `matrix`, which names the file of the response matrix")
    return path.parent / named


def rf_actuator(path: Path) -> str | None:
    """Of the RF frequency, as the file names it; None where it has none."""
    rf = _mapping(path, read_yaml(path), "the file").get("rf")
    return None if rf is None else str(_mapping(path, rf, "`rf`").get("actuator"))


def _mapping(path: Path, value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{path}: {what} is no mapping of keys to values")
    return value


def _resonator(path: Path, entry: Any) -> Resonator:
    given = _mapping(path, entry, "an entry of `resonators`")
    hz = float(given["hz"])
    return Resonator(hz, float(given.get("width_hz", 1.0)), float(given.get("leak_hz", 0.005)))


def _family(path: Path, entry: Any, resonators: list[Resonator], rate_hz: float) -> Family:
    given = _mapping(path, entry, "an entry of `families`")
    name = str(given.get("name", "?"))
    plant = _mapping(path, given.get("plant") or {}, f"`plant` of family {name!r}")
    wanted = [float(hz) for hz in given.get("resonators") or []]
    chosen = [next((r for r in resonators if r.hz == hz), None) for hz in wanted]
    for hz, found in zip(wanted, chosen, strict=True):
        if found is None:
            raise ValueError(f"{path}: family {name!r} wants a resonator at {hz:g} Hz, which `resonators` has not")
    acts = any(key in given for key in ("integral_hz", "proportional"))
    tuning = Tuning(
        proportional=float(given.get("proportional", 0.0)),
        integral_hz=float(given.get("integral_hz", 0.0)),
        predicts=bool(given.get("predictor", True)),
        resonators=tuple(r for r in chosen if r is not None),
    )
    return Family(
        name=name,
        patterns=tuple(map(str, given.get("actuators") or [])),
        plant=Plant(
            rate_hz=rate_hz,
            bandwidth_hz=float(plant.get("bandwidth_hz", 0.0)),
            second_hz=float(plant.get("second_hz", 0.0)),
            delay_s=float(plant.get("delay_us", 0.0)) * 1e-6,
        ),
        tuning=tuning if acts else None,
        unload_to=given.get("unload_to"),
        crossover_hz=float(given.get("crossover_hz", 0.0)),
    )
