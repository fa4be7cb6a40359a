# SPDX-License-Identifier: Apache-2.0
"""The ring that we ship, twin/lattices/elettra2_like.m: its recipe makes it, and pyAT finds what docs/ring.md says."""

import importlib.util
import itertools
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "twin/lattices/elettra2_like.py"

at: Any = pytest.importorskip("at", reason="NO pyAT HERE (accelerator-toolbox), so the shipped ring is not checked")


@pytest.fixture(scope="module")
def ring() -> Any:
    """As it is read: 4D."""
    return at.load_lattice(RECIPE.with_suffix(".m"))


@pytest.fixture(scope="module")
def ring_6d(ring: Any) -> Any:
    return ring.enable_6d(copy=True)


@pytest.fixture(scope="module")
def recipe() -> ModuleType:
    """The script."""
    spec = importlib.util.spec_from_file_location(RECIPE.stem, RECIPE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def families(recipe: ModuleType) -> Any:
    """Matched anew."""
    return recipe.design()


def test_recipe_makes_the_file(recipe: ModuleType, families: Any) -> None:
    assert recipe.lattice(families) == RECIPE.with_suffix(".m").read_text()


@pytest.mark.parametrize("change", [0.0, 1e-6])
def test_recipe_checks_the_file(
    recipe: ModuleType,
    families: Any,
    change: float,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = replace(families["QF1"], quadrupole=families["QF1"].quadrupole + change)
    monkeypatch.setattr(recipe, "design", lambda: families | {"QF1": other})
    monkeypatch.setattr(sys, "argv", [RECIPE.name, "--check"])
    assert recipe.main() == (1 if change else 0)
    assert ("is not what its recipe makes" in capsys.readouterr().err) == bool(change)


def test_frame(ring: Any) -> None:
    assert ring.energy == 2.4e9
    assert ring.periodicity == 1
    assert ring.circumference == pytest.approx(259.2, abs=1e-9)
    assert sum(getattr(element, "BendingAngle", 0.0) for element in ring) == pytest.approx(2 * np.pi, abs=1e-12)
    cavities = ring[ring.get_bool_index(at.RFCavity)]
    assert [cavity.Voltage for cavity in cavities] == [0.5e6] * 4
    assert {cavity.HarmNumber for cavity in cavities} == {432}
    assert [cavity.Frequency for cavity in cavities] == pytest.approx([499.654e6] * 4, abs=500)
    assert not ring.is_6d


def test_names(ring: Any) -> None:
    """Every one of the control room's is there, in order along the ring."""
    per_achromat = {"BPM": 14, "CS": 14, "CL": 2, "CF": 6, "LS": 1, "SS": 1, "B1": 2, "B2H": 4, "RB1": 2, "RB4": 2}
    per_achromat |= {"QD1": 2, "QF1": 2, "QD2": 2, "QF2": 2, "SH": 2, "SF1": 2, "SF2": 2, "SD5": 2, "SF3": 2}
    for family, count in per_achromat.items():
        found = [e.FamName for e in ring if re.fullmatch(rf"{family}_S\d\d_\d\d", e.FamName)]
        wanted = [f"{family}_S{s:02}_{n:02}" for s in range(1, 13) for n in range(1, count + 1)]
        assert list(dict.fromkeys(found)) == wanted
    kinds = Counter(type(element) for element in ring)
    assert kinds[at.Monitor] == 168
    assert kinds[at.Corrector] == 264
    names = {element.FamName for element in ring if isinstance(element, at.Corrector)}
    assert len(names) == 264


def test_windings_sit_in_sextupoles(ring: Any) -> None:
    for i in ring.get_uint32_index("CS_*"):
        before, after = ring[i - 1], ring[i + 1]
        assert isinstance(before, at.Sextupole)
        assert before.FamName == after.FamName
        assert before.H == after.H


def test_linear_optics(ring: Any) -> None:
    _, beam, points = ring.get_optics(range(len(ring)), get_chrom=True)
    assert ring.get_tune(get_integer=True) == pytest.approx([33.30, 9.17], abs=2e-5)
    assert beam.chromaticity == pytest.approx([2.0, 2.0], abs=1e-3)
    for name, betas_m, dispersion_m in (("LS", (9.0, 2.0), 0.0), ("SS", (5.7, 1.5), 0.050)):
        for point in points[ring.get_uint32_index(f"{name}_*")]:
            assert point.beta == pytest.approx(betas_m, rel=0.05 if name == "SS" else 1e-4)
            assert point.alpha == pytest.approx([0, 0], abs=1e-5)
            assert point.dispersion[:2] == pytest.approx([dispersion_m, 0], abs=1e-3 if name == "SS" else 1e-6)
    assert points.beta[:, 0].max() < 12
    assert points.beta[:, 1].max() < 26


def test_tunes_are_far_from_resonances(ring: Any) -> None:
    """Where m νx + n νy is an integer, of order |m| + |n| up to 4: 0.017 away at least, in the plane of the tunes."""
    tunes = ring.get_tune()
    for m, n in itertools.product(range(5), range(-4, 5)):
        if 0 < m + abs(n) <= 4:
            off = m * tunes[0] + n * tunes[1]
            assert abs(off - round(off)) / np.hypot(m, n) > 0.017, (m, n)


def test_equilibrium(ring_6d: Any) -> None:
    found = ring_6d.envelope_parameters()
    assert found.emittances[0] == pytest.approx(207e-12, rel=0.01)
    assert found.sigma_e == pytest.approx(9.62e-4, rel=0.01)
    assert found.sigma_l == pytest.approx(1.807e-3, rel=0.01)
    assert abs(found.U0 - 471.4e3) < 100
    assert found.Tau == pytest.approx([5.88e-3, 8.80e-3, 5.86e-3], rel=0.005)
    assert found.tunes6 == pytest.approx([0.3000, 0.1702, 0.00254], abs=2e-4)


def test_closed_orbit_6d(ring_6d: Any) -> None:
    """What radiation between the cavities leaves is micrometres."""
    _, orbit = ring_6d.find_orbit(range(len(ring_6d)))
    assert np.abs(orbit[:, 0]).max() < 5e-6
    assert np.abs(orbit[:, 2]).max() < 1e-9


def survivors(ring: Any, offsets: NDArray[np.float64], turns: int) -> NDArray[np.bool_]:
    """Which particles (rows: x, y, δ off the closed orbit) are still there."""
    orbit, _ = ring.find_orbit()
    rays = np.tile(orbit[:, None], (1, len(offsets)))
    rays[[0, 2, 4]] += offsets.T
    at.lattice_pass(ring, rays, nturns=turns, refpts=[])
    return np.asarray(~np.isnan(rays[0]))


def test_dynamic_aperture(ring_6d: Any) -> None:
    """In the middle of a long straight, where β is 9 and 2 m: an ellipse of DA, and DA off momentum."""
    angles = np.linspace(0, np.pi, 9)
    on_momentum = [(6e-3 * np.cos(a), 2e-3 * np.sin(a) + 1e-6, 0.0) for a in angles]
    off_momentum = [(x, 0.2e-3, delta) for delta in (-0.03, 0.03) for x in (-2e-3, 0.0, 2e-3)]
    assert survivors(ring_6d, np.array(on_momentum + off_momentum), turns=256).all()
    assert not survivors(ring_6d, np.array([(30e-3, 1e-6, 0.0), (0.0, 20e-3, 0.0)]), turns=16).any()
