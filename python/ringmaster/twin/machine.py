# SPDX-License-Identifier: Apache-2.0
"""A lattice brought to life: strengths, errors and settings of its own. What it can compute is beside.

Where elements are asked for, anything that :mod:`ringmaster.twin.points` knows will do, and values are one for all or
one for each. What an element does not have raises TwinArgument, which names it; elements before it are then set.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Points, buffer, call, ffi, lib
from ringmaster.twin.elements import Element, Kind, Radiation
from ringmaster.twin.lattice import Lattice, Path, lattice_of
from ringmaster.twin.points import Refpts, resolve

if TYPE_CHECKING:
    import at

Values = float | Sequence[float] | NDArray[np.floating[Any]]


KINDS = {
    "B": lib.RM_STRENGTH_NORMAL,
    "A": lib.RM_STRENGTH_SKEW,
    "x": lib.RM_STRENGTH_KICK_HORIZONTAL,
    "y": lib.RM_STRENGTH_KICK_VERTICAL,
    "Frequency": lib.RM_STRENGTH_FREQUENCY,
}
"""What ``set_strengths`` sets: a coefficient of PolynomB or PolynomA, a kick, a cavity's frequency."""


class Strengths:
    """Which strengths ``set_strengths`` sets: (element, a key of KINDS, order of the polynom's coefficient)."""

    def __init__(self, entries: Sequence[tuple[int, str, int]]) -> None:
        self.entries = tuple(entries)
        self.struct = ffi.new("struct rm_strength[]", [(i, KINDS[kind], order, 0) for i, kind, order in entries])

    def __len__(self) -> int:
        return len(self.entries)


class Machine:
    """One twin's own ring. One thread's at a time; twins share their lattice and nothing else."""

    def __init__(self, lattice: "Lattice | Path | at.Lattice") -> None:
        """As designed. pyAT's lattice is copied as it is now."""
        self.lattice = lattice_of(lattice)
        self.pointer = self._made(lib.rm_twin_make, self.lattice.pointer)

    @staticmethod
    def _made(function: Any, source: Any) -> Any:
        made = ffi.new("struct rm_twin **")
        call(function, source, made)
        return ffi.gc(made[0], lib.rm_twin_free)

    def copy(self) -> Self:
        """A second one with the same strengths, errors and settings, and turn 0."""
        other = object.__new__(type(self))
        other.lattice = self.lattice
        other.pointer = self._made(lib.rm_twin_copy, self.pointer)
        return other

    def __len__(self) -> int:
        return len(self.lattice)

    def __getitem__(self, index: int) -> Element:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"element {index} of {len(self)}")
        struct = lib.rm_twin_element(self.pointer, position)
        return Element(self, struct, lambda name, value: self._set_attribute(position, name, value))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("lattice", "pointer") or isinstance(getattr(type(self), name, None), property):
            super().__setattr__(name, value)
            return
        what = " It belongs to the lattice's design: change the lattice's file." if hasattr(Lattice, name) else ""
        raise AttributeError(
            f"{name} of a twin cannot be set.{what} Strengths are set by set_value_refpts(), cavities by set_cavity()"
        )

    def to_lattice(self) -> Lattice:
        """A lattice of the elements as they are now, with this twin's strengths, errors, cavities and radiation."""
        made = ffi.new("struct rm_lattice **")
        elements = lib.rm_twin_element(self.pointer, 0)
        call(lib.rm_lattice_make, lib.rm_lattice_info(self.lattice.pointer), elements, len(self), made)
        return Lattice(made[0])

    def __iter__(self) -> Iterator[Element]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.lattice!r}, {'6D' if self.is_6d else '4D'})"

    def get_uint32_index(self, refpts: Refpts) -> Points:
        """The points that are meant, as ascending indices; a function is asked about the elements as they are."""
        return resolve(self.lattice, refpts, self)

    # ---- cavities and radiation

    @property
    def is_6d(self) -> bool:
        """Whether a cavity is on; if not, δ is a parameter."""
        return bool(lib.rm_twin_is_6d(self.pointer))

    def enable_6d(self) -> None:
        """Cavities on, and radiation classical in dipoles, quadrupoles, multipoles and wigglers."""
        call(lib.rm_twin_enable_6d, self.pointer)

    def disable_6d(self) -> None:
        """Cavities and radiation off."""
        lib.rm_twin_disable_6d(self.pointer)

    def set_radiation(self, refpts: Refpts, radiation: Radiation) -> None:
        """None, classical or quantum."""
        for i in self._elements(refpts):
            call(lib.rm_twin_set_radiation, self.pointer, int(i), int(radiation))

    def seed(self, seed: int) -> None:
        """Of the quantum fluctuation, below 2^64."""
        lib.rm_twin_seed(self.pointer, seed)

    def set_cavity(
        self,
        Voltage: float | None = None,
        Frequency: float | None = None,
        TimeLag: float | None = None,
        cavpts: Refpts = Kind.CAVITY,
    ) -> None:
        """Voltage of all these cavities in the whole ring (V), frequency (Hz), time lag (m); None: as it is."""
        indices = self._elements(cavpts)
        for i in indices:
            cavity = self[int(i)]
            shared = len(indices) * self.lattice.periodicity
            voltage = cavity.Voltage if Voltage is None else Voltage / shared
            frequency = cavity.Frequency if Frequency is None else Frequency
            lag = cavity.TimeLag if TimeLag is None else TimeLag
            call(lib.rm_twin_set_cavity, self.pointer, int(i), voltage, frequency, lag)

    @property
    def rf_frequency(self) -> float:
        """Of the first of the cavities of the lowest frequency, Hz."""
        return float(min(self._of_cavities("Frequency")))

    @property
    def rf_voltage(self) -> float:
        """Of all cavities of the ring, V."""
        return float(sum(self._of_cavities("Voltage"))) * self.lattice.periodicity

    def _of_cavities(self, name: str) -> list[float]:
        indices = self.lattice.get_cavities()
        if not len(indices):
            raise TwinArgument(f"{self.lattice.name} has no cavity")
        return [getattr(self[int(i)], name) for i in indices]

    # ---- strengths and errors

    def set_polynom(self, refpts: Refpts, component: str, order: int, values: Values) -> None:
        """Coefficient ``order`` of PolynomA or PolynomB ("A" or "B"), m^-(order+1)."""
        if component not in ("A", "B"):
            raise TwinArgument(f"found component {component!r}, expected 'A' or 'B'")
        which = lib.RM_NORMAL if component == "B" else lib.RM_SKEW
        self._each(refpts, values, lambda i, v: call(lib.rm_twin_set_polynom, self.pointer, i, which, order, v))

    def set_kick(self, refpts: Refpts, horizontal: Values | None = None, vertical: Values | None = None) -> None:
        """KickAngle of correctors, or of magnets that have one, rad; None: as it is."""
        for plane, values in enumerate((horizontal, vertical)):
            if values is not None:
                self._each(refpts, values, lambda i, v, plane=plane: self._kick(i, plane, v))  # type: ignore[misc]

    def _kick(self, index: int, plane: int, value: float) -> None:
        kicks = list(lib.rm_twin_element(self.pointer, index).kick_angle_rad)
        kicks[plane] = value
        call(lib.rm_twin_set_kick, self.pointer, index, *kicks)

    def set_strengths(self, strengths: "Strengths", values: NDArray[np.float64]) -> None:
        """Many strengths at once, one value for each."""
        if len(values) != len(strengths):
            raise TwinArgument(f"found {len(values)} values for {len(strengths)} strengths")
        given = np.ascontiguousarray(values, np.float64)
        call(lib.rm_twin_set_strengths, self.pointer, strengths.struct, buffer("double", given), len(strengths))

    def set_misalignment(
        self, refpts: Refpts, x: Values = 0.0, y: Values = 0.0, z: Values = 0.0, roll: Values = 0.0
    ) -> None:
        """Displaces elements by x, y, z (m), turns them by ``roll`` (rad, from x towards y); replaces what was."""
        indices = self._elements(refpts)
        rows = zip(*(np.broadcast_to(np.asarray(v, np.float64), len(indices)) for v in (x, y, z, roll)), strict=True)
        for i, row in zip(indices, rows, strict=True):
            call(lib.rm_twin_set_misalignment, self.pointer, int(i), *map(float, row))

    def get_value_refpts(self, refpts: Refpts, attrname: str, index: int | None = None) -> Any:
        """An attribute of elements, one row for each; of an array with ``index`` that member alone."""
        values = [getattr(self[int(i)], attrname) for i in self._elements(refpts)]
        return np.array(values if index is None else [value[index] for value in values])

    def set_value_refpts(
        self, refpts: Refpts, attrname: str, values: Values, index: int | None = None, increment: bool = False
    ) -> None:
        """Sets PolynomA, PolynomB or KickAngle (with ``index``), or K, H, Voltage, Frequency or TimeLag."""
        if increment:
            values = self.get_value_refpts(refpts, attrname, index) + np.asarray(values)
        setters: dict[str, Callable[[], None]] = {
            "PolynomA": lambda: self.set_polynom(refpts, "A", _given(attrname, index), values),
            "PolynomB": lambda: self.set_polynom(refpts, "B", _given(attrname, index), values),
            "K": lambda: self.set_polynom(refpts, "B", 1, values),
            "H": lambda: self.set_polynom(refpts, "B", 2, values),
            "KickAngle": lambda: self._each(refpts, values, lambda i, v: self._kick(i, _given(attrname, index), v)),
        }
        if attrname in ("Voltage", "Frequency", "TimeLag"):
            self._each(refpts, values, lambda i, v: self._cavity(i, attrname, v))
        elif attrname in setters:
            setters[attrname]()
        else:
            raise TwinArgument(f"{attrname} cannot be set; {', '.join(setters)}, Voltage, Frequency and TimeLag can")

    def _set_attribute(self, index: int, name: str, value: Any) -> None:
        """One attribute of one element: a number, or all of an array at once."""
        if name not in ("PolynomA", "PolynomB", "KickAngle"):
            self.set_value_refpts([index], name, _finite_numbers(name, value, 0))
            return
        now = getattr(self[index], name)
        given = _finite_numbers(name, value, 1)
        if given[len(now) :].any() or (name == "KickAngle" and len(given) != 2):
            raise TwinArgument(f"found {len(given)} values for {name} of {self[index].FamName}, expected {len(now)}")
        for place in range(len(now)):
            self.set_value_refpts([index], name, given[place] if place < len(given) else 0.0, index=place)

    def _cavity(self, index: int, name: str, value: float) -> None:
        cavity = self[index]
        given = {key: getattr(cavity, key) for key in ("Voltage", "Frequency", "TimeLag")} | {name: value}
        call(lib.rm_twin_set_cavity, self.pointer, index, *given.values())

    def _each(self, refpts: Refpts, values: Values, set_one: Callable[[int, float], None]) -> None:
        indices = self._elements(refpts)
        try:
            each = np.broadcast_to(np.asarray(values, np.float64), len(indices))
        except ValueError:
            raise TwinArgument(f"found {np.size(values)} values for {len(indices)} elements") from None
        for i, value in zip(indices, each, strict=True):
            set_one(int(i), float(value))

    def _elements(self, refpts: Refpts) -> Points:
        indices = self.get_uint32_index(refpts)
        if len(indices) and indices[-1] == len(self):
            raise TwinArgument("the end of the lattice is a point and no element")
        return indices

    # ---- turns

    @property
    def turn(self) -> int:
        """Turns tracked so far, which cavities refer to."""
        return int(lib.rm_twin_turn(self.pointer))

    @turn.setter
    def turn(self, turn: int) -> None:
        lib.rm_twin_set_turn(self.pointer, turn)


def _finite_numbers(name: str, value: Any, dimensions: int) -> Any:
    try:
        given = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.ndim != dimensions or not np.isfinite(given).all():
        raise TwinArgument(
            f"found {value!r} for {name}, expected {'finite numbers' if dimensions else 'a finite number'}"
        )
    return given


def _given(attribute: str, index: int | None) -> int:
    if index is None:
        raise TwinArgument(f"{attribute} is an array; say which of it by index=")
    return index


Ring = Lattice | Machine
"""What can be computed with: a twin, or a lattice as it was designed."""


def machine_of(ring: Ring) -> Machine:
    """The twin itself, or one as designed."""
    return ring if isinstance(ring, Machine) else Machine(ring)
