# SPDX-License-Identifier: Apache-2.0
"""Rings for tests of closed loops: the configurations of server, ring and feedback, and the matrix of the design.

The small ring has sixteen FODO cells, with a BPM and a corrector at every quadrupole. What moves it is the virtual
machine's, with errors that the matrix has not: that is of the design.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ringmaster.simulation import Simulation, simulate
from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.response import orbit_response

CELLS = 16
TURN_RATE_HZ = 1157000
LATTICE = """
qf: quadrupole, l = 0.4, k1 := 1.6;  qd: quadrupole, l = 0.4, k1 := -1.4;
sf: sextupole, l = 0.2, k2 = 6.0;  sd: sextupole, l = 0.2, k2 = -10.0;
d1: drift, l = 0.5;  b: sbend, l = 1.0, angle = pi/16;
bpm: monitor;  cf: kicker;  cs: kicker;  cav: rfcavity, volt = 2, harmon = 64;
cell: line = (bpm, cf, cs, qf, sf, d1, b, d1, bpm, cf, cs, qd, sd, d1, b, d1);
ring: line = (16*cell, cav);
beam, particle = electron, energy = 1.0;
use, sequence = ring;
"""
LINES_HZ = (50.0, 100.0, 150.0, 300.0, 600.0)


@dataclass
class Family:
    """Correctors of one kind at all their places, in both planes."""

    name: str
    elements: str
    urad_per_a: float
    eddy_hz: float
    """What the machine has; the model is told ``model_hz``."""
    model_hz: float
    places: int = 2 * CELLS
    """Correctors in one plane."""
    keys: dict[str, object] = field(default_factory=dict)
    """More of its entry in the feedback's file."""


FAST = Family(
    "fast",
    "cf",
    10,
    5000,
    5000,
    keys={"integral_hz": 150, "predictor": True, "resonators": f"[{', '.join(f'{hz:g}' for hz in LINES_HZ)}]"},
)


@dataclass
class Rig:
    """A folder with everything; the values are what the tests differ in."""

    folder: Path
    lattice: str = "small.madx"
    bpms: str = "bpm"
    bpm_count: int = 2 * CELLS
    period_turns: int = 120
    families: tuple[Family, ...] = (FAST,)
    errors: str = (
        "{beta_beat: 0.1, bpm_gain: 0.05, bpm_offset_um: 0, bpm_roll_mrad: 5, bpm_crosstalk: 0.01, "
        "corrector_gain: 0.05, corrector_roll_mrad: 5}"
    )
    disturbances: str = "{}"
    supply: str = "delay_us: 100, bandwidth_hz: 20000"
    bpm_delay_us: float = 20
    model_delay_us: float = 117
    """Less than what it truly is, by a tenth: 100 + 20 and the latency."""
    noise_um: float = 0.05
    """Of a reading, that is an average over its period. Without any, BPMs that nothing moves are frozen, and so out."""
    rf: bool = False
    mode_count: int = 10
    """Corrected in a plane; of the others this ring's errors leave little."""
    tikhonov: float = 0.0005
    more: str = ""
    """More lines of the feedback's file."""
    seed: int = 7
    latency_us: float = 10

    def write(self) -> "Rig":
        """All files."""
        (self.folder / "small.madx").write_text(LATTICE)
        (self.folder / "server.yaml").write_text(self._server())
        (self.folder / "ring.yaml").write_text(self._ring())
        (self.folder / "feedback.yaml").write_text(self._feedback())
        self.write_matrix(self.response())
        return self

    def modes(self, plane: str) -> np.ndarray:
        """Rows of a plane by modes of the first family: what the feedback sees of the design."""
        half = slice(0, self.bpm_count) if plane == "x" else slice(self.bpm_count, None)
        first = 0 if plane == "x" else self.families[0].places
        basis: np.ndarray = np.linalg.svd(
            self.response()[half, first : first + self.families[0].places], full_matrices=False
        )[0][:, : self.mode_count]
        return basis

    def orbit(self, run: Simulation, plane: str) -> np.ndarray:
        """Readings, nm, in the order of the matrix's rows."""
        order = [run.rows(plane).index(name) for name in self.rows() if name.rpartition("/")[2][0] == plane]
        return run.orbit(plane)[:, order]

    def supplies(self) -> list[str]:
        """Names of all, family after family, x before y."""
        return [
            f"{family.name}{plane}{'abcdefgh'[i // 40]}_{1 + i % 40:02d}"
            for family in self.families
            for plane in "xy"
            for i in range(family.places)
        ] + (["rf_01"] if self.rf else [])

    def rows(self) -> list[str]:
        """Of the matrix: x1, x2 of all electronics and then the y, as the machine's BPMs stand."""
        names = [f"bpm{1 + i // 2:02d}" for i in range(self.bpm_count)]
        return [f"{name}/{plane}{1 + i % 2}" for plane in "xy" for i, name in enumerate(names)]

    def twin(self) -> Twin:
        """The design."""
        name = str(self.folder / self.lattice) if self.lattice.endswith("madx") else self.lattice
        twin = Twin(load_lattice(name))
        twin.enable_6d()  # the cavity is on: what lengthens the path changes the energy
        return twin

    def response(self) -> np.ndarray:
        """Of the design: nm per A, rows by actuators."""
        twin = self.twin()
        steerers = [
            (int(i), plane)
            for family in self.families
            for plane in "xy"
            for i in twin.get_uint32_index(family.elements)
        ]
        scale = [f.urad_per_a * 1e-6 for f in self.families for _ in "xy" for _ in range(f.places)]
        both = orbit_response(twin, self.bpms, steerers)
        scaled: np.ndarray = both.reshape(2 * self.bpm_count, -1) * np.array([*scale, 1.0]) * 1e9
        return scaled[:, : None if self.rf else -1]

    def write_matrix(self, response: np.ndarray) -> None:
        """As the feedback reads it."""
        lines = ["," + ",".join(self.supplies())]
        lines += [
            f"{name}," + ",".join(f"{value:.9g}" for value in row)
            for name, row in zip(self.rows(), response, strict=True)
        ]
        (self.folder / "response.csv").write_text("\n".join(lines) + "\n")

    def run(self, name: str, *, seconds: float | None = None, **options: Any) -> Simulation:
        """Simulates it, into a folder NAME of its own."""
        options.setdefault("latency_us", self.latency_us)
        return simulate(
            self.folder / "server.yaml",
            self.folder / "ring.yaml",
            "feedback",
            self.folder / name,
            seconds=seconds,
            **options,
        )

    def _chains(self) -> list[tuple[str, int]]:
        """Chains of at most 40 supplies: name, and how many."""
        names = [name.rpartition("_")[0] for name in self.supplies() if not name.startswith("rf_")]
        return [(name, names.count(name)) for name in dict.fromkeys(names)]

    def _server(self) -> str:
        chains = [
            f"  - {{name: {name}, id: {i + 1}, port: supplies, address: 10.30.0.{i + 1}, supplies: "
            f'[{{name: "{name}_", count: {count}, unit: A, limits: [-10, 10], '
            f"slew: 100000, safe_slew: 5}}]}}"
            for i, (name, count) in enumerate(self._chains())
        ]
        if self.rf:
            chains.append(
                "  - {name: rf, id: 200, port: supplies, address: 10.30.0.200, supplies: "
                '[{name: "rf_", count: 1, unit: Hz, limits: [-2000, 2000], slew: 1000, safe_slew: 10}]}'
            )
        return "\n".join(
            [
                "workspace: simulated",
                f"turn_rate_hz: {TURN_RATE_HZ}",
                "ports:",
                "  - {name: ring, kind: memif, socket: /run/ringmaster/none-ring.sock}",
                "  - {name: supplies, kind: memif, socket: /run/ringmaster/none.sock, answer: 10.30.0.250}",
                "instruments:",
                f"  - {{name: bpm, kind: bpm, id: 1, count: {self.bpm_count // 2}, port: ring, source: 10.20.0.1, "
                f"period_turns: {self.period_turns}}}",
                f"setpoints: {{period_turns: {self.period_turns}, phase_turns: {self.period_turns // 2}, "
                "lead: feedback}",
                "chains:",
                *chains,
                "applications:",
                f"  - {{name: feedback, code: feedback, period_turns: {self.period_turns}, freshness_turns: 120000, "
                'watchdog_cycles: 1000, configuration: feedback.yaml, inputs: ["bpm*/raw"], '
                f"supplies: [{', '.join(self.supplies())}]}}",
                "roles:",
                "  - {role: receive, core: 0, ports: [ring, supplies]}",
                "  - {role: transmit, core: 0}",
                "  - {role: housekeeping, core: 0}",
                "",
            ]
        )

    def _ring(self) -> str:
        groups = [
            f'    - {{elements: "{family.elements}", plane: {plane}, supplies: "{family.name}{plane}*", '
            f"urad_per_unit: {family.urad_per_a}, eddy_hz: {family.eddy_hz}}}"
            for family in self.families
            for plane in "xy"
        ]
        supplies = [f'  - {{supplies: "{name}", {self.supply}}}' for name, _ in self._chains()]
        return "\n".join(
            [
                f"first_turn: {self.period_turns * 1000}",
                "seed: 1",
                "beam: {tune_x: 0.29, tune_y: 0.16, betatron_um: 0, orbit_um: 0, mains_um: 0, drift_um: 0, "
                f"synchrotron_um: 0, noise_um: {self.noise_um * self.period_turns**0.5:.6g}}}",
                "supplies:",
                *supplies,
                "machine:",
                f"  lattice: {self.lattice}",
                f"  seed: {self.seed}",
                f'  bpms: "{self.bpms}"',
                f"  step_turns: {min(12, self.period_turns)}",
                "  refresh_ms: 1000",
                f"  filter: {{delay_us: {self.bpm_delay_us}}}",
                f"  errors: {self.errors}",
                "  correctors:",
                *groups,
                *(["  rf: {supply: rf/1, hz_per_unit: 1}"] if self.rf else []),
                f"  disturbances: {self.disturbances}",
                "",
            ]
        )

    def _feedback(self) -> str:
        families = []
        for family in self.families:
            families += [
                f"  - name: {family.name}",
                f'    actuators: ["{family.name}x*", "{family.name}y*"]',
                f"    plant: {{bandwidth_hz: {family.model_hz}, second_hz: 20000, delay_us: {self.model_delay_us}}}",
                *(f"    {key}: {_word(value)}" for key, value in family.keys.items()),
            ]
        widths = [
            f"  - {{hz: {hz:g}, width_hz: {max(1.0, 0.03 * hz):g}, leak_hz: {max(0.001, 1e-5 * hz):g}}}"
            for hz in LINES_HZ
        ]
        return "\n".join(
            [
                "matrix: response.csv",
                "per: mode",
                f"tikhonov: {self.tikhonov}",
                f"modes: {self.mode_count}",
                "families:",
                *families,
                "resonators:",
                *widths,
                *(["rf: {actuator: rf_01, hz: 10, gain: 0.3, slew: 500}"] if self.rf else []),
                "soft_start_s: 0.05",
                "enable_conditions: {beam: {lanes: [sum1, sum2], least: 1}}",
                self.more,
                "",
            ]
        )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
