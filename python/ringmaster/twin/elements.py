# SPDX-License-Identifier: Apache-2.0
"""What an element is, under the names of the Accelerator Toolbox."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ringmaster.twin._library import lib, numbers, text


class Kind(IntEnum):
    """What an element is to people: its class in the Accelerator Toolbox."""

    MARKER = lib.RM_ELEMENT_MARKER
    MONITOR = lib.RM_ELEMENT_MONITOR
    DRIFT = lib.RM_ELEMENT_DRIFT
    DIPOLE = lib.RM_ELEMENT_DIPOLE
    QUADRUPOLE = lib.RM_ELEMENT_QUADRUPOLE
    SEXTUPOLE = lib.RM_ELEMENT_SEXTUPOLE
    OCTUPOLE = lib.RM_ELEMENT_OCTUPOLE
    MULTIPOLE = lib.RM_ELEMENT_MULTIPOLE
    THIN_MULTIPOLE = lib.RM_ELEMENT_THIN_MULTIPOLE
    CORRECTOR = lib.RM_ELEMENT_CORRECTOR
    CAVITY = lib.RM_ELEMENT_CAVITY
    MATRIX = lib.RM_ELEMENT_MATRIX
    APERTURE = lib.RM_ELEMENT_APERTURE
    SOLENOID = lib.RM_ELEMENT_SOLENOID
    WIGGLER = lib.RM_ELEMENT_WIGGLER


class Radiation(IntEnum):
    """What synchrotron radiation does in an element."""

    NONE = lib.RM_RADIATION_NONE
    CLASSICAL = lib.RM_RADIATION_CLASSICAL
    QUANTUM = lib.RM_RADIATION_QUANTUM


MAGNETS = frozenset(
    {
        *(Kind.DIPOLE, Kind.QUADRUPOLE, Kind.SEXTUPOLE, Kind.OCTUPOLE),
        *(Kind.MULTIPOLE, Kind.THIN_MULTIPOLE, Kind.SOLENOID, Kind.WIGGLER),
    }
)


def _polynom(name: str) -> Callable[[Any], Any]:
    return lambda c: numbers(getattr(c, name), c.max_order + 1)


def _array(name: str, *shape: int) -> Callable[[Any], Any]:
    return lambda c: numbers(getattr(c, name), *shape)


def _coefficient(order: int) -> Callable[[Any], Any]:
    return lambda c: c.polynom_b[order] if c.polynom_b and c.max_order >= order else 0.0 if c.polynom_b else None


ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "FamName": lambda c: text(c.name),
    "Class": lambda c: text(lib.rm_element_kind_name(c.kind)),
    "PassMethod": lambda c: text(lib.rm_pass_name(getattr(c, "pass"), c.radiation)),
    "Length": lambda c: c.length_m,
    "NumIntSteps": lambda c: c.steps,
    "MaxOrder": lambda c: c.max_order if c.polynom_b else None,
    "PolynomA": _polynom("polynom_a"),
    "PolynomB": _polynom("polynom_b"),
    "K": _coefficient(1),
    "H": _coefficient(2),
    "KickAngle": lambda c: numbers(c.kick_angle_rad, 2) if c.polynom_b or c.kind == Kind.CORRECTOR else None,
    "BendingAngle": lambda c: c.bending_angle_rad if c.kind == Kind.DIPOLE else None,
    "EntranceAngle": lambda c: c.entrance_angle_rad if c.kind == Kind.DIPOLE else None,
    "ExitAngle": lambda c: c.exit_angle_rad if c.kind == Kind.DIPOLE else None,
    "FullGap": lambda c: c.full_gap_m if c.kind == Kind.DIPOLE else None,
    "Voltage": lambda c: c.voltage_v if c.kind == Kind.CAVITY else None,
    "Frequency": lambda c: c.frequency_hz if c.kind == Kind.CAVITY else None,
    "TimeLag": lambda c: c.time_lag_m if c.kind == Kind.CAVITY else None,
    "HarmNumber": lambda c: c.harmonic_number if c.kind == Kind.CAVITY else None,
    "T1": _array("t1", 6),
    "T2": _array("t2", 6),
    "R1": _array("r1", 6, 6),
    "R2": _array("r2", 6, 6),
    "RApertures": _array("rectangle_aperture", 4),
    "EApertures": _array("elliptic_aperture", 2),
    "M66": _array("matrix", 6, 6),
}
"""What can be asked of an element, and how it is had from the C struct; None where this element has no such thing."""


SETTABLE = ("PolynomA", "PolynomB", "K", "H", "KickAngle", "Voltage", "Frequency", "TimeLag")
"""Attributes of a twin's element that can be set."""


class Element:
    """One element, to look at: lengths in m, angles in rad, ``PolynomB[n]`` in m^-(n+1), volts and hertz.

    It shows the ring as it is at the moment of the question. ``twin[5].K = 1.2`` sets what the twin's
    ``set_value_refpts`` can set; ``PolynomB`` and the other arrays are set as a whole. All else raises AttributeError,
    as do the elements of a lattice, which is immutable.
    """

    __slots__ = ("_owner", "_set", "_struct")

    def __init__(self, owner: object, struct: Any, set_value: Callable[[str, Any], None] | None = None) -> None:
        """`owner` is what keeps the struct alive; `set_value` sets an attribute, None: the element is immutable."""
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_struct", struct)
        object.__setattr__(self, "_set", set_value)

    def __getattr__(self, name: str) -> Any:
        value = ATTRIBUTES[name](self._struct) if name in ATTRIBUTES else None
        if value is None:
            known = ", ".join(dir(self))
            raise AttributeError(f"{text(self._struct.name)} has no {name}; it has {known}")
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        where = text(self._struct.name)
        if self._set is None:
            raise AttributeError(f"{where}: a lattice is immutable; make a Twin of it, and set {name} there")
        if name not in SETTABLE:
            raise AttributeError(
                f"{where}: {name} cannot be set; {', '.join(SETTABLE)} can. For what a design fixes, as Length, change "
                "the lattice's file; for a displacement use set_misalignment()"
            )
        getattr(self, name)  # an element without it raises, and says what it has
        self._set(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{text(self._struct.name)}: {name} cannot be deleted; set it to 0")

    def __dir__(self) -> list[str]:
        return [*(name for name, read in ATTRIBUTES.items() if read(self._struct) is not None), "kind"]

    @property
    def kind(self) -> Kind:
        """Of :class:`Kind`."""
        return Kind(self._struct.kind)

    def __repr__(self) -> str:
        return f"{self.Class}({self.FamName!r}, {self.Length:g} m, {self.PassMethod})"
