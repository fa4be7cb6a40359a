# SPDX-License-Identifier: Apache-2.0
"""Machines that are or were there: what their owners published of them, beside our results on the lattices of pyAT.

A lattice is one version of its machine and a table another, rounded. Where the table's energy is not the lattice's,
ours is scaled: γ the energy spread, γ² the emittance, γ⁴ the loss. What depends on a working point that the lattice
does not have (corrected chromaticities; β of the ESRF's straights) is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pairs import ITS_OWN

from ringmaster.twin import All, Kind, Twin, load_lattice

LIGHT_M_S = 299792458.0


@dataclass
class Machine:
    """A lattice, and what was asked of it."""

    twin: Twin
    """With radiation, at the published voltage where there is one."""
    integrals: Any
    envelope: Any
    optics: Any
    """Without radiation, at all points."""
    scale: float
    """Published energy over the lattice's."""

    @classmethod
    def of(cls, name: str, energy_ev: float, voltage_v: float | None) -> Machine:
        """Computes it."""
        twin = Twin(load_lattice(Path(ITS_OWN) / name))
        flat = twin.copy()
        flat.disable_6d()
        twin.enable_6d()
        if voltage_v is not None:
            twin.set_cavity(Voltage=voltage_v)
        envelope = twin.envelope_parameters()
        optics = flat.linopt6(All)[2]
        return cls(twin, flat.radiation_parameters(), envelope, optics, energy_ev / twin.lattice.energy)

    def dispersion_m(self, drift: str) -> float:
        """Where the last drift of this name begins: it is the second half of a straight."""
        return float(self.optics.dispersion[self.twin.lattice.find(drift)[-1], 0])

    def dipole_field_t(self) -> float:
        """The largest of those that turn by more than 0.1 rad."""
        dipoles = [self.twin[int(i)] for i in self.twin.lattice.find(kind=Kind.DIPOLE)]
        curvatures: list[float] = [d.BendingAngle / d.Length for d in dipoles if d.BendingAngle > 0.1]
        return max(curvatures) * self.twin.lattice.energy * self.scale / LIGHT_M_S

    def dipole_count(self) -> int:
        """Of those that turn by more than 0.1 rad."""
        return sum(bool(self.twin[int(i)].BendingAngle > 0.1) for i in self.twin.lattice.find(kind=Kind.DIPOLE))

    def second_momentum_compaction(self) -> float:
        """Of ΔC/C = α1 δ + α2 δ²."""
        flat = self.twin.copy()
        flat.disable_6d()
        step = 1e-3
        return float(flat.get_mcf(step) - flat.get_mcf(-step)) / (4 * step)


@dataclass(frozen=True)
class Published:
    """A line of a table."""

    name: str
    value: float
    within: float
    """Relative, or absolute where `absolute`."""
    ours: Callable[[Machine], float]
    absolute: bool = False


AUSTRALIAN = (
    Published("circumference, m", 215.991, 2e-5, lambda m: m.twin.lattice.circumference),
    Published("revolution frequency, MHz", 1.38799, 2e-5, lambda m: m.twin.lattice.revolution_frequency * 1e-6),
    Published("RF frequency, MHz", 499.677, 2e-5, lambda m: m.twin.rf_frequency * 1e-6),
    Published("horizontal tune", 13.29, 5e-3, lambda m: m.integrals.fulltunes[0], absolute=True),
    Published("vertical tune", 5.216, 5e-4, lambda m: m.integrals.fulltunes[1], absolute=True),
    Published("momentum compaction", 0.00211, 2.5e-3, lambda m: m.integrals.alphac),
    Published("emittance, nm", 10.51, 5e-3, lambda m: m.envelope.emittances[0] * m.scale**2 * 1e9),
    Published("energy spread", 1.027e-3, 1e-3, lambda m: m.envelope.sigma_e * m.scale),
    Published("energy loss per turn in dipoles, keV", 932, 5e-3, lambda m: m.integrals.U0 * m.scale**4 * 1e-3),
    Published("synchrotron tune", 0.00847, 5e-3, lambda m: m.envelope.tunes6[2]),
    Published("bunch length, mm", 8.801, 1e-2, lambda m: m.envelope.sigma_l * 1e3),
)
"""ANSTO, "Accelerator Systems Overview", ansto.gov.au/accelerator-systems-overview: 3.03 GeV, 2 MV. The lattice is at
3.0134 GeV.
"""

ESRF = (
    Published("buckets", 992, 0, lambda m: m.twin.lattice.harmonic_number),
    Published("between buckets, ns", 2.84, 5e-3, lambda m: 1e9 / m.twin.rf_frequency, absolute=True),
    Published("circumference, m", 844, 0.5, lambda m: m.twin.lattice.circumference, absolute=True),
    Published("energy spread, %", 0.11, 5e-3, lambda m: m.envelope.sigma_e * 100, absolute=True),
    Published("dispersion in even straights, m", 0.137, 0.025, lambda m: m.dispersion_m("SDHX")),
    Published("dispersion in odd straights, m", 0.037, 0.025, lambda m: m.dispersion_m("SDLW")),
    Published("emittance, nm", 10.7e-6**2 * 35.2 * 1e9, 0.02, lambda m: m.envelope.emittances[0] * 1e9),
)
"""The ring of 1994 to 2018. Buckets: J. Synchrotron Rad. 14 (2007), paper gf5002, fig. 1; circumference: CERN Courier,
"Meet the Extremely Brilliant Source"; else esrf.eu/Accelerators/Performance as it was then, whose emittance is that of
divergence and β in even straights, 10.7 µrad and 35.2 m.
"""

SOLEIL = (
    Published("circumference, m", 354, 0.5, lambda m: m.twin.lattice.circumference, absolute=True),
    Published("dipoles", 32, 0, lambda m: m.dipole_count()),
    Published("dipole field, T", 1.7, 0.05, lambda m: m.dipole_field_t(), absolute=True),
    Published("momentum compaction", 4.4e-4, 0.05, lambda m: m.integrals.alphac),
    Published("second order momentum compaction", 4.5e-3, 0.05, lambda m: m.second_momentum_compaction()),
)
"""Dipoles: P. Brunelle et al., J. Synchrotron Rad. 30 (2023), paper rv5172, 2.75 GeV. Circumference and momentum
compaction: synchrotron-soleil.fr, "3 Faisceaux" (2008); the lattice is of a later working point.
"""

MACHINES = {
    "australian_synchrotron.m": (3.03e9, 2.0e6, AUSTRALIAN),
    "esrf.m": (6.04e9, None, ESRF),
    "soleil.m": (2.75e9, None, SOLEIL),
}


@pytest.mark.parametrize("name", MACHINES)
def test_published_parameters(name: str) -> None:
    energy_ev, voltage_v, table = MACHINES[name]
    machine = Machine.of(name, energy_ev, voltage_v)
    for line in table:
        ours = line.ours(machine)
        off = abs(ours - line.value) / (1 if line.absolute else line.value)
        assert off <= line.within, f"{line.name}: published {line.value:g}, ours {ours:g}"
