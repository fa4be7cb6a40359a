# SPDX-License-Identifier: Apache-2.0
"""The curves of a plot within elements, beside a ring whose magnets are cut into slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringmaster.twin import All, Twin, linopt6, load_lattice
from ringmaster.twin.plot import INSIDE, smooth

MAGNETS = [("quadrupole", 0.4, 3.5, 0.0), ("sbend", 1.0, -2.0, 0.3), ("quadrupole", 0.3, 2.0, 0.0)]
"""Class, length, gradient, angle. β bends strongly within them."""


def write(path: Path, cuts: int) -> Path:
    lines = ["atdrift('D', 1, 'Energy', 1e9)"]
    for name, length, gradient, angle in MAGNETS:
        bend = f"{angle / cuts}, " if angle else ""
        lines += [f"at{name}('M', {length / cuts}, {bend}{gradient}, 'NumIntSteps', {80 // cuts})"] * cuts
    path.write_text("r = {" + "\n".join([*lines, "atdrift('E', 2)"]) + "};")
    return path


def optics(path: Path) -> Any:
    return linopt6(Twin(load_lattice(path)), All)[2]


@pytest.mark.parametrize("name", ["beta", "dispersion"])
def test_curves_are_true_within_magnets(name: str, tmp_path: Path) -> None:
    whole, cut = (optics(write(tmp_path / f"{cuts}.m", cuts)) for cuts in (1, INSIDE))
    k = np.array([[0.0, 0.0], *([g + (a / length) ** 2, -g] for _, length, g, a in MAGNETS), [0.0, 0.0]])
    if name == "beta":
        s_m, curve = smooth(whole.s_pos, whole.beta, -2.0 * whole.alpha, 4.0 * k)
        truth = cut.beta
    else:
        s_m, curve = smooth(whole.s_pos, whole.dispersion[:, [0, 2]], whole.dispersion[:, [1, 3]], k)
        truth = cut.dispersion[:, [0, 2]]
    magnets = slice(INSIDE, 1 + INSIDE * (1 + len(MAGNETS)))
    np.testing.assert_allclose(s_m[magnets], cut.s_pos[1:-1], atol=1e-12)
    np.testing.assert_allclose(curve[magnets], truth[1:-1], rtol=1e-4, atol=1e-7)


def test_a_cubic_is_left_where_nothing_focuses() -> None:
    s_m = np.array([0.0, 0.0, 2.0])
    cubic = s_m**3 - s_m
    places, curve = smooth(s_m, cubic[:, None], (3.0 * s_m**2 - 1.0)[:, None], np.zeros((2, 1)))
    np.testing.assert_allclose(curve[:, 0], places**3 - places, atol=1e-12)
