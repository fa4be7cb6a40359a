# SPDX-License-Identifier: Apache-2.0
"""Which element of a lattice is which BPM reading and which supply: by a small file, or by options.

::

    bpms: "BPM_*"                       # elements, in their order
    rows: "bpm[01-84]/{x1,y1,x2,y2}"    # readings: x and y of the first element, of the second, …
    correctors:
      - {elements: "CF_*", plane: x, actuators: "sr/ps/cfx_[01-72]", urad_per_unit: 10}
    strengths:                          # supplies that change the fields of magnets, one for each magnet
      - {elements: "QF1_*", change: gradient, supplies: "sr/ps/qf1_[01-24]", per_unit: 0.001}
    rf: {actuator: sr/rf/frequency, hz_per_unit: 1}                      # or absent

A magnet of several elements, as a sextupole about its corrector, is all elements of one name that have nothing with a
length between them but elements of their kind.

Names are written out, as lists or with ranges [01-84] and choices {x1,y1}; or they are patterns with ``*`` of the names
that a server has.
"""

import itertools
import re
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmaster.machine.server_file import read_yaml

if TYPE_CHECKING:
    from ringmaster.twin.lattice import Lattice

_PART = re.compile(r"\[(\d+)-(\d+)\]|\{([^{}]*)\}")
TWO_BPMS = ("x1", "y1", "x2", "y2")
"""What an electronics of kind bpm reads, without its sums."""


@dataclass(frozen=True)
class Group:
    """Correctors of one kind."""

    elements: tuple[int, ...]
    """Of the lattice."""
    plane: str
    actuators: tuple[str, ...]
    """One for each element."""
    rad_per_unit: float


CHANGES = ("gradient", "skew", "sextupole")
"""What a supply changes, per its unit: the gradient (relative; a bend's angle goes with it, as one current makes both),
the skew gradient times length (1/m), the sextupole strength (relative).
"""


@dataclass(frozen=True)
class Strengths:
    """Supplies of magnets of one kind."""

    magnets: tuple[tuple[int, ...], ...]
    """The elements of each magnet."""
    change: str
    supplies: tuple[str, ...]
    """One for each magnet."""
    per_unit: float


@dataclass(frozen=True)
class Mapping:
    """All of it, of one lattice."""

    bpms: tuple[int, ...]
    rows: tuple[str, ...]
    """Readings; row 2 i is x, row 2 i + 1 is y of BPM i."""
    groups: tuple[Group, ...]
    rf: tuple[str, float] | None
    """Actuator of the RF frequency, and Hz per its unit."""
    strengths: tuple[Strengths, ...] = ()

    @property
    def actuators(self) -> tuple[str, ...]:
        """All that move the orbit by design: the correctors', and the RF's last."""
        names = tuple(name for group in self.groups for name in group.actuators)
        return names if self.rf is None else (*names, self.rf[0])

    @property
    def supplies(self) -> tuple[str, ...]:
        """The actuators, and then those of the strengths."""
        return (*self.actuators, *(name for entry in self.strengths for name in entry.supplies))


def expand(text: str) -> list[str]:
    """``"b[01-03]/{x,y}"`` is b01/x, b01/y, b02/x, …"""
    parts: list[list[str]] = []
    end = 0
    for match in _PART.finditer(text):
        parts.append([text[end : match.start()]])
        first, last, choices = match.groups()
        if choices is not None:
            parts.append([choice.strip() for choice in choices.split(",")])
        else:
            parts.append([f"{i:0{len(first)}d}" for i in range(int(first), int(last) + 1)])
        end = match.end()
    return ["".join(chosen) for chosen in itertools.product(*parts, [text[end:]])]


def names_of(written: str | Sequence[str], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Names, written out or as patterns of what is known. Raises ValueError for a pattern that finds nobody."""
    names: list[str] = []
    for entry in [written] if isinstance(written, str) else written:
        for name in expand(str(entry)):
            if "*" not in name and "?" not in name:
                names.append(name)
                continue
            found = [other for other in known if fnmatchcase(other, name)]
            if not found:
                whose = "the server has none" if known else "say whose names are meant by --server CONFIG.yaml or -w"
                raise ValueError(f"the pattern {name!r} matches nothing: {whose}")
            names += found
    return tuple(names)


def read_mapping(path: Path) -> dict[str, Any]:
    """The file, or the key `lattice` of the feedback's own."""
    read = read_yaml(path)
    if isinstance(read, dict) and "lattice" in read:
        read = read["lattice"]
    if not isinstance(read, dict):
        raise ValueError(f"{path}: found no keys `bpms`, `rows` and `correctors`, nor a key `lattice` that has them")
    return read


def resolve(
    lattice: "Lattice", given: AnyMapping[str, Any], known_rows: Sequence[str] = (), known: Sequence[str] = ()
) -> Mapping:
    """Against a lattice and the names of a server. Raises ValueError where counts do not fit."""
    bpms = _elements(lattice, str(given.get("bpms", "*BPM*")))
    if not bpms:
        raise ValueError(f"no element of {lattice.name} is named {given.get('bpms', '*BPM*')}: which are the BPMs?")
    rows = names_of(given["rows"], known_rows) if "rows" in given else tuple(known_rows)
    if len(rows) != 2 * len(bpms):
        raise ValueError(
            f"{len(bpms)} BPMs of {lattice.name} have {2 * len(bpms)} readings; {len(rows)} names of rows are given"
        )
    groups = tuple(_group(lattice, entry, known) for entry in given.get("correctors") or [])
    strengths = tuple(_strengths(lattice, entry, known) for entry in given.get("strengths") or [])
    rf = given.get("rf")
    offset = None if rf is None else (str(rf["actuator"]), float(rf.get("hz_per_unit", 1)))
    return Mapping(bpms, rows, groups, offset, strengths)


def _elements(lattice: "Lattice", pattern: str) -> tuple[int, ...]:
    """In the order of the lattice. [1-8] in a pattern is any of these characters."""
    return tuple(i for i, name in enumerate(lattice.names) if fnmatchcase(name, pattern))


def _group(lattice: "Lattice", entry: AnyMapping[str, Any], known: Sequence[str]) -> Group:
    elements = _elements(lattice, str(entry["elements"]))
    actuators = names_of(entry.get("actuators", entry.get("supplies", ())), known)
    plane = str(entry.get("plane", "x"))
    if plane not in ("x", "y"):
        raise ValueError(f"correctors {entry['elements']}: found plane {plane!r}, expected x or y")
    if len(elements) != len(actuators):
        raise ValueError(
            f"correctors {entry['elements']} of plane {plane}: {len(elements)} elements of {lattice.name}, "
            f"{len(actuators)} actuators"
        )
    return Group(elements, plane, actuators, float(entry.get("urad_per_unit", 1.0)) * 1e-6)


def _magnets(lattice: "Lattice", pattern: str) -> tuple[tuple[int, ...], ...]:
    """Elements by pattern; those of one name with no length of another kind between them are one magnet."""
    magnets: list[tuple[int, ...]] = []
    for i in _elements(lattice, pattern):
        if magnets and _is_one_magnet(lattice, magnets[-1][-1], i):
            magnets[-1] += (i,)
        else:
            magnets.append((i,))
    return tuple(magnets)


def _is_one_magnet(lattice: "Lattice", before: int, element: int) -> bool:
    kind = lattice[before].kind
    between = (lattice[i] for i in range(before + 1, element))
    return lattice.names[before] == lattice.names[element] and all(it.kind == kind or it.Length == 0 for it in between)


def _strengths(lattice: "Lattice", entry: AnyMapping[str, Any], known: Sequence[str]) -> Strengths:
    magnets = _magnets(lattice, str(entry["elements"]))
    supplies = names_of(entry.get("supplies", ()), known)
    change = str(entry.get("change", "gradient"))
    if change not in CHANGES:
        raise ValueError(
            f"strengths {entry['elements']}: found change {change!r}, expected one of {', '.join(CHANGES)}"
        )
    if len(magnets) != len(supplies):
        raise ValueError(
            f"strengths {entry['elements']}: {len(magnets)} magnets of {lattice.name}, {len(supplies)} supplies"
        )
    return Strengths(magnets, change, supplies, float(entry["per_unit"]))


def rows_of_bpms(instruments: Sequence[str]) -> list[str]:
    """Readings of electronics that read two BPMs each."""
    return [f"{name}/{lane}" for name in instruments for lane in TWO_BPMS]


def corrector_of(text: str) -> dict[str, Any]:
    """The option ELEMENTS:PLANE:ACTUATORS[:URAD_PER_UNIT]. Raises ValueError."""
    fields = text.split(":")
    if len(fields) not in (3, 4):
        raise ValueError(f"{text!r}: expected ELEMENTS:PLANE:ACTUATORS or ELEMENTS:PLANE:ACTUATORS:URAD_PER_UNIT")
    entry: dict[str, Any] = {"elements": fields[0], "plane": fields[1], "actuators": fields[2]}
    if len(fields) == 4:
        entry["urad_per_unit"] = float(fields[3])
    return entry
