# SPDX-License-Identifier: Apache-2.0
"""What a lattice ought to show, by the twin; and which of its BPMs and supplies is which name."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringmaster.machine.mapping import read_mapping, resolve
from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.parameters import envelope_parameters, radiation_parameters

Floats = NDArray[np.float64]
DISPERSIVE_M = 0.01
"""From here on a BPM tells of the energy."""


@dataclass(frozen=True)
class Cavities:
    """What makes the synchrotron tune."""

    harmonic_number: int
    momentum_compaction: float
    """Less 1/γ²."""
    voltage_v: float
    loss_ev: float
    """Of a turn."""
    energy_ev: float

    def voltage_of(self, synchrotron_tune: float) -> float:
        """V that would make this tune: (2 sin π Q_s)² = 2π h α √(V² − U₀²) ÷ E."""
        swing = (2 * math.sin(math.pi * synchrotron_tune)) ** 2
        over = swing * self.energy_ev / (2 * math.pi * self.harmonic_number * self.momentum_compaction)
        return math.hypot(over, self.loss_ev)


@dataclass(frozen=True)
class Expected:
    """The design, with its names in a workspace."""

    name: str
    rows: tuple[str, ...]
    """Readings of its BPMs, INSTRUMENT/LANE: x and y of the first, of the second, …"""
    rf: tuple[str, float] | None
    """Supply of the RF frequency, and Hz of its unit."""
    tunes: tuple[float, float]
    """With their whole turns."""
    chromaticities: tuple[float, float]
    """Per δ."""
    synchrotron_tune: float
    """NaN where the lattice has no cavity."""
    damping_turns: tuple[float, float, float]
    """Of the amplitude, x, y and longitudinal; NaN where the lattice has no cavity."""
    cavities: "Cavities | None"
    rf_hz_per_delta: float
    """Of the RF's frequency: −h f₀ (α − 1/γ²); NaN where the lattice has no cavity."""
    dispersion_m: Floats
    """Shape (BPMs,): horizontal."""
    beta_m: Floats
    """Shape (BPMs, 2)."""

    @property
    def dispersive(self) -> list[int]:
        """BPMs that tell of the energy."""
        return [int(i) for i in np.flatnonzero(np.abs(self.dispersion_m) > DISPERSIVE_M)]

    def sign(self, plane: int) -> int:
        """−1 where the fraction of the tune is above a half: then the tune that a spectrum shows goes the other way."""
        return 1 if self.tunes[plane] % 1.0 < 0.5 else -1


def expect(lattice: str, mapping: Path) -> Expected:
    """Of the lattice's file or short name. Raises ValueError where the two do not fit."""
    ring = load_lattice(lattice)
    given = read_mapping(mapping)
    named = resolve(ring, {key: given[key] for key in ("bpms", "rows", "rf") if key in given})
    flat, full = Twin(ring), Twin(ring)
    flat.disable_6d()
    parameters = radiation_parameters(flat)
    _, _, at = flat.linopt6(list(named.bpms))
    synchrotron, damping, per_delta, cavities = math.nan, (math.nan, math.nan, math.nan), math.nan, None
    if len(ring.get_cavities()):
        full.enable_6d()
        beam = envelope_parameters(full)
        turns = np.asarray(beam.Tau) * ring.revolution_frequency
        synchrotron, damping = float(np.asarray(beam.tunes6)[2]), (float(turns[0]), float(turns[1]), float(turns[2]))
        slip = float(parameters.etac or math.nan)
        per_delta = slip * ring.harmonic_number * ring.revolution_frequency
        cavities = Cavities(
            ring.harmonic_number,
            -slip,
            float(beam.voltage or math.nan),
            float(beam.U0 or math.nan),
            float(ring.energy),
        )
    tunes, chromaticities = np.asarray(parameters.fulltunes), np.asarray(parameters.chromaticities)
    return Expected(
        name=ring.name or lattice,
        rows=named.rows,
        rf=named.rf,
        tunes=(float(tunes[0]), float(tunes[1])),
        chromaticities=(float(chromaticities[0]), float(chromaticities[1])),
        synchrotron_tune=synchrotron,
        damping_turns=damping,
        cavities=cavities,
        rf_hz_per_delta=per_delta,
        dispersion_m=np.asarray(at.dispersion)[:, 0].copy(),
        beta_m=np.asarray(at.beta).copy(),
    )
