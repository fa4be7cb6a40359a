# SPDX-License-Identifier: Apache-2.0
"""Magnets of a lattice as devices: what each was designed to be, and what sets it.

::

    magnets:
      lattice: elettra2_like                # one that we ship, or a file beside this one
      sector: "_S([0-9]+)_"                 # where an element's name has its sector
      device: "sr/magnet/{family}_s{sector}.{number}"
      families:                             # the first that has an element names it
        - {family: ch, elements: "CS_*", plane: x, sets: "sr/ps/csx_[01-06]_[01-28]/setpoint", rad_per_unit: 20.0e-6}
        - {family: qf, elements: "QF[12]_*", sets: "machine/{element}", relative_per_unit: 1}
        - {family: sf, elements: "SF*"}     # nothing sets it

{number} counts the magnets of a family in a sector from 01, in the order of the lattice. Elements of one name that
follow each other are parts of one magnet; a corrector is one for each plane.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from ringmaster.gateways.parts import number, parts, text
from ringmaster.gateways.views import View
from ringmaster.machine.mapping import expand

if TYPE_CHECKING:
    from ringmaster.machine.server_file import Part
    from ringmaster.twin.lattice import Lattice

FAMILY_KEYS = ("family", "elements", "plane", "sets", "rad_per_unit", "relative_per_unit")
UNITS = ("rad", "1/m", "1/m²", "1/m³")
"""Of a strength, by the order of its field: dipole, quadrupole, sextupole, octupole."""
DESIGN, CORRECTION, STRENGTH = "DesignStrength", "CorrectionStrength", "Strength"
_SMALL = 1e-6, 1e6
"""What an ampere may do, in either unit."""


@dataclass
class _Magnet:
    """One of them."""

    name: str
    """Of its elements."""
    family: str
    sector: str
    index: int
    """Of its first element."""
    order: int = 0
    design: float = 0.0
    sets: str = ""
    """Our name of what sets it; empty: nothing does."""
    scale: float = 0.0
    """What a unit of that does to its strength."""
    place: str = ""


@dataclass
class _Family:
    """An entry of the file."""

    part: "Part"
    family: str
    elements: str
    corrects: bool
    sets: list[str] = field(default_factory=list)
    template: str = ""

    @classmethod
    def read(cls, part: "Part") -> "_Family":
        part.check_keys(FAMILY_KEYS)
        sets = text(part, "sets") if "sets" in part.values else ""
        if "rad_per_unit" in part.values and part.values.get("plane") not in ("x", "y"):
            raise part.error("plane", f"{part.values.get('plane')!r}, expected x or y")
        if sets and ("rad_per_unit" in part.values) == ("relative_per_unit" in part.values):
            raise part.error("sets", "what does a unit of it do? expected one of rad_per_unit and relative_per_unit")
        found = cls(part, text(part, "family"), text(part, "elements"), "rad_per_unit" in part.values)
        if "{element}" in sets:
            found.template = sets
        else:
            found.sets = expand(sets) if sets else []
        return found


def magnet_views(whole: "Part") -> tuple[View, ...]:
    """The attributes of all magnets. Raises ValueError with file, line and key."""
    from ringmaster.twin.lattice import load_lattice
    from ringmaster.twin.shipped import lattice_path

    whole.check_keys(("lattice", "sector", "device", "families"))
    lattice = load_lattice(_beside(whole.path, lattice_path(text(whole, "lattice"))))
    sector = re.compile(text(whole, "sector"))
    taken: dict[int, _Magnet] = {}
    correctors: list[_Magnet] = []
    for family in [_Family.read(part) for part in parts(whole, "families")]:
        found = list(_found(lattice, family, sector))
        if family.corrects:
            correctors += found
            continue
        for magnet in found:
            taken.setdefault(magnet.index, magnet)
    return tuple(_named(whole, sorted([*taken.values(), *correctors], key=lambda it: it.index)))


def _beside(file: Path, lattice: Path) -> Path:
    return lattice if lattice.is_absolute() or lattice.exists() else file.parent / lattice


def _found(lattice: "Lattice", family: _Family, sector: re.Pattern[str]) -> Iterator[_Magnet]:
    magnets: list[_Magnet] = []
    for index, name in enumerate(lattice.names):
        if not fnmatchcase(name, family.elements):
            continue
        element = lattice[index]
        order = 0 if family.corrects else _order(family, element)
        design = 0.0 if family.corrects else float(element.PolynomB[order]) * float(element.Length)
        if magnets and magnets[-1].name == name:
            magnets[-1].design += design  # another part of it
            continue
        where = sector.search(name)
        if where is None:
            raise family.part.error("elements", f"{name} has no sector by {sector.pattern!r}")
        place = family.part.error("elements", "").args[0].partition(": ")[0]
        magnets.append(_Magnet(name, family.family, where[1], index, order, design, place=place))
    if not magnets:
        raise family.part.error("elements", f"no element of {lattice.name} is named {family.elements}")
    _set_by(family, magnets)
    return iter(magnets)


def _order(family: _Family, element: "object") -> int:
    from ringmaster.twin.elements import Kind

    orders = {Kind.DIPOLE: 1, Kind.QUADRUPOLE: 1, Kind.SEXTUPOLE: 2, Kind.OCTUPOLE: 3}
    kind = element.kind  # type: ignore[attr-defined]
    if kind not in orders:
        raise family.part.error("elements", f"{element!r} is no magnet; of a corrector say rad_per_unit")
    return orders[kind]


def _set_by(family: _Family, magnets: Sequence[_Magnet]) -> None:
    if family.sets and len(family.sets) != len(magnets):
        words = f"{len(family.sets)} names for {len(magnets)} magnets named {family.elements}"
        raise family.part.error("sets", words)
    for i, magnet in enumerate(magnets):
        magnet.sets = family.sets[i] if family.sets else family.template.replace("{element}", magnet.name)
        if family.corrects:
            magnet.scale = number(family.part, "rad_per_unit", 0.0, -_SMALL[1], _SMALL[1])
        elif magnet.sets:
            magnet.scale = magnet.design * number(family.part, "relative_per_unit", 0.0, -_SMALL[1], _SMALL[1])


def _named(whole: "Part", magnets: Sequence[_Magnet]) -> Iterator[View]:
    counts: dict[tuple[str, str], int] = {}
    for magnet in magnets:
        key = magnet.family, magnet.sector
        counts[key] = counts.get(key, 0) + 1
        words = {"family": magnet.family, "sector": magnet.sector, "number": f"{counts[key]:02}"}
        device = re.sub(r"\{(\w+)\}", lambda it, words=words: words.get(it[1], it[0]), text(whole, "device"))  # type: ignore[misc]
        yield from _views(device, magnet)


def _views(device: str, magnet: _Magnet) -> Iterator[View]:
    unit, what = UNITS[magnet.order], f"of {magnet.name}"
    design = f"design strength {what}"
    common = {"unit": unit, "place": magnet.place}
    yield View(f"{device}/{DESIGN}", constant=magnet.design, description=design, **common)  # type: ignore[arg-type]
    for name, offset, words in (
        (CORRECTION, 0.0, f"strength {what} beyond its design"),
        (STRENGTH, magnet.design, f"strength {what}"),
    ):
        if magnet.sets and magnet.scale:
            view = View(f"{device}/{name}", of=magnet.sets, scale=magnet.scale, offset=offset, description=words)
        else:
            view = View(f"{device}/{name}", constant=offset, description=f"{words}, which nothing sets")
        yield View(**{**vars(view), **common})
