# SPDX-License-Identifier: Apache-2.0
"""A pyAT lattice as our C library's, element by element, without any file between: what the oracle is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from library import call, ffi, library

KINDS = {
    "Marker": "MARKER", "Monitor": "MONITOR", "Drift": "DRIFT", "Dipole": "DIPOLE", "Bend": "DIPOLE",
    "Quadrupole": "QUADRUPOLE", "Sextupole": "SEXTUPOLE", "Octupole": "OCTUPOLE", "Multipole": "MULTIPOLE",
    "ThinMultipole": "THIN_MULTIPOLE", "Corrector": "CORRECTOR", "RFCavity": "CAVITY", "M66": "MATRIX",
    "Aperture": "APERTURE", "Solenoid": "SOLENOID", "Wiggler": "WIGGLER",
}  # fmt: skip
SCALARS = {
    "length_m": "Length", "bending_angle_rad": "BendingAngle", "entrance_angle_rad": "EntranceAngle",
    "exit_angle_rad": "ExitAngle", "full_gap_m": "FullGap", "curvature_1": "H1", "curvature_2": "H2",
    "voltage_v": "Voltage", "frequency_hz": "Frequency", "time_lag_m": "TimeLag", "phase_lag_rad": "PhaseLag",
    "reference_x_m": "X0ref", "reference_ct_m": "RefDZ",
}  # fmt: skip
ARRAYS = {
    "polynom_a": "PolynomA", "polynom_b": "PolynomB", "t1": "T1", "t2": "T2", "r1": "R1", "r2": "R2",
    "rectangle_aperture": "RApertures", "elliptic_aperture": "EApertures", "matrix": "M66",
}  # fmt: skip


def kind_of(element: Any) -> int:
    """By class, or by the nearest of its base classes."""
    names = [cls.__name__ for cls in type(element).__mro__]
    found = next((KINDS[name] for name in names if name in KINDS), "MARKER")
    return int(getattr(library, f"RM_ELEMENT_{found}"))


def wiggler(element: Any, keep: list[Any]) -> Any:
    """A struct rm_wiggler *; harmonics are columns in AT, rows here."""
    made = ffi.new("struct rm_wiggler *")
    keep.append(made)
    made.period_m, made.peak_field_t = element.Lw, element.Bmax
    made.steps_per_period, made.method = element.Nstep, element.Nmeth
    for field in ("by", "bx"):
        columns = np.asarray(getattr(element, field.title()), dtype=float).reshape(6, -1).T
        harmonics = ffi.new("struct rm_wiggler_harmonic[]", [tuple(row) for row in columns])
        keep.append(harmonics)
        setattr(made, field, harmonics)
        setattr(made, f"{field}_count", len(columns))
    return made


def fill(element: Any, made: Any, keep: list[Any]) -> None:
    """`keep` holds what the struct points to."""

    def numbers(values: Any) -> Any:
        array = ffi.new("double[]", [float(v) for v in np.asarray(values, dtype=float).ravel()])
        keep.append(array)
        return array

    made.name = element.FamName.encode()[: library.RM_ELEMENT_NAME_BYTES - 1]
    made.kind = kind_of(element)
    radiation = ffi.new("enum rm_radiation *")
    passing = ffi.new("enum rm_pass *")
    if not library.rm_pass_by_name(element.PassMethod.encode(), passing, radiation):
        raise ValueError(f"{element.FamName}: {element.PassMethod} is not among ours")
    setattr(made, "pass", passing[0])
    made.radiation = radiation[0]
    for ours, theirs in SCALARS.items():
        setattr(made, ours, float(np.ravel(getattr(element, theirs, 0.0))[0]))
    made.steps = int(getattr(element, "NumIntSteps", 10))
    made.max_order = int(getattr(element, "MaxOrder", 0))
    made.harmonic_number = int(getattr(element, "HarmNumber", 0) or 0)
    if element.PassMethod == "SolenoidLinearPass":
        made.solenoid_strength = float(element.K)
    made.kick_angle_rad = [float(v) for v in getattr(element, "KickAngle", (0.0, 0.0))]
    made.fringe_int = [float(getattr(element, f"FringeInt{end}", 0.0)) for end in (1, 2)]
    made.fringe_bend = [int(getattr(element, f"FringeBend{end}", 1)) for end in ("Entrance", "Exit")]
    made.fringe_quad = [int(getattr(element, f"FringeQuad{end}", 0)) for end in ("Entrance", "Exit")]
    for ours, theirs in ARRAYS.items():
        value = getattr(element, theirs, None)
        if value is None:
            continue
        if ours.startswith("polynom"):
            value = np.pad(value, (0, max(0, made.max_order + 1 - len(value))))[: made.max_order + 1]
        setattr(made, ours, numbers(value))
    if hasattr(element, "Limits"):
        made.rectangle_aperture = numbers(element.Limits)
    if hasattr(element, "Bmax"):
        made.wiggler = wiggler(element, keep)
    if hasattr(element, "fringeIntM0"):
        made.fringe_integrals = numbers([*element.fringeIntM0, *element.fringeIntP0])


def lattice(ring: Any) -> Any:
    """A struct rm_lattice *, freed with its Python object."""
    keep: list[Any] = []
    elements = ffi.new("struct rm_element[]", len(ring))
    for i, element in enumerate(ring):
        fill(element, elements[i], keep)
    info = ffi.new("struct rm_lattice_facts *")
    info.name = str(getattr(ring, "name", "") or "").encode()[:63]
    info.particle = str(ring.particle.name).encode()
    info.rest_energy_ev = float(ring.particle.rest_energy)
    info.charge_e = float(ring.particle.charge)
    info.energy_ev = float(ring.energy)
    info.periodicity = int(ring.periodicity)
    made = ffi.new("struct rm_lattice **")
    call(library.rm_lattice_make, info, elements, len(ring), made)
    return ffi.gc(made[0], library.rm_lattice_free)


def twin(of: Any) -> Any:
    """A struct rm_twin * of a lattice; keep the lattice alive as long."""
    made = ffi.new("struct rm_twin **")
    call(library.rm_twin_make, of, made)
    return ffi.gc(made[0], library.rm_twin_free)
