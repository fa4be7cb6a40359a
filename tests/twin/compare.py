# SPDX-License-Identifier: Apache-2.0
"""Two of our lattices, field by field: what differs, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from library import call, ffi, library

SCALARS = (
    "kind", "pass", "radiation", "length_m", "steps", "max_order", "bending_angle_rad", "entrance_angle_rad",
    "exit_angle_rad", "full_gap_m", "curvature_1", "curvature_2", "voltage_v", "frequency_hz", "time_lag_m",
    "phase_lag_rad", "harmonic_number", "solenoid_strength",
    "reference_x_m", "reference_ct_m",
)  # fmt: skip
PAIRS = ("kick_angle_rad", "fringe_int", "fringe_bend", "fringe_quad")
POINTERS = {
    "fringe_integrals": 10, "t1": 6, "t2": 6, "r1": 36, "r2": 36, "rectangle_aperture": 4, "elliptic_aperture": 2,
    "matrix": 36,
}  # fmt: skip
HARMONIC = ("number", "amplitude", "kx", "ky", "kz", "phase_rad")


def wiggler(of: Any) -> Any:
    """As plain Python values; None: there is none."""
    if of == ffi.NULL:
        return None
    harmonics = {
        name: [tuple(getattr(getattr(of, name)[i], part) for part in HARMONIC) for i in range(count)]
        for name, count in (("by", of.by_count), ("bx", of.bx_count))
    }
    return (of.period_m, of.peak_field_t, of.steps_per_period, of.method, harmonics)


def fields(element: Any) -> dict[str, Any]:
    """An element as plain Python values."""
    found: dict[str, Any] = {"name": ffi.string(element.name).decode()}
    found |= {name: getattr(element, name) for name in SCALARS}
    found |= {name: tuple(getattr(element, name)) for name in PAIRS}
    counts = POINTERS | {"polynom_a": element.max_order + 1, "polynom_b": element.max_order + 1}
    for name, count in counts.items():
        pointer = getattr(element, name)
        found[name] = None if pointer == ffi.NULL else tuple(ffi.unpack(pointer, count))
    return found | {"wiggler": wiggler(element.wiggler)}


def elements(lattice: Any) -> list[dict[str, Any]]:
    return [fields(library.rm_lattice_element(lattice, i)) for i in range(library.rm_lattice_count(lattice))]


def info(lattice: Any) -> dict[str, Any]:
    of = library.rm_lattice_info(lattice)
    return {
        "name": ffi.string(of.name).decode(),
        "particle": ffi.string(of.particle).decode(),
        "rest_energy_ev": of.rest_energy_ev,
        "charge_e": of.charge_e,
        "energy_ev": of.energy_ev,
        "periodicity": of.periodicity,
        "harmonic_number": of.harmonic_number,
    }


def differences(ours: Any, theirs: Any, but: tuple[str, ...] = ()) -> list[str]:
    """Of elements, at most ten; `but` names fields that may differ."""
    mine, other = elements(ours), elements(theirs)
    if len(mine) != len(other):
        return [f"{len(mine)} elements and {len(other)}"]
    found = [
        f"element {i} ({a['name']}): {key} {a[key]} and {b[key]}"
        for i, (a, b) in enumerate(zip(mine, other, strict=True))
        for key in a
        if key not in but and a[key] != b[key]
    ]
    return found[:10]


def read(path: Path, variable: str | None = None, sequence: str | None = None) -> Any:
    """A struct rm_lattice * of a file, freed with its Python object."""
    source = ffi.new("struct rm_lattice_source *")
    names = [ffi.new("char[]", text.encode()) if text is not None else ffi.NULL for text in (variable, sequence)]
    source.variable, source.sequence = names
    made = ffi.new("struct rm_lattice **")
    call(library.rm_lattice_read, str(path).encode(), source, made)
    return ffi.gc(made[0], library.rm_lattice_free)
