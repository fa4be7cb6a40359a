# SPDX-License-Identifier: Apache-2.0
"""Curves between the ends of elements."""

import numpy as np
import pytest

from ringmaster.twin.inside import PARTS, carried, parts, places


def focusing(k: float, length_m: float) -> np.ndarray:
    """Of a quadrupole, x and px."""
    root = np.sqrt(complex(k))
    c, s = np.cos(root * length_m), np.sin(root * length_m)
    return np.array([[c, s / root if k else length_m], [-root * s, c]]).real


def from_start(*elements: np.ndarray) -> np.ndarray:
    """Matrices at all points."""
    matrices = [np.eye(2)]
    for element in elements:
        matrices.append(element @ matrices[-1])
    return np.array(matrices)


def test_parts_are_those_of_drifts_and_magnets() -> None:
    strengths, length_m = (0.0, 6.3, -2.3), 0.64
    found = parts(from_start(*(focusing(k, length_m) for k in strengths)))
    for element, k in enumerate(strengths):
        for part in range(PARTS):
            assert found[element, part] == pytest.approx(focusing(k, length_m * part / PARTS), abs=1e-12)


def test_beta_has_its_waist_in_a_drift() -> None:
    """Cubic curves between the ends would do here; not in a strong magnet."""
    waist_m, half_m = 0.05, 1.0
    form = np.array([[waist_m + half_m**2 / waist_m, -half_m / waist_m], [-half_m / waist_m, 1 / waist_m]])
    drift = focusing(0.0, 2 * half_m)
    beta_m = carried(parts(from_start(drift)), np.array([form, drift @ form @ drift.T]), 0)
    s_m = places(np.array([0.0, 2 * half_m]))
    assert beta_m == pytest.approx(waist_m + (s_m - half_m) ** 2 / waist_m, rel=1e-12)
    assert beta_m.min() == pytest.approx(waist_m)


def test_what_has_no_root_stays_at_its_entrance() -> None:
    turned = np.diag([-1.0, -0.5])
    found = parts(from_start(turned, focusing(0.0, 1.0)))
    assert np.all(found[0] == np.eye(2))
    assert found[1, 4] == pytest.approx(focusing(0.0, 0.5))
