# SPDX-License-Identifier: Apache-2.0
"""Lattices: read from files, looked at by name, kind and place. Nobody can change one; a Twin can differ from it."""

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import TwinArgument
from ringmaster.twin import pyat
from ringmaster.twin._library import Floats, Points, call, ffi, lib, text
from ringmaster.twin.elements import MAGNETS, Element, Kind
from ringmaster.twin.points import Refpts, find, resolve
from ringmaster.twin.shipped import lattice_path

if TYPE_CHECKING:
    from ringmaster.twin.machine import Ring

LIGHT_M_S = 299792458.0
ELECTRON_EV = 510998.95069
"""Rest energy, CODATA 2022."""
Path = str | os.PathLike[str]


class Lattice:
    """The elements of a ring, as they were designed. Any number of twins and threads may share it.

    ``len(lattice)``, ``lattice[i]`` and ``for element in lattice`` are as in a list. Where a point of the ring is asked
    for, anything that :mod:`ringmaster.twin.points` knows will do.
    """

    def __init__(self, pointer: Any) -> None:
        """Takes a `struct rm_lattice *` of its own. People use `load_lattice`."""
        self.pointer = ffi.gc(pointer, lib.rm_lattice_free)

    @property
    def _info(self) -> Any:
        return lib.rm_lattice_info(self.pointer)

    @property
    def name(self) -> str:
        """The lattice's own."""
        return text(self._info.name)

    @property
    def particle(self) -> str:
        """What goes round: "relativistic", "electron", …"""
        return text(self._info.particle)

    @property
    def energy(self) -> float:
        """Of the reference particle, total, eV."""
        return float(self._info.energy_ev)

    @property
    def rest_energy(self) -> float:
        """Of the particle, eV; 0: it moves at the speed of light."""
        return float(self._info.rest_energy_ev)

    @property
    def beta(self) -> float:
        """Velocity of the reference particle, in units of light's."""
        return float(np.sqrt(1.0 - (self.rest_energy / self.energy) ** 2))

    @property
    def gamma(self) -> float:
        """Energy over rest energy, the electron's where the particle has none."""
        return self.energy / (self.rest_energy or ELECTRON_EV)

    @property
    def periodicity(self) -> int:
        """How many times these elements follow each other in the ring."""
        return int(self._info.periodicity)

    @property
    def harmonic_number(self) -> int:
        """Of the whole ring; 0 without cavity."""
        return int(self._info.harmonic_number)

    @property
    def cell_length(self) -> float:
        """Of these elements, m."""
        return float(lib.rm_lattice_length_m(self.pointer))

    @property
    def circumference(self) -> float:
        """Of the whole ring, m."""
        return self.cell_length * self.periodicity

    @property
    def revolution_frequency(self) -> float:
        """Of the whole ring, Hz."""
        return self.beta * LIGHT_M_S / self.circumference

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all elements, in order: FamName."""
        return tuple(element.FamName for element in self)

    @cached_property
    def families(self) -> dict[str, Points]:
        """Indices of the elements of each name, names in the order in which they first appear."""
        indices: dict[str, list[int]] = {}
        for i, name in enumerate(self.names):
            indices.setdefault(name, []).append(i)
        return {name: np.array(found, np.uint32) for name, found in indices.items()}

    def __len__(self) -> int:
        return int(lib.rm_lattice_count(self.pointer))

    def __getitem__(self, index: int) -> Element:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"element {index} of {len(self)}")
        return Element(self, lib.rm_lattice_element(self.pointer, position))

    def __iter__(self) -> Iterator[Element]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Lattice({self.name!r}, {len(self)} elements, {self.circumference:g} m, {self.energy:g} eV)"

    def find(self, pattern: str | None = None, kind: Kind | None = None) -> Points:
        """Indices of the elements whose name matches (``*``, ``?``) and that are of this kind."""
        return find(self, pattern, kind)

    def get_uint32_index(self, refpts: Refpts) -> Points:
        """The points that are meant, as ascending indices ≤ ``len(lattice)``."""
        return resolve(self, refpts)

    def get_bool_index(self, refpts: Refpts) -> NDArray[np.bool_]:
        """The same as ``len(lattice) + 1`` booleans."""
        mask = np.zeros(len(self) + 1, np.bool_)
        mask[resolve(self, refpts)] = True
        return mask

    def get_s_pos(self, refpts: Refpts) -> Floats:
        """The points' s, from the entrance of element 0, m."""
        return np.array([lib.rm_lattice_s_m(self.pointer, int(i)) for i in resolve(self, refpts)], np.float64)

    def get_bpms(self) -> Points:
        """Indices of the monitors."""
        return find(self, None, Kind.MONITOR)

    def get_correctors(self) -> Points:
        """Indices of the correctors that are elements of their own."""
        return find(self, None, Kind.CORRECTOR)

    def get_cavities(self) -> Points:
        """Indices of the cavities."""
        return find(self, None, Kind.CAVITY)

    def get_magnets(self) -> Points:
        """Indices of all magnets."""
        return np.unique(np.concatenate([find(self, None, kind) for kind in MAGNETS])).astype(np.uint32)


def load_lattice(
    path: Path, *, variable: str | None = None, use: str | None = None, energy: float | None = None
) -> Lattice:
    """Reads a lattice from a file, by its suffix: ``.mat``, ``.m``; ``.madx``, ``.seq``, ``.lat`` of MAD-X.

    Where pyAT is installed, it reads ``.json`` (its own and xsuite's) and ``.lte`` (elegant) for us. A name without
    suffix, ``elettra2_like``, is that of a lattice that comes with us.

    ``variable`` of a ``.mat`` file holds the lattice, where there are several; ``use`` is the MAD-X sequence, or the
    line of what pyAT reads; ``energy`` (eV) is for the latter, too. Raises LatticeAbsent, or LatticeInvalid with the
    line or element at fault.
    """
    if pyat.reads(path):
        return _of_pyat(pyat.load(path, use, energy), os.fsdecode(path))
    if energy is not None:
        raise TwinArgument(f"{os.fsdecode(path)}: found an energy for it, expected none: such a file tells its own")
    source = ffi.new("struct rm_lattice_source *")
    names = [ffi.NULL if name is None else ffi.new("char[]", name.encode()) for name in (variable, use)]
    source.variable, source.sequence = names
    made = ffi.new("struct rm_lattice **")
    call(lib.rm_lattice_read, os.fsencode(lattice_path(path)), source, made, reading=True)
    return Lattice(made[0])


def _of_pyat(ring: Any, said: str) -> Lattice:
    """`said` is what errors call it."""
    made = ffi.new("struct rm_lattice **")
    content = pyat.as_mat(ring, said)
    label = os.fsencode(f"{said}, as pyAT writes it to .mat")
    call(lib.rm_lattice_parse, label, content, len(content), ffi.NULL, made, reading=True)
    return Lattice(made[0])


def lattice_of(source: Any) -> Lattice:
    """A lattice itself, that of pyAT as it is in memory now, or that of a file."""
    if isinstance(source, Lattice):
        return source
    if isinstance(source, str | os.PathLike):
        return load_lattice(source)
    if pyat.is_lattice(source):
        return _of_pyat(source, f"pyAT's lattice {source.name!r}")
    raise TwinArgument(f"found a {type(source).__name__}, expected a lattice, pyAT's or ours, or the name of a file")


def load_mat(path: Path, *, mat_key: str | None = None) -> Lattice:
    """Reads a ``.mat`` file of MATLAB, version 5 or 7; ``mat_key`` is the variable that holds the lattice."""
    return load_lattice(path, variable=mat_key)


def load_m(path: Path) -> Lattice:
    """Reads a ``.m`` file, as pyAT and MATLAB's ``atwritem`` write it."""
    return load_lattice(path)


def load_madx(path: Path, *, use: str | None = None) -> Lattice:
    """Reads a MAD-X file; ``use`` is the sequence, without it the one that the file uses."""
    return load_lattice(path, use=use)


def save_mat(ring: "Ring", path: Path) -> None:
    """Writes a ``.mat`` file, which pyAT and MATLAB read back to the same elements; a twin's as they are now."""
    lattice = ring if isinstance(ring, Lattice) else ring.to_lattice()
    call(lib.rm_lattice_write_mat, lattice.pointer, os.fsencode(path), reading=True)
