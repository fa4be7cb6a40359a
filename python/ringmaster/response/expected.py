# SPDX-License-Identifier: Apache-2.0
"""What a plan has to know of the machine: by its lattice, its mapping and its server's configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.feedback.from_twin import NM_PER_M, twin_matrix
from ringmaster.feedback.law import Plant
from ringmaster.feedback.matrix import Matrix, row_plane
from ringmaster.machine.mapping import Mapping as MachineMapping
from ringmaster.machine.mapping import read_mapping, resolve
from ringmaster.machine.server_file import DEFAULT_TURN_RATE_HZ, limits_of, names_of_server, slew_of, supplies
from ringmaster.response.plants import Family, families_of, family_of
from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.parameters import envelope_parameters

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Expected:
    """Readings, supplies, and what the ones ought to answer to the others."""

    rate_hz: float
    """Of readings."""
    period_turns: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    matrix: Floats
    """[row, column] nm per unit, by the twin."""
    size_nm: Floats
    """[row] RMS size of the beam."""
    lowest: Floats
    """[column] limit of the supply; ±inf where there is none."""
    highest: Floats
    slew: Floats
    """[column] per second."""
    families: tuple[Family, ...]
    rf: tuple[str, float] | None
    """Its supply, and Hz per unit."""

    @property
    def row_planes(self) -> NDArray[np.str_]:
        """Of each row, "x" or "y"."""
        return np.array([row_plane(row) for row in self.rows])

    @property
    def column_planes(self) -> NDArray[np.str_]:
        """Of each column "x" or "y", whichever it moves more; or "rf"."""
        power = [np.square(self.matrix[self.row_planes == plane]).sum(axis=0) for plane in "xy"]
        planes = np.where(power[0] >= power[1], "x", "y").astype("<U2")
        planes[[self.rf is not None and name == self.rf[0] for name in self.columns]] = "rf"
        return planes

    def plant(self, supply: str) -> Plant:
        """Its."""
        return family_of(self.families, supply).plant

    def of(self, columns: Sequence[str]) -> "Expected":
        """Of these supplies alone."""
        at = [self.columns.index(name) for name in columns]
        return replace(
            self,
            columns=tuple(columns),
            matrix=self.matrix[:, at],
            lowest=self.lowest[at],
            highest=self.highest[at],
            slew=self.slew[at],
            rf=self.rf if self.rf is not None and self.rf[0] in columns else None,
        )


def expect(
    lattice: str,
    mapping: Path,
    server: Mapping[str, Any],
    *,
    application: str = "excite",
    patterns: Sequence[str] = (),
    coupling: float = 0.01,
    plants: Path | None = None,
) -> Expected:
    """Of the supplies of an application, or of those that match the patterns. Raises ValueError."""
    rows, known = names_of_server(server)
    twin, found = _of_files(lattice, mapping, rows, known)
    _, period_turns = application_of(server, application)
    rate_hz = float(server.get("turn_rate_hz", DEFAULT_TURN_RATE_HZ)) / period_turns
    wanted = _chosen(found.actuators, supplies_of_application(server, application), patterns, application)
    whole = twin_matrix(twin, found)
    at = [whole.columns.index(name) for name in wanted]
    limits = [limits_of(server, name) for name in wanted]
    slews = [slew_of(server, name) for name in wanted]
    return Expected(
        rate_hz=rate_hz,
        period_turns=period_turns,
        rows=found.rows,
        columns=wanted,
        matrix=whole.values[:, at],
        size_nm=beam_sizes(twin, found.bpms, coupling).ravel() * NM_PER_M,
        lowest=np.array([low for low, _ in limits]),
        highest=np.array([high for _, high in limits]),
        slew=np.array([np.inf if slew is None else slew for slew in slews]),
        families=families_of(found, rate_hz, plants),
        rf=None if found.rf is None or found.rf[0] not in wanted else found.rf,
    )


def application_of(server: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], int]:
    """Its entry, and turns from one of its steps to the next. Raises ValueError."""
    listed = server.get("applications") or []
    found = next((entry for entry in listed if entry.get("name") == name), None)
    if found is None:
        names = ", ".join(str(entry.get("name")) for entry in listed) or "none"
        raise ValueError(
            f"the server's configuration has no application {name!r}, which would move the supplies; it has: {names}"
        )
    setpoints = server.get("setpoints") or {}
    return found, int(found.get("period_turns", setpoints.get("period_turns", 1)))


def supplies_of_application(server: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Names of its supplies, in the order of its arrays."""
    entry, _ = application_of(server, name)
    known = supplies(server)
    found: dict[str, None] = {}
    for pattern in entry.get("supplies") or []:
        found |= dict.fromkeys(supply for supply in known if fnmatchcase(supply, str(pattern)))
    return tuple(found)


def _chosen(
    actuators: Sequence[str], owned: Sequence[str], patterns: Sequence[str], application: str
) -> tuple[str, ...]:
    """In the order of the mapping. Raises ValueError where a pattern finds none."""
    both = [name for name in actuators if name in set(owned)]
    if not both:
        raise ValueError(f"the application {application!r} has no supply that the mapping has as a corrector or the RF")
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in both):
            raise ValueError(f"{pattern!r}: {application!r} has no corrector of the mapping of such a name, nor the RF")
    return tuple(name for name in both if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns))


def _of_files(
    lattice: str, mapping: Path, rows: Sequence[str] = (), known: Sequence[str] = ()
) -> tuple[Twin, MachineMapping]:
    """The twin, six-dimensional where it can be, and its names."""
    ring = load_lattice(lattice)
    twin = Twin(ring)
    if len(ring.get_cavities()):
        twin.enable_6d()
    return twin, resolve(ring, read_mapping(mapping), rows, known)


def by_lattice(lattice: str, mapping: Path) -> tuple[Matrix, Floats]:
    """What it ought to answer, nm per unit, and the dispersion, nm per Hz of the RF; NaN without one."""
    twin, found = _of_files(lattice, mapping)
    whole = twin_matrix(twin, found)
    if found.rf is None:
        return whole, np.full(len(found.rows), np.nan)
    return whole, whole.values[:, whole.columns.index(found.rf[0])] / found.rf[1]


def beam_sizes(twin: Twin, bpms: Sequence[int], coupling: float) -> Floats:
    """[BPM, plane] RMS, m: of the natural emittance, of which a share ``coupling`` of the horizontal is vertical."""
    parameters = envelope_parameters(twin)
    emittances, energy_spread = parameters.emittances, parameters.sigma_e
    if emittances is None or energy_spread is None:
        raise ValueError(f"{twin.lattice.name} has no equilibrium beam, so no size: it needs a cavity and radiation")
    horizontal = float(emittances[0]) / (1 + coupling)
    flat = Twin(twin.lattice)
    flat.disable_6d()
    _, _, at = flat.linopt6([int(i) for i in bpms])
    spread = np.abs(at.dispersion[:, [0, 2]]) * float(energy_spread)
    both = np.array([horizontal, coupling * horizontal])
    return np.asarray(np.sqrt(at.beta * both + spread**2), np.float64)
