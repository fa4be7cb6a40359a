# SPDX-License-Identifier: Apache-2.0
"""The ring in a few numbers: from its radiation integrals, or from its equilibrium beam."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ringmaster.twin._library import Floats, call, ffi, lib
from ringmaster.twin.envelope import envelope
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.optics import get_tune
from ringmaster.twin.orbit import Vector, expect_6d


@dataclass
class RingParameters:
    """Of the whole ring. None: not computed; NaN: this ring has none."""

    tunes: Floats | None = None
    """Fractions: horizontal, vertical, and longitudinal from the cavities' voltage."""
    tunes6: Floats | None = None
    """Fractions of the 6D motion."""
    fulltunes: Floats | None = None
    """With their integers."""
    chromaticities: Floats | None = None
    """Horizontal and vertical, per δ."""
    alphac: float | None = None
    """Momentum compaction."""
    etac: float | None = None
    """Slip factor, 1/γ² − α."""
    E0: float | None = None
    """Energy, eV."""
    U0: float | None = None
    """Energy loss per turn, eV."""
    i1: float | None = None
    """Radiation integrals: m,"""
    i2: float | None = None
    """1/m,"""
    i3: float | None = None
    """1/m²,"""
    i4: float | None = None
    """1/m,"""
    i5: float | None = None
    """1/m."""
    emittances: Floats | None = None
    """Of the modes, m rad."""
    J: Floats | None = None
    """Damping partition numbers."""
    Tau: Floats | None = None
    """Damping times, s."""
    sigma_e: float | None = None
    """Relative energy spread."""
    sigma_l: float | None = None
    """Bunch length, m."""
    voltage: float | None = None
    """Of all cavities, V."""
    phi_s: float | None = None
    """Synchronous phase, rad."""
    f_s: float | None = None
    """Synchrotron frequency, Hz."""

    def __str__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return "\n".join(f"{name:>14}: {value}" for name, value in given.items() if value is not None)


def _parameters(machine: Machine) -> Any:
    found = ffi.new("struct rm_ring_parameters *")
    call(lib.rm_twin_ring_parameters, machine.pointer, found)
    return found


def get_radiation_integrals(ring: Ring) -> tuple[float, float, float, float, float]:
    """I1 (m), I2 (1/m), I3 (1/m²), I4 (1/m), I5 (1/m) of these elements once, without coupling of the planes."""
    machine = machine_of(ring)
    i1, i2, i3, i4, i5 = (value / machine.lattice.periodicity for value in _parameters(machine).i)
    return i1, i2, i3, i4, i5


def get_energy_loss(ring: Ring) -> float:
    """Per turn of the whole ring, by I2, eV."""
    return float(_parameters(machine_of(ring)).energy_loss_ev)


def radiation_parameters(ring: Ring, params: RingParameters | None = None) -> RingParameters:
    """From the radiation integrals, with or without cavities. ``params``: an object to be filled in."""
    machine = machine_of(ring)
    lattice = machine.lattice
    c = _parameters(machine)
    out = RingParameters() if params is None else params
    out.chromaticities = np.array(list(c.chromaticity))
    out.i1, out.i2, out.i3, out.i4, out.i5 = c.i
    out.alphac, out.etac, out.E0, out.U0 = c.momentum_compaction, c.slip_factor, lattice.energy, c.energy_loss_ev
    out.J, out.Tau = np.array(list(c.damping_partition)), np.array(list(c.damping_time_s))
    out.fulltunes = get_tune(machine, get_integer=True)
    out.sigma_e, out.voltage = c.energy_spread, c.voltage_v
    if len(lattice.get_cavities()) and c.voltage_v:
        out.sigma_l, out.phi_s = c.bunch_length_m, c.synchronous_phase_rad
        synchrotron_tune = c.synchrotron_tune
    else:
        out.sigma_l = out.phi_s = synchrotron_tune = np.nan
    out.f_s = synchrotron_tune * c.revolution_frequency_hz
    out.tunes = np.array([*c.tune, synchrotron_tune])
    if machine.is_6d:
        out.tunes6 = get_tune(machine)
    out.emittances = np.array([c.emittance_x_m, np.nan, out.sigma_e * out.sigma_l])
    return out


def envelope_parameters(ring: Ring, params: RingParameters | None = None, orbit: Vector = None) -> RingParameters:
    """From the equilibrium beam of a 6D ring with radiation. ``params``: an object to be filled in."""
    machine = expect_6d(machine_of(ring), "envelope_parameters")
    lattice = machine.lattice
    c, start = envelope(machine, np.zeros(1, np.uint32), orbit)
    out = RingParameters() if params is None else params
    out.E0, out.U0, out.voltage = lattice.energy, c.energy_loss_ev, machine.rf_voltage
    out.Tau = 1.0 / (lattice.revolution_frequency * np.array(list(c.damping_rate)) * lattice.periodicity)
    rates = 1.0 / out.Tau
    out.J = 4.0 * rates / rates.sum()
    out.tunes6 = np.mod(np.array(list(c.tune)) * lattice.periodicity, 1.0)
    out.phi_s = float(np.pi - np.arcsin(out.U0 / out.voltage))
    out.f_s = float(out.tunes6[2]) * lattice.revolution_frequency
    out.emittances = np.array(list(c.mode_emittance))
    out.sigma_e, out.sigma_l = (float(np.sqrt(start["r66"][0, i, i])) for i in (4, 5))
    return out
