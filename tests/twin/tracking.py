# SPDX-License-Identifier: Apache-2.0
"""Particles through our C library and through pyAT, and how far apart they come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import at
import from_pyat
import numpy as np
import pytest
from library import call, ffi, library

SIMD = {"scalar": "RM_SIMD_SCALAR", "AVX2": "RM_SIMD_AVX2", "AVX-512": "RM_SIMD_AVX512"}
NOT_LOST = 2**32 - 1


class Result:
    """What tracking gave; shapes as pyAT's: [6, particle], [6, particle, refpt, turn]."""

    def __init__(self, particles: Any, out: Any, turn: Any, element: Any, at_loss: Any) -> None:
        self.particles = particles.T
        self.out: Any = None if out is None else out.transpose(3, 2, 1, 0)
        self.lost_turn, self.lost_element, self.lost_at = turn, element, at_loss.T


def track(twin: Any, beam: Any, turns: int = 1, refpts: Any = None, simd: str = "RM_SIMD_BEST") -> Result:
    """Tracks a beam [6, particle] and leaves it as it is."""
    particles = np.array(np.asarray(beam).T, dtype=float, order="C")
    count = len(particles)
    request = ffi.new("struct rm_tracking *")
    request.turns, request.simd = turns, getattr(library, simd)
    out = None
    if refpts is not None:
        points = ffi.new("uint32_t[]", [int(i) for i in refpts])
        out = np.zeros((turns, len(refpts), count, 6))
        request.refpts, request.refpt_count, request.out = points, len(refpts), ffi.cast("double *", out.ctypes.data)
    lost_turn, lost_element = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    lost_at = np.zeros((count, 6))
    request.lost_turn = ffi.cast("uint32_t *", lost_turn.ctypes.data)
    request.lost_element = ffi.cast("uint32_t *", lost_element.ctypes.data)
    request.lost_at = ffi.cast("double *", lost_at.ctypes.data)
    call(library.rm_twin_track, twin, ffi.cast("double(*)[6]", particles.ctypes.data), count, request)
    return Result(particles, out, lost_turn, lost_element, lost_at)


def has(simd: str) -> bool:
    """Whether this processor has an instruction set."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    wanted = {"AVX2": {"avx2", "fma"}, "AVX-512": {"avx2", "fma", "avx512f", "avx512dq", "avx512vl"}}
    return wanted.get(simd, set()) <= set(flags)


def need(simd: str) -> str:
    """The enum's name of an instruction set; skips the test where the processor lacks it."""
    if not has(simd):
        pytest.skip(f"this processor has no {simd}: the {simd} kernels are NOT tested")
    return SIMD[simd]


def beam(count: int = 61, seed: int = 1, largest: float = 1e-3, delta: float = 0.03) -> Any:
    """Amplitudes from `largest` / 1000 to `largest`, spread evenly in their logarithm; δ to ± `delta`."""
    random = np.random.default_rng(seed)
    size = largest * 10.0 ** random.uniform(-3, 0, (1, count))
    particles = np.asfortranarray(random.uniform(-1, 1, (6, count)) * size)
    particles[4] = delta * random.uniform(-1, 1, count)
    return particles


def difference(ours: Any, theirs: Any) -> float:
    """Largest |Δ| over the largest |value|, of the worst coordinate. Who is lost must be lost in both; pyAT leaves some
    of those infinite.
    """
    alive = np.isfinite(theirs).all(axis=0)
    assert np.array_equal(np.isfinite(ours).all(axis=0), alive)
    assert alive.any()
    worst = (
        np.abs(a[alive] - b[alive]).max() / (np.abs(b[alive]).max() or 1) for a, b in zip(ours, theirs, strict=True)
    )
    return float(max(worst))


def ring_of(*elements: Any, energy: float = 2.4e9) -> Any:
    return at.Lattice(list(elements), energy=energy, periodicity=1)


def twin_of(ring: Any) -> tuple[Any, Any]:
    """A twin, with the lattice that it needs."""
    lattice = from_pyat.lattice(ring)
    return from_pyat.twin(lattice), lattice
