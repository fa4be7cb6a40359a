# SPDX-License-Identifier: Apache-2.0
"""A small ring for tests of the twin, made in memory: 16 cells, with monitors, correctors, sextupoles and a cavity."""

import math
from typing import Any

from ringmaster.twin import Lattice
from ringmaster.twin._library import call, ffi, lib
from ringmaster.twin.lattice import LIGHT_M_S

CELLS = 16
CELL = ("BPM", "COR", "QF", "SF", "D1", "BEND", "D1", "QD", "SD", "D1", "BEND", "D1")
HARMONIC = 64
ENERGY_EV = 1e9
ANGLE = math.pi / CELLS
LENGTHS = {"QF": 0.4, "QD": 0.4, "SF": 0.2, "SD": 0.2, "D1": 0.5, "BEND": 1.0}
FIELDS = {"QF": (0.0, 1.6), "QD": (0.0, -1.4), "SF": (0.0, 0.0, 3.0), "SD": (0.0, 0.0, -5.0), "BEND": (0.0, 0.0)}
KINDS = {"BPM": "MONITOR", "COR": "CORRECTOR", "QF": "QUADRUPOLE", "QD": "QUADRUPOLE", "SF": "SEXTUPOLE"}
KINDS |= {"SD": "SEXTUPOLE", "D1": "DRIFT", "BEND": "DIPOLE", "CAV": "CAVITY"}
PASSES = {"BPM": "IDENTITY", "COR": "CORRECTOR", "D1": "DRIFT", "BEND": "BND_MPOLE", "CAV": "RF_CAVITY"}


def small_ring(name: str = "small", cavity: bool = True) -> Lattice:
    """CELLS times CELL, and behind them a cavity, which may be left out."""
    names = [*(CELL * CELLS), *(["CAV"] if cavity else [])]
    length = sum(LENGTHS.get(each, 0.0) for each in names)
    keep: list[Any] = []
    elements = ffi.new("struct rm_element[]", len(names))
    for each, element in zip(names, elements, strict=True):
        _fill(each, element, keep, HARMONIC * LIGHT_M_S / length)
    info = ffi.new("struct rm_lattice_facts *")
    info.name, info.particle = name.encode(), b"relativistic"
    info.charge_e, info.energy_ev, info.periodicity = -1.0, ENERGY_EV, 1
    info.harmonic_number = HARMONIC if cavity else 0
    made = ffi.new("struct rm_lattice **")
    call(lib.rm_lattice_make, info, elements, len(names), made)
    return Lattice(made[0])


def _fill(name: str, element: Any, keep: list[Any], frequency_hz: float) -> None:
    element.name = name.encode()
    element.kind = getattr(lib, f"RM_ELEMENT_{KINDS[name]}")
    setattr(element, "pass", getattr(lib, f"RM_PASS_{PASSES.get(name, 'STR_MPOLE')}"))
    element.length_m = LENGTHS.get(name, 0.0)
    element.steps = 10
    element.fringe_bend = [1, 1]
    if name in FIELDS:
        normal = ffi.new("double[]", list(FIELDS[name]))
        skew = ffi.new("double[]", [0.0] * len(normal))
        keep += [normal, skew]
        element.polynom_b, element.polynom_a, element.max_order = normal, skew, len(normal) - 1
    if name == "BEND":
        element.bending_angle_rad = ANGLE
    if name == "CAV":
        element.voltage_v, element.frequency_hz, element.harmonic_number = 2e6, frequency_hz, HARMONIC
