# SPDX-License-Identifier: Apache-2.0
"""What two families of quadrupoles do to the tunes: by the twin, and its file of text (include/ringmaster/table.h)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.machine.server_file import read_marked_yaml
from ringmaster.twin import Twin

STEP = 1e-4
"""Relative change of the gradients, up and down, between which the slope is taken."""


@dataclass(frozen=True)
class Family:
    """Quadrupoles that move together."""

    name: str
    elements: str
    """A pattern of the lattice's names."""
    strength_per_a: float
    """Part of their gradient that an ampere adds."""


def read_families(path: Path) -> list[Family]:
    """Those of the tune feedback's own file. Raises ValueError where one does not say which elements it has."""
    read: Any = read_marked_yaml(path)
    listed = read.get("families") if isinstance(read, dict) else None
    if not isinstance(listed, list):
        raise ValueError(f"{path}: found no key `families`, expected the tune feedback's own file")
    return [_family(path, entry) for entry in listed]


def _family(path: Path, entry: Any) -> Family:
    missing = [key for key in ("name", "elements", "strength_per_a") if not isinstance(entry, dict) or key not in entry]
    if missing:
        raise ValueError(f"{path}: families: one has no key `{missing[0]}`, expected it of each for its column")
    return Family(str(entry["name"]), str(entry["elements"]), float(entry["strength_per_a"]))


def seen_tunes(twin: Twin) -> NDArray[np.float64]:
    """Of x and y, as turns show them: a fractional tune above a half is folded."""
    fractions = np.asarray(twin.get_tune())[:2]
    return np.minimum(fractions, 1.0 - fractions)


def tune_matrix(twin: Twin, families: Sequence[Family]) -> NDArray[np.float64]:
    """Shape (2, families): tune per ampere. Raises ValueError for a family without quadrupoles."""
    columns = []
    for family in families:
        found = [int(i) for i in twin.lattice.find(family.elements)]
        gradients = np.array([twin[i].K for i in found])
        if not np.any(gradients):
            raise ValueError(f"family {family.name}: no quadrupole of {twin.lattice.name} is named {family.elements}")
        tunes = []
        for sign in (1.0, -1.0):
            moved = twin.copy()
            moved.set_value_refpts(found, "K", gradients * (1.0 + sign * STEP))
            tunes.append(seen_tunes(moved))
        columns.append((tunes[0] - tunes[1]) / (2.0 * STEP) * family.strength_per_a)
    return np.array(columns).T


def save_matrix(path: Path, families: Sequence[Family], matrix: NDArray[np.float64], comment: str) -> None:
    """Writes the table that the tune feedback reads."""
    lines = [f"# tune per A; {comment}", "," + ",".join(family.name for family in families)]
    for plane, row in zip("xy", matrix, strict=True):
        lines.append(plane + "," + ",".join(format(value, ".6g") for value in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
