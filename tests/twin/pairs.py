# SPDX-License-Identifier: Apache-2.0
"""The same lattice as pyAT and as the package have it, and how near their results must be."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringmaster.twin import Twin, load_lattice

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import at
    import machine_data

SHARED = Path(__file__).parents[3] / "shared/data/lattices"
ITS_OWN = Path(next(iter(machine_data.__path__)))
__all__ = ["assert_near", "at", "relative", "twin_and_ring"]

HALVINGS = 10.0
"""Where pyAT takes differences, its result changes with their step; ours lies within so many such changes."""
FLOOR = 1e-10


def twin_and_ring(name: str, in_6d: bool) -> tuple[Twin, Any]:
    """Of a file of pyAT's own, or of the shared ones; skips where there is none."""
    path = next((folder / name for folder in (ITS_OWN, SHARED) if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"NO LATTICE {SHARED / name}, so the twin is not compared with pyAT on it")
    twin = Twin(load_lattice(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ring = (at.load_mat if path.suffix == ".mat" else at.load_m)(str(path))
        for side in (twin, ring):
            if in_6d:
                side.enable_6d()
            else:
                side.disable_6d()
    return twin, ring


def relative(ours: Any, reference: Any, scale: float = 0.0) -> float:
    """max|Δ| / max|reference|, or / `scale` where that is more; of two zeros 0."""
    difference, scale = float(np.max(np.abs(ours - reference))), max(scale, float(np.max(np.abs(reference))))
    return difference / scale if scale else difference


def assert_near(name: str, ours: Any, coarse: Any, fine: Any, floor: float = FLOOR, scale: float = 0.0) -> None:
    """`coarse` and `fine` are pyAT's, with its own step and half of it."""
    allowed = HALVINGS * relative(fine, coarse, scale) + floor
    assert np.shape(ours) == np.shape(coarse), name
    assert np.all(np.isfinite(ours)), name
    found = relative(ours, coarse, scale)
    assert found <= allowed, f"{name}: {found:.2e}, allowed {allowed:.2e}"
