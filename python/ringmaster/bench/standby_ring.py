# SPDX-License-Identifier: Apache-2.0
"""Rings for pairs in simulated time: the files of server, ring and feedback, and the matrix of the design.

The small one has sixteen FODO cells, a BPM and a corrector of either plane at every quadrupole; the large one is like
Elettra 2.0, with 96 chains of supplies. Their cycles are those of 100 kHz: twelve turns. What moves them is the mains.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.response import orbit_response

TURN_RATE_HZ = 1157000
PERIOD_TURNS = 12
CYCLE_HZ = TURN_RATE_HZ / PERIOD_TURNS
UM_PER_ROOT_TURN = 0.05
TIMEOUT_MS = 0.2
"""Of the chains: twenty cycles."""
LATTICE = """
qf: quadrupole, l = 0.4, k1 := 1.6;  qd: quadrupole, l = 0.4, k1 := -1.4;
sf: sextupole, l = 0.2, k2 = 6.0;  sd: sextupole, l = 0.2, k2 = -10.0;
d1: drift, l = 0.5;  b: sbend, l = 1.0, angle = pi/16;
bpm: monitor;  cf: kicker;  cav: rfcavity, volt = 2, harmon = 64;
cell: line = (bpm, cf, qf, sf, d1, b, d1, bpm, cf, qd, sd, d1, b, d1);
ring: line = (16*cell, cav);
beam, particle = electron, energy = 1.0;
use, sequence = ring;
"""


@dataclass(frozen=True)
class Ring:
    """One of them."""

    name: str
    lattice: str
    bpms: str
    """Elements of the lattice, and those of its correctors."""
    correctors: str
    bpm_count: int
    places: int
    """Correctors of a plane."""
    in_chain: int
    """Supplies of a chain of correctors."""
    more_chains: int
    """Chains that belong to the operator, of thirteen supplies each."""
    modes: int
    urad_per_a: float = 10.0

    @property
    def chains(self) -> int:
        """All of them: they vote."""
        return 2 * -(-self.places // self.in_chain) + self.more_chains

    def write(self, folder: Path) -> None:
        """All files: server.yaml, ring.yaml, feedback.yaml, response.csv."""
        if self.lattice.endswith("madx"):
            (folder / self.lattice).write_text(LATTICE)
        (folder / "server.yaml").write_text("\n".join(self._server()) + "\n")
        (folder / "ring.yaml").write_text("\n".join(self._ring()) + "\n")
        (folder / "feedback.yaml").write_text("\n".join(self._feedback()) + "\n")
        self._write_matrix(folder)

    def _corrector_chains(self) -> Iterator[tuple[str, int]]:
        """Name, and how many supplies."""
        for plane in "xy":
            for first in range(0, self.places, self.in_chain):
                yield f"c{plane}{1 + first // self.in_chain:02d}", min(self.in_chain, self.places - first)

    def _supplies(self) -> list[str]:
        """Of the feedback, x before y."""
        return [f"{name}_{1 + i:02d}" for name, count in self._corrector_chains() for i in range(count)]

    def _write_matrix(self, folder: Path) -> None:
        """In nm per A: rows are x of all BPMs and then y."""
        twin = Twin(load_lattice(str(folder / self.lattice) if self.lattice.endswith("madx") else self.lattice))
        twin.enable_6d()  # the cavity is on: what lengthens the path changes the energy
        at = [int(i) for i in twin.get_uint32_index(self.correctors)]
        response = orbit_response(twin, self.bpms, [(i, plane) for plane in "xy" for i in at])
        rows: npt.NDArray[np.float64] = response.reshape(2 * self.bpm_count, -1)[:, : 2 * self.places]
        scaled = rows * self.urad_per_a * 1e-6 * 1e9
        names = [f"bpm{1 + i // 2:02d}/{plane}{1 + i % 2}" for plane in "xy" for i in range(self.bpm_count)]
        lines = ["," + ",".join(self._supplies())]
        lines += [f"{n}," + ",".join(f"{v:.9g}" for v in row) for n, row in zip(names, scaled, strict=True)]
        (folder / "response.csv").write_text("\n".join(lines) + "\n")

    def _server(self) -> Iterator[str]:
        yield f"workspace: pair\nturn_rate_hz: {TURN_RATE_HZ}\nports:"
        yield "  - {name: ring, kind: memif, socket: /run/ringmaster/none-ring.sock}"
        yield "  - {name: supplies, kind: memif, socket: /run/ringmaster/none.sock, answer: 10.30.0.250}"
        yield "instruments:"
        yield f"  - {{name: bpm, kind: bpm, id: 1, count: {self.bpm_count // 2}, port: ring, source: 10.20.0.1,"
        yield f"     period_turns: {PERIOD_TURNS}}}"
        yield f"setpoints: {{period_turns: {PERIOD_TURNS}, phase_turns: {PERIOD_TURNS // 2}, lead: feedback}}"
        yield "chains:"
        for i, (name, count) in enumerate(self._corrector_chains()):
            yield f"  - {{name: {name}, id: {1 + i}, port: supplies, address: 10.30.0.{1 + i}, supplies:"
            yield f'     [{{name: "{name}_", count: {count}, unit: A, limits: [-10, 10], slew: 20000, safe_slew: 5,'
            yield "      tolerance: 0.5}]}"
        if self.more_chains:
            yield f"  - {{name: m, count: {self.more_chains}, id: 201, port: supplies, address: 10.30.1.1, supplies:"
            yield '     [{name: "m{chain}_", count: 13, unit: A, limits: [0, 150], slew: 50, safe_slew: 1,'
            yield "      tolerance: 0.1}]}"
        yield "applications:"
        yield f"  - {{name: feedback, code: feedback, period_turns: {PERIOD_TURNS}, freshness_turns: 120000,"
        yield '     watchdog_cycles: 10000, configuration: feedback.yaml, inputs: ["bpm*/raw"],'
        yield f"     supplies: [{', '.join(self._supplies())}]}}"
        yield "roles:"
        yield "  - {role: receive, core: 0, ports: [ring, supplies]}"
        yield "  - {role: transmit, core: 0}"
        yield "  - {role: housekeeping, core: 0}"

    def _ring(self) -> Iterator[str]:
        yield f"first_turn: {PERIOD_TURNS * 1000}\nseed: 1"
        yield "beam: {tune_x: 0.29, tune_y: 0.16, betatron_um: 0, orbit_um: 0, mains_um: 0, drift_um: 0,"
        yield f"       synchrotron_um: 0, noise_um: {UM_PER_ROOT_TURN * PERIOD_TURNS**0.5:.6g}}}"
        yield "chains:"
        for name, _ in self._corrector_chains():
            yield f"  - {{name: {name}, timeout_ms: {TIMEOUT_MS}, stop: hold}}"
        if self.more_chains:
            yield f"  - {{name: m, timeout_ms: {TIMEOUT_MS}, stop: hold}}"
        yield 'supplies:\n  - {supplies: "c[xy]*", delay_us: 20, bandwidth_hz: 20000}'
        if self.more_chains:
            yield '  - {supplies: "m*", delay_us: 20, bandwidth_hz: 2000}'
        yield "machine:"
        yield f'  lattice: {self.lattice}\n  seed: 7\n  bpms: "{self.bpms}"\n  step_turns: {PERIOD_TURNS}'
        yield "  errors: {beta_beat: 0.1, bpm_gain: 0.05, corrector_gain: 0.05}\n  correctors:"
        for plane in "xy":
            yield f'    - {{elements: "{self.correctors}", plane: {plane}, supplies: "c{plane}*",'
            yield f"       urad_per_unit: {self.urad_per_a:g}, eddy_hz: 5000}}"
        yield "  disturbances: {mains: [{hz: 50, orbit_um: 20}, {hz: 100, orbit_um: 8}, {hz: 300, orbit_um: 4}]}"

    def _feedback(self) -> Iterator[str]:
        yield f"matrix: response.csv\nper: mode\ntikhonov: 0.0005\nmodes: {self.modes}\nfamilies:\n  - name: fast"
        yield '    actuators: ["cx*", "cy*"]'
        yield "    plant: {bandwidth_hz: 5000, second_hz: 20000, delay_us: 35}"
        yield "    integral_hz: 150\n    predictor: true"
        yield "soft_start_s: 0.002\nenable_conditions: {beam: {lanes: [sum1, sum2], least: 1}}"


SMALL = Ring("small", "small.madx", "bpm", "cf", 32, 32, 8, 4, 10)
"""Twelve chains: eight of eight correctors, four of thirteen other supplies."""
LARGE = Ring("large", "elettra2_like", "BPM_*", "CF_*", 168, 72, 12, 84, 40)
"""96 chains: twelve of twelve fast correctors, 84 of thirteen other supplies."""
