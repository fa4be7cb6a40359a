# SPDX-License-Identifier: Apache-2.0
"""Design the ring of the demo and the examples, and write it as twin/lattices/elettra2_like.m.

    python3 twin/lattices/elettra2_like.py           match the ring, write elettra2_like.m, and print the families
    python3 twin/lattices/elettra2_like.py --check   exit 1 unless the committed file is what this script makes

A ring like Elettra 2.0: 2.4 GeV, 259.2 m, twelve achromats of six bends. Its frame (circumference, energy, RF, the
order of the magnets, what bends how much, how many BPMs and correctors) follows what was published of Elettra 2.0; all
strengths and distances are this project's. docs/ring.md has its parameters.

What is chosen stands in the tables below, in round numbers. The rest is matched: of the quadrupoles the least change
that gives the tunes, the β functions and no dispersion in the long straights; of two families of sextupoles what gives
the chromaticity. Matched strengths are rounded (to 1e-6 m^-2, 1e-4 m^-3: 1e-6 of a tune), so that every computer writes
the same file.

The ring is symmetric about the middle of each straight, so half an achromat, from the middle of a long straight to the
middle of a short one, is all that is matched.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

LATTICE = Path(__file__).with_suffix(".m")

ENERGY_EV = 2.4e9
ACHROMATS = 12
CIRCUMFERENCE_M = 259.2
HARMONIC_NUMBER = 432
CAVITY_V = 0.5e6
CAVITY_ACHROMATS = (3, 6, 9, 12)  # in their short straights
LIGHT_M_S = 299_792_458.0

TUNES = (33.30, 9.17)
CHROMATICITIES = (2.0, 2.0)
LONG_STRAIGHT_BETAS_M = (9.0, 2.0)


@dataclass(frozen=True)
class Magnet:
    """Of a family. Fields as in AT's PolynomB, m^-2 and m^-3; the beam's angle to the normal of dipole faces."""

    length_m: float
    angle_rad: float = 0.0
    quadrupole: float = 0.0
    sextupole: float = 0.0
    face_rad: float = 0.0
    steps: int = 10


def dipole(length_m: float, angle_deg: float, quadrupole: float, parallel_faces: bool = True) -> Magnet:
    """With faces parallel to each other, or (pieces of one magnet) perpendicular to the beam."""
    angle_rad = float(np.radians(angle_deg))
    return Magnet(length_m, angle_rad, quadrupole, face_rad=angle_rad / 2 if parallel_faces else 0.0)


def sextupole(length_m: float, strength: float) -> Magnet:
    """Half a magnet where a corrector sits in its middle. Four steps: more change a turn at 6 mm by 0.3 µm."""
    return Magnet(length_m, sextupole=strength, steps=4)


FAMILIES: dict[str, Magnet] = {
    # Dipoles that focus vertically. B2 is three pieces: the beam is bent most where the dispersion is least.
    "B1": dipole(0.64, 3.6, -2.30),
    "B2L": dipole(0.30, 1.9, -2.45, parallel_faces=False),
    "B2H": dipole(0.20, 2.6, 0.0, parallel_faces=False),
    # Quadrupoles that bend backwards, being off axis: they decouple dispersion from focusing, and damp horizontally.
    "RB1": dipole(0.24, -0.35, 4.5),
    "RB2": dipole(0.24, -0.35, 4.6),
    "RB3": dipole(0.24, -0.35, 5.2),
    "RB4": dipole(0.24, -0.35, 5.2),
    "QD1": Magnet(0.12, quadrupole=-1.6),
    "QF1": Magnet(0.24, quadrupole=6.3),
    "QD2": Magnet(0.12, quadrupole=-2.1),
    "QF2": Magnet(0.24, quadrupole=6.4),
    # Sextupoles: found by tracking, for the largest dynamic aperture at δ of -3 %, 0 and 3 %.
    "SH": sextupole(0.06, 25.0),
    "SD1": sextupole(0.06, -105.0),
    "SF1": sextupole(0.20, 215.0),
    "SD2": sextupole(0.08, -235.0),
    "SD3": sextupole(0.08, -245.0),
    "SF2": sextupole(0.20, 290.0),
    "SD4": sextupole(0.08, -285.0),
    "SD5": sextupole(0.08, -275.0),
    "SF3": sextupole(0.08, 200.0),
}
MATCHED_QUADRUPOLES = ("QD1", "QF1", "QD2", "QF2", "RB1", "RB2", "RB3", "RB4")
MATCHED_SEXTUPOLES = ("SF2", "SD4")

# Besides magnets: BPMs, and correctors of both planes: slow in long straights, air-core, windings of sextupoles.
BPM, SLOW, FAST, WINDINGS = "BPM", "CL", "CF", "CS"

# What stands in several pieces. A sextupole's windings kick in its middle, as if they were thin.
WOUND = ("SH", "SD1", "SD2", "SD3", "SD4", "SD5", "SF3")
PIECES: dict[str, tuple[str, ...]] = {family: (family, WINDINGS, family) for family in WOUND}
PIECES["B2"] = ("B2L", "B2H", "B2L")

# From the middle of a long straight to the middle of a short one: numbers are drifts, in metres.
HALF_ACHROMAT: tuple[str | float, ...] = (
    2.50, BPM, 0.12, SLOW, 0.12, FAST, 0.05, "QD1", 0.07, "SH", 0.07, "QF1",
    0.15, BPM, 0.05, "QD2", 0.10, "B1", 0.10, BPM, 0.05, "SD1", 0.05, "QF2",
    0.10, FAST, 0.05, "SF1", 0.05, "RB1", 0.05, "SD2", 0.05, BPM, 0.15, "B2",
    0.13, "SD3", 0.05, BPM, 0.05, "RB2", 0.06, "SF2", 0.06, "RB3",
    0.05, BPM, 0.05, "SD4", 0.13, "B2",
    0.13, "SD5", 0.05, "RB4", 0.05, BPM, 0.05, "SF3", 0.08, FAST, 0.62,
)  # fmt: skip

Families = dict[str, Magnet]
Rays = NDArray[np.float64]  # rows: x, px, y, py, δ; a column for each ray


# ---- where rays go: the integrator of AT's StrMPoleSymplectic4Pass and BndMPoleSymplectic4Pass
# (E. Forest, R. Ruth, Physica D 43, 105 (1990)), so that what is matched is what will be tracked.

CUBE_ROOT = 2 ** (1 / 3)
DRIFT_1, KICK_1 = 0.5 / (2 - CUBE_ROOT), 1 / (2 - CUBE_ROOT)
DRIFT_2, KICK_2 = 0.5 - DRIFT_1, 1 - 2 * KICK_1


def drift(rays: Rays, length_m: float) -> None:
    """Through nothing."""
    rays[0] += length_m * rays[1] / (1 + rays[4])
    rays[2] += length_m * rays[3] / (1 + rays[4])


def kick(rays: Rays, magnet: Magnet, length_m: float) -> None:
    """Through the field of this length of a magnet."""
    x, _, y, _, delta = rays
    curvature = magnet.angle_rad / magnet.length_m
    by = magnet.quadrupole * x + magnet.sextupole * (x * x - y * y)
    bx = magnet.quadrupole * y + 2 * magnet.sextupole * x * y
    rays[1] -= length_m * (by - curvature * (delta - curvature * x))
    rays[3] += length_m * bx


def face(rays: Rays, magnet: Magnet) -> None:
    """In or out of a dipole."""
    strength = magnet.angle_rad / magnet.length_m * np.tan(magnet.face_rad)
    rays[1] += strength * rays[0]
    rays[3] -= strength * rays[2]


def through(rays: Rays, magnet: Magnet) -> Iterator[float]:
    """Through a magnet; yields the length of each step."""
    step_m = magnet.length_m / magnet.steps
    face(rays, magnet)
    for _ in range(magnet.steps):
        drift(rays, DRIFT_1 * step_m)
        kick(rays, magnet, KICK_1 * step_m)
        drift(rays, DRIFT_2 * step_m)
        kick(rays, magnet, KICK_2 * step_m)
        drift(rays, DRIFT_2 * step_m)
        kick(rays, magnet, KICK_1 * step_m)
        drift(rays, DRIFT_1 * step_m)
        yield step_m
    face(rays, magnet)


def walk(families: Families, rays: Rays) -> Iterator[tuple[str, float]]:
    """Rays from the middle of a long straight to the middle of the next short one; yields what they went through, ""
    for nothing, and the length of each step (drifts in tenths, for who looks at them on the way).
    """
    for part in HALF_ACHROMAT:
        if isinstance(part, float):
            for _ in range(10):
                drift(rays, part / 10)
                yield "", part / 10
            continue
        for piece in PIECES.get(part, (part,)):
            if piece in families:
                for step_m in through(rays, families[piece]):
                    yield piece, step_m


def to_short_straight(families: Families, rays: Rays) -> Rays:
    """Where these rays are in the end."""
    rays = rays.copy()
    for _ in walk(families, rays):
        pass
    return rays


def matrix(families: Families, x_m: float = 0.0, delta: float = 0.0) -> Rays:
    """The first derivative of to_short_straight about a ray, 5 × 5, by central differences."""
    step = 1e-6  # m, rad: sextupoles bend the map
    centre = np.array([x_m, 0, 0, 0, delta])[:, None]
    rays = to_short_straight(families, centre + step * np.hstack([np.eye(5), -np.eye(5)]))
    return (rays[:, :5] - rays[:, 5:]) / (2 * step)


# ---- what is matched


def planes(m: Rays) -> Iterator[tuple[float, float, float, float]]:
    """a, b, c, d of the horizontal and the vertical 2 × 2 block."""
    for i in (0, 2):
        yield m[i, i], m[i, i + 1], m[i + 1, i], m[i + 1, i + 1]


def tunes(m: Rays, betas_m: tuple[float, ...]) -> list[float]:
    """Of the whole ring, less whole betatron turns per half achromat, for β at the start (where α = 0)."""
    halves = 2 * ACHROMATS
    pairs = zip(planes(m), betas_m, strict=True)
    return [halves * np.arctan2(b, a * beta) / (2 * np.pi) for (a, b, _, _), beta in pairs]


def linear_misses(families: Families) -> Rays:
    """How far a beam with the wanted β and no dispersion at the start is from being symmetric about the end (α = 0 and
    dispersion' = 0 there), and from the wanted tunes.
    """
    m = matrix(families)
    pairs = zip(planes(m), LONG_STRAIGHT_BETAS_M, strict=True)
    alphas = [-(a * c * beta + b * d / beta) for (a, b, c, d), beta in pairs]
    off = np.array(tunes(m, LONG_STRAIGHT_BETAS_M)) - TUNES
    halves = 2 * ACHROMATS
    return np.array([*alphas, 20 * m[1, 4], *(off - halves * np.round(off / halves))])


def tunes_off_momentum(families: Families, delta: float) -> Rays:
    """The tunes about the closed orbit at δ, which is symmetric: px = 0 at both ends."""
    x_m = 0.0
    for _ in range(3):
        end = to_short_straight(families, np.array([[x_m], [0], [0], [0], [delta]]))
        x_m -= end[1, 0] / matrix(families, x_m, delta)[1, 0]
    m = matrix(families, x_m, delta)
    return np.array(tunes(m, tuple(np.sqrt(-b * d / (a * c)) for a, b, c, d in planes(m))))


def chromatic_misses(families: Families) -> Rays:
    """How far the chromaticities are from the wanted ones."""
    delta = 1e-4
    change = tunes_off_momentum(families, delta) - tunes_off_momentum(families, -delta)
    return np.array(change / (2 * delta) - CHROMATICITIES)


Field = Literal["quadrupole", "sextupole"]


def with_strengths(families: Families, names: tuple[str, ...], field: Field, values: Rays) -> Families:
    """The families, of which these are stronger or weaker."""
    changed = dict(families)
    for name, value in zip(names, values.tolist(), strict=True):
        magnet = families[name]
        changed[name] = replace(magnet, quadrupole=value) if field == "quadrupole" else replace(magnet, sextupole=value)
    return changed


def newton(
    families: Families, names: tuple[str, ...], field: Field, misses: Callable[[Families], Rays], digits: int
) -> Families:
    """The strengths nearest to those given for which `misses` vanishes, rounded."""
    strengths = np.array([getattr(families[name], field) for name in names])

    def missed(values: Rays) -> Rays:
        return misses(with_strengths(families, names, field, values))

    for _ in range(20):
        miss = missed(strengths)
        if np.abs(miss).max() < 1e-9:
            return with_strengths(families, names, field, np.round(strengths, digits))
        step = 1e-5
        moved = np.array([missed(strengths + step * unit) for unit in np.eye(len(names))])
        strengths = strengths - np.linalg.pinv((moved - miss).T / step) @ miss
    raise RuntimeError(f"the {field} strengths of {', '.join(names)} do not converge: still off by {miss}")


def design() -> Families:
    """The families as they are built."""
    linear = newton(FAMILIES, MATCHED_QUADRUPOLES, "quadrupole", linear_misses, digits=6)
    return newton(linear, MATCHED_SEXTUPOLES, "sextupole", chromatic_misses, digits=4)


# ---- the file: one line for each element, as pyAT writes them and MATLAB reads them


def straight(name: str, achromat: int) -> Iterator[str]:
    """The marker in the middle of a straight, and the cavity where there is one."""
    yield f"atmarker('{name}_S{achromat:02}_01')"
    if name == "SS" and achromat in CAVITY_ACHROMATS:
        frequency_hz = HARMONIC_NUMBER * LIGHT_M_S / CIRCUMFERENCE_M
        numbers = f"{CAVITY_V!r}, {frequency_hz!r}, {HARMONIC_NUMBER}, {ENERGY_EV!r}"
        yield f"atrfcavity('CAV_S{achromat:02}_01', 0.0, {numbers}, 'IdentityPass')"


def element(name: str, part: str, families: Families) -> str:
    """A BPM, a corrector or a magnet."""
    if part == BPM:
        return f"atmonitor('{name}')"
    if part not in families:
        return f"atcorrector('{name}', 0.0, [0. 0.])"
    magnet = families[part]
    if magnet.angle_rad:
        faces = f", 'EntranceAngle', {magnet.face_rad!r}, 'ExitAngle', {magnet.face_rad!r}" if magnet.face_rad else ""
        return f"atsbend('{name}', {magnet.length_m!r}, {magnet.angle_rad!r}, {magnet.quadrupole!r}{faces})"
    if magnet.sextupole:
        return f"atsextupole('{name}', {magnet.length_m!r}, {magnet.sextupole!r}, 'NumIntSteps', {magnet.steps})"
    return f"atquadrupole('{name}', {magnet.length_m!r}, {magnet.quadrupole!r})"


def achromat(families: Families, number: int) -> Iterator[str]:
    """From the middle of a long straight to the middle of the next."""
    count: Counter[str] = Counter()

    def there(part: str | float) -> Iterator[str]:
        if isinstance(part, float):
            yield f"atdrift('D', {part!r})"
            return
        count[part] += 1
        for piece in PIECES.get(part, (part,)):
            count[WINDINGS] += piece == WINDINGS
            place = count[WINDINGS if piece == WINDINGS else part]
            yield element(f"{piece}_S{number:02}_{place:02}", piece, families)

    yield from straight("LS", number)
    for part in HALF_ACHROMAT:
        yield from there(part)
    yield from straight("SS", number)
    for part in reversed(HALF_ACHROMAT):
        yield from there(part)


def lattice(families: Families) -> str:
    """The file. What pyAT skips of it (the first two lines, and all after the elements) is for MATLAB."""
    particle = "struct('name', 'relativistic', 'rest_energy', 0.0, 'charge', -1.0)"
    elements = [f"atringparam('{LATTICE.stem}', {ENERGY_EV!r}, 1, 'Particle', {particle})"]
    for number in range(1, ACHROMATS + 1):
        elements += achromat(families, number)
    lines = [f"function ring = {LATTICE.stem}()", "ring = {...", *(f"    {each};..." for each in elements), "};", "end"]
    return "\n".join(lines) + "\n"


def table(families: Families) -> Iterator[str]:
    """A line for each family, with its fields in the ring's own units."""
    rigidity_tm = ENERGY_EV / LIGHT_M_S
    yield "family  length, m  angle, °     k, m^-2    s, m^-3  field, T  gradient, T/m  B″, T/m²"
    for name, each in families.items():
        fields = np.array([each.angle_rad / each.length_m, each.quadrupole, 2 * each.sextupole]) * rigidity_tm
        angle_deg = np.degrees(each.angle_rad)
        strengths = f"{each.length_m:9.2f} {angle_deg:9.2f} {each.quadrupole:11.6f} {each.sextupole:10.4f}"
        yield f"{name:6} {strengths} {fields[0]:9.3f} {fields[1]:14.2f} {fields[2]:9.0f}"


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description="Design the ring of the demo and the examples.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 unless the file is up to date")
    check: bool = parser.parse_args().check
    families = design()
    text = lattice(families)
    if not check:
        LATTICE.write_text(text)
        print("\n".join(table(families)))
    elif not LATTICE.exists() or LATTICE.read_text() != text:
        print(f"{LATTICE} is not what its recipe makes; run {Path(__file__).name}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
