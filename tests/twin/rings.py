# SPDX-License-Identifier: Apache-2.0
"""Lattices that pyAT loads, with errors so that neither coupling nor orbit is zero, and the C library's twins."""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from pathlib import Path
from typing import Any

import from_pyat
import numpy as np
import pytest
from library import ROOT, call, ffi, library

at = pytest.importorskip("at", reason="pyAT (accelerator-toolbox) is not installed: nothing to compare with")

PROJECTS = ROOT.parent / "shared/data/lattices"
SHIPPED = Path(at.__file__).parents[1] / "machine_data"
SIX_D = ("elettra2_s6bae.mat", "hmba.mat", "esrf.m", "soleil.m", "australian_synchrotron.m", "thomx.m")
FOUR_D = (*SIX_D, "dba.mat", "elettra2_phase1_linear.m")

OPTICS = np.dtype(
    [("s_pos", float), ("closed_orbit", float, 6), ("M", float, (6, 6)), ("A", float, (6, 6)), ("R", float, (3, 6, 6)),
     ("beta", float, 2), ("alpha", float, 2), ("mu", float, 3), ("dispersion", float, 4), ("W", float, 2),
     ("dalpha", float, 2), ("dbeta", float, 2), ("dmu", float, 3), ("ddispersion", float, 4)]
)  # fmt: skip
OPTICS4 = np.dtype(
    [("s_pos", float), ("closed_orbit", float, 6), ("M", float, (4, 4)), ("beta", float, 2), ("alpha", float, 2),
     ("mu", float, 2), ("gamma", float), ("A", float, (2, 2)), ("B", float, (2, 2)), ("C", float, (2, 2)),
     ("dispersion", float, 4), ("W", float, 2), ("dalpha", float, 2), ("dbeta", float, 2), ("dmu", float, 2),
     ("ddispersion", float, 4)]
)  # fmt: skip
ENVELOPE = np.dtype(
    [("s_pos", float), ("r66", float, (6, 6)), ("r44", float, (4, 4)), ("m66", float, (6, 6)), ("orbit6", float, 6),
     ("emit_xy", float, 2), ("emit_xyz", float, 3), ("mode_emittance", float, 3)]
)  # fmt: skip


def quietly(function: Any, *arguments: Any, **options: Any) -> Any:
    """Without what pyAT warns and prints of files that others wrote."""
    silent = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


@functools.cache
def ideal(name: str) -> Any:
    """As in the file, matrices as they are with and without radiation."""
    path = next((folder / name for folder in (PROJECTS, SHIPPED) if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"{name} is neither in {PROJECTS} nor in {SHIPPED}")
    return quietly(at.load_lattice, str(path))


def with_errors(ring: Any, seed: int = 1) -> Any:
    """Gradients, tilts and displacements of quadrupoles: a copy."""
    random = np.random.default_rng(seed)
    made = ring.deepcopy()
    for element in made:
        if isinstance(element, at.Quadrupole):
            element.PolynomB[1] *= 1 + 2e-4 * random.standard_normal()
            element.PolynomA[1] += 2e-3 * random.standard_normal()
            shift = np.zeros(6)
            shift[[0, 2]] = 1e-6 * random.standard_normal(2)
            element.T1, element.T2 = -shift, shift
    return made


@functools.cache
def ring_4d(name: str) -> Any:
    return with_errors(ideal(name).disable_6d(copy=True))


@functools.cache
def ring_6d(name: str) -> Any:
    """With cavities and radiation."""
    made = ideal(name).enable_6d(copy=True)
    for element in made:
        if element.PassMethod == "Matrix66RadPass":
            element.PassMethod = "Matrix66Pass"
    return with_errors(made)


class Twin:
    """Our twin of a pyAT ring; results as numpy arrays."""

    def __init__(self, ring: Any) -> None:
        self.lattice = from_pyat.lattice(ring)
        self.twin = from_pyat.twin(self.lattice)

    def call(self, name: str, *arguments: Any) -> None:
        """A function of the library; RuntimeError with its text."""
        call(getattr(library, name), self.twin, *arguments)

    def find_orbit(self, refpts: Any, **options: Any) -> tuple[Any, Any]:
        """At the start, and [point, coordinate]."""
        start, orbit = np.zeros(6), np.zeros((len(refpts), 6))
        chosen = ffi.new("struct rm_orbit_options *", options)
        self.call("rm_twin_find_orbit", chosen, doubles(start), points(refpts), len(refpts), doubles(orbit, "(*)[6]"))
        return start, orbit

    def find_m66(self, refpts: Any, **options: Any) -> tuple[Any, Any]:
        """Of a turn, and [point, row, column]."""
        m66, matrices = np.zeros((6, 6)), np.zeros((len(refpts), 6, 6))
        chosen = ffi.new("struct rm_orbit_options *", options)
        self.call("rm_twin_find_m66", chosen, ffi.NULL, doubles(m66), points(refpts), len(refpts),
                  doubles(matrices, "(*)[36]"))  # fmt: skip
        return m66, matrices

    def optics(self, function: str, refpts: Any, **options: Any) -> tuple[Any, Any]:
        """Summary and a record for each point, of linopt2, linopt4 or linopt6."""
        kind = "rm_optics" if function == "linopt6" else "rm_optics4"
        made = np.zeros(len(refpts), OPTICS if function == "linopt6" else OPTICS4)
        ring = ffi.new("struct rm_optics_summary *")
        chosen = ffi.new("struct rm_optics_options *", options)
        self.call(f"rm_twin_{function}", chosen, points(refpts), len(refpts), ring, structs(made, kind))
        return ring, made

    def ohmi_envelope(self, refpts: Any) -> tuple[Any, Any]:
        """Summary and a record for each point."""
        made = np.zeros(len(refpts), ENVELOPE)
        ring = ffi.new("struct rm_envelope_summary *")
        self.call("rm_twin_ohmi_envelope", ffi.NULL, points(refpts), len(refpts), ring, structs(made, "rm_envelope"))
        return ring, made

    def response(self, function: str, refpts: Any, steerers: Any, *more: Any) -> Any:
        """[plane, point, steerer]"""
        made = np.zeros((2, len(refpts), len(steerers) + 1))
        chosen = ffi.new("struct rm_steerer[]", [{"element": int(e), "plane": plane} for e, plane in steerers])
        self.call(f"rm_twin_{function}", ffi.NULL, points(refpts), len(refpts), chosen, len(steerers), *more,
                  doubles(made))  # fmt: skip
        return made


def points(refpts: Any) -> Any:
    return ffi.new("uint32_t[]", [int(i) for i in refpts])


def doubles(array: Any, pointer: str = "*") -> Any:
    return ffi.cast(f"double {pointer}", array.ctypes.data)


def structs(array: Any, name: str) -> Any:
    assert array.dtype.itemsize == ffi.sizeof(f"struct {name}"), f"struct {name} has changed"
    return ffi.cast(f"struct {name} *", array.ctypes.data)


def far(ours: Any, theirs: Any) -> float:
    """The largest difference over the largest of theirs."""
    theirs = np.asarray(theirs)
    return float(np.max(np.abs(ours - theirs)) / max(np.max(np.abs(theirs)), 1e-300))


def all_points(ring: Any) -> Any:
    return np.arange(len(ring) + 1)


def some_points(ring: Any, about: int = 60) -> Any:
    """Spread over the ring, near enough to each other for phases to be counted, the end among them."""
    chosen = np.linspace(0, len(ring), max(about, len(ring) // 12)).astype(int)
    return np.unique(chosen)


def numbers(array: Any) -> Any:
    """A C array as numpy's."""
    return np.array([numbers(value) if hasattr(value, "__len__") else value for value in array])
