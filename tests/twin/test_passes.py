# SPDX-License-Identifier: Apache-2.0
"""Every pass method against the Accelerator Toolbox's, element by element, on random particles and strengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import at
import numpy as np
import pytest
from library import library
from tracking import beam, difference, need, ring_of, track, twin_of

Made = dict[str, Any]
LIMIT = 1e-12
ENERGY = 2.4e9


def polynoms(random: Any, order: int, skew: bool = True, radius: float = 0.02) -> Made:
    """Random fields: each order as strong as the others at `radius`."""
    scale = 10.0 * radius ** -np.arange(order + 1.0) * radius
    scale[0] = 1e-3
    b = random.normal(size=order + 1) * scale
    return {"PolynomB": b, "PolynomA": random.normal(size=order + 1) * scale * skew, "MaxOrder": order}


def misaligned(random: Any, delta: bool = False) -> Made:
    """Shifts and rotations, coupled; δ is left alone, as real misalignments do."""
    made: Made = {}
    for end in "12":
        made[f"T{end}"] = random.normal(size=6) * 1e-4
        made[f"R{end}"] = np.eye(6) + random.normal(size=(6, 6)) * 1e-3
        made[f"T{end}"][4] = 0
        made[f"R{end}"][4] = np.eye(6)[4]
    return made


def steered(random: Any) -> Made:
    return {"KickAngle": random.normal(size=2) * 1e-4}


def multipole(suffix: str, order: int, skew: bool, *more: Callable[[Any], Made]) -> Callable[[Any], Any]:
    def make(random: Any) -> Any:
        made = polynoms(random, order, skew)
        for extra in more:
            made |= extra(random)
        return at.Multipole(
            "M", random.uniform(0.1, 1), made.pop("PolynomA"), made.pop("PolynomB"),
            NumIntSteps=int(random.integers(1, 12)), PassMethod=f"StrMPoleSymplectic4{suffix}", **made,
        )  # fmt: skip

    return make


def bend(suffix: str, order: int, skew: bool, *more: Callable[[Any], Made], name: str = "BndMPoleSymplectic4") -> Any:
    def make(random: Any) -> Any:
        made = polynoms(random, order, skew)
        angle = random.uniform(0.02, 0.2) * random.choice([-1, 1])
        made |= {"EntranceAngle": angle * random.uniform(0, 1), "ExitAngle": angle * random.uniform(0, 1)}
        for extra in more:
            made |= extra(random)
        return at.Dipole(
            "B", random.uniform(0.2, 1), angle, NumIntSteps=int(random.integers(1, 12)),
            PassMethod=name + suffix, **made,
        )  # fmt: skip

    return make


def quad_fringe(entrance: int, leaving: int) -> Callable[[Any], Made]:
    def make(random: Any) -> Made:
        made: Made = {"FringeQuadEntrance": entrance, "FringeQuadExit": leaving}
        if 2 in (entrance, leaving):
            made |= {"fringeIntM0": random.normal(size=5) * 1e-2, "fringeIntP0": random.normal(size=5) * 1e-2}
        return made

    return make


def bend_fringe(entrance: int, leaving: int) -> Callable[[Any], Made]:
    return lambda random: {
        "FringeBendEntrance": entrance, "FringeBendExit": leaving, "FullGap": 0.03,
        "FringeInt1": random.uniform(0.2, 0.7), "FringeInt2": random.uniform(0.2, 0.7),
    }  # fmt: skip


def poles(random: Any) -> Made:
    return {"H1": random.normal(), "H2": random.normal()}


def straight_frame(random: Any) -> Made:
    return {"X0ref": random.normal() * 1e-3, "RefDZ": random.normal() * 1e-4}


def wiggler(name: str, method: int, *more: Callable[[Any], Made], by: Any = (1, 1, 0, 1, 1, 0), bx: Any = ()) -> Any:
    def make(random: Any) -> Any:
        made: Made = {}
        for extra in more:
            made |= extra(random)
        by_columns, bx_columns = (np.array(waves, dtype=float).reshape(-1, 6).T for waves in (by, bx))
        return at.Wiggler(
            "W", 0.8, 0.1, 1.2, By=by_columns, Bx=bx_columns, Nstep=6, Nmeth=method, PassMethod=name, **made
        )

    return make


def simple(cls: Any, *arguments: Any, misaligns: bool = True, **more: Any) -> Callable[[Any], Any]:
    return lambda random: cls("E", *arguments, **(misaligned(random) if misaligns else {}), **more)


def bent(thin: Any) -> Any:
    """PyAT's class makes a number of what its pass wants as an array."""
    thin.__dict__["BendingAngle"] = np.array([[0.01]])
    return thin


TILTED_WAVES = ([1, 0.9, 0.3, np.hypot(0.3, 1), 1, 0.2], [3, 0.1, 0, 3, 3, 0])
UPRIGHT_WAVES = ([1, 0.5, np.hypot(0.2, 1), 0.2, 1, 0.1], [3, 0.05, 3, 0, 3, 0.3])
RADIATIONS = ("Pass", "RadPass")

CASES: dict[str, Callable[[Any], Any]] = {
    "IdentityPass": simple(at.Marker),
    "DriftPass": simple(at.Drift, 1.3),
    "DriftPass, apertures": simple(at.Drift, 1.3, RApertures=np.array([-1e-3, 5e-4, -8e-4, 1e-3])),
    "ExactDriftPass": simple(at.Drift, 1.3, PassMethod="ExactDriftPass"),
    "QuadLinearPass, focusing": simple(at.Quadrupole, 0.4, 3.2, PassMethod="QuadLinearPass"),
    "QuadLinearPass, defocusing": simple(at.Quadrupole, 0.4, -3.2, PassMethod="QuadLinearPass"),
    "QuadLinearPass, off": simple(at.Quadrupole, 0.4, 0.0, PassMethod="QuadLinearPass"),
    "BendLinearPass": simple(at.Dipole, 0.9, 0.13, 0.0, PassMethod="BendLinearPass", EntranceAngle=0.05),
    "BendLinearPass, focusing": simple(at.Dipole, 0.9, 0.13, 1.2, PassMethod="BendLinearPass", ExitAngle=0.07),
    "BendLinearPass, defocusing": simple(at.Dipole, 0.9, 0.13, -1.2, PassMethod="BendLinearPass"),
    "BendLinearPass, fringes": simple(at.Dipole, 0.9, 0.13, -1.2, PassMethod="BendLinearPass", EntranceAngle=0.06,
                                      ExitAngle=0.03, FringeInt1=0.6, FringeInt2=0.5, FullGap=0.04),
    "CorrectorPass": simple(at.Corrector, 0.0, [1e-4, -3e-4]),
    "CorrectorPass, thick": simple(at.Corrector, 0.3, [1e-4, -3e-4]),
    "RFCavityPass": simple(at.RFCavity, 0.0, 1.7e6, 4.9965e8, 432, ENERGY, misaligns=False, TimeLag=0.1),
    "RFCavityPass, thick": simple(at.RFCavity, 1.2, 1.7e6, 4.9965e8, 432, ENERGY, misaligns=False, PhaseLag=0.3),
    "AperturePass": simple(at.Aperture, [-5e-4, 8e-4, -3e-4, 6e-4], misaligns=False),
    "SolenoidLinearPass": simple(at.Element, PassMethod="SolenoidLinearPass", Length=0.7, K=0.9),
    "Matrix66Pass": lambda random: at.M66("E", np.eye(6) + random.normal(size=(6, 6)) * 0.1, **misaligned(random)),
    "ThinMPolePass": lambda random: at.ThinMultipole(
        "E", random.normal(size=4) * 1e-2, random.normal(size=4) * 1e-2, MaxOrder=3,
        **misaligned(random), **steered(random)),
    "ThinMPolePass, bend": lambda random: bent(at.ThinMultipole(
        "E", [0.0] * 10, random.normal(size=10) * 1e-2, MaxOrder=9, **misaligned(random))),
}  # fmt: skip
for suffix in RADIATIONS:
    strong = f"StrMPoleSymplectic4{suffix}"
    for order in (0, 1, 2, 3, 4, 9):
        CASES[f"{strong}, order {order}"] = multipole(suffix, order, False)
        CASES[f"{strong}, order {order}, skew"] = multipole(suffix, order, True, steered, misaligned)
        CASES[f"BndMPoleSymplectic4{suffix}, order {order}"] = bend(suffix, order, False)
        CASES[f"BndMPoleSymplectic4{suffix}, order {order}, skew"] = bend(suffix, order, True, steered, misaligned)
    for ends in ((1, 1), (2, 1), (1, 2), (2, 2), (0, 2)):
        CASES[f"{strong}, fringes {ends}"] = multipole(suffix, 2, False, quad_fringe(*ends))
    for method in (0, 1, 2, 3):
        CASES[f"BndMPoleSymplectic4{suffix}, edges {method}"] = bend(
            suffix, 2, False, bend_fringe(method, (method + 1) % 4), quad_fringe(1, 2)
        )
    for order in (1, 2, 5):
        CASES[f"BndMPoleSymplectic4E2{suffix}, order {order}"] = bend(
            suffix, order, True, poles, steered, misaligned, bend_fringe(1, 1), name="BndMPoleSymplectic4E2"
        )
for order in (1, 3):
    CASES[f"BndStrMPoleSymplectic4Pass, order {order}"] = bend(
        "Pass", order, True, steered, straight_frame, bend_fringe(1, 1), name="BndStrMPoleSymplectic4"
    )
CASES["BndStrMPoleSymplectic4Pass, misaligned"] = bend(
    "Pass", 1, False, misaligned, straight_frame, name="BndStrMPoleSymplectic4"
)
for method in (2, 4):
    CASES[f"GWigSymplecticPass, method {method}"] = wiggler("GWigSymplecticPass", method, misaligned)
CASES["GWigSymplecticPass, waves"] = wiggler("GWigSymplecticPass", 4, by=TILTED_WAVES, bx=UPRIGHT_WAVES)
CASES["GWigSymplecticRadPass"] = wiggler("GWigSymplecticRadPass", 4)
CASES["GWigSymplecticRadPass, waves"] = wiggler("GWigSymplecticRadPass", 4, by=TILTED_WAVES, bx=UPRIGHT_WAVES)


def made(case: str, variant: int = 0) -> Any:
    random = np.random.default_rng([variant, *case.encode()])
    return CASES[case](random)


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_pyat(case: str) -> None:
    for variant in range(2):
        element = made(case, variant)
        ring = ring_of(element, energy=ENERGY)
        twin, lattice = twin_of(ring)
        particles = beam(seed=variant)
        expected = ring.track(particles.copy(order="F"), nturns=1, refpts=[1])[0][:, :, 0, 0]
        result = track(twin, particles)
        assert difference(result.particles, expected) < LIMIT
        del lattice


@pytest.mark.parametrize("simd", ["AVX2", "AVX-512"])
def test_vectors_agree_with_scalars(simd: str) -> None:
    name = need(simd)
    for case in CASES:
        twin, lattice = twin_of(ring_of(made(case), energy=ENERGY))
        particles = beam(count=43, seed=7)
        scalar = track(twin, particles, simd="RM_SIMD_SCALAR")
        library.rm_twin_set_turn(twin, 0)
        vector = track(twin, particles, simd=name)
        assert difference(vector.particles, scalar.particles) < 1e-13, case
        assert np.array_equal(vector.lost_element, scalar.lost_element), case
        del lattice
