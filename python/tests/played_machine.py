# SPDX-License-Identifier: Apache-2.0
"""A machine that a test plays: a small ring whose supplies stand where the test puts them, with the streams of its BPMs
and its setpoints in a workspace, turn by turn as the test says.
"""

from pathlib import Path
from typing import Self

import numpy as np
from small_ring import small_ring

from ringmaster.fabric.owner import Owner
from ringmaster.machine.mapping import Mapping, resolve
from ringmaster.twin import Twin, load_lattice, save_mat
from ringmaster.twins.instance import Instance
from ringmaster.twins.strengths import SupplyMap

BPMS = 16
PERIOD_TURNS = 12
TURN_RATE_HZ = 1.2e6
MAPPING = """\
bpms: BPM
rows: "bpm[01-16]/{x1,y1}"
correctors:
  - {elements: COR, plane: x, actuators: "ps/h[01-16]", urad_per_unit: 10}
  - {elements: COR, plane: y, actuators: "ps/v[01-16]", urad_per_unit: 10}
rf: {actuator: rf/frequency, hz_per_unit: 1}
strengths:
  - {elements: QF, change: gradient, supplies: "ps/qf[01-16]", per_unit: 0.001}
  - {elements: QD, change: gradient, supplies: "ps/qd[01-16]", per_unit: 0.001}
  - {elements: SF, change: sextupole, supplies: "ps/sf[01-16]", per_unit: 0.01}
  - {elements: SD, change: skew, supplies: "ps/skew[01-16]", per_unit: 0.001}
"""


def files(folder: Path) -> tuple[Path, Path]:
    """The small ring, and its mapping."""
    lattice, mapping = folder / "small.mat", folder / "mapping.yaml"
    if not lattice.exists():
        save_mat(small_ring(), lattice)
        mapping.write_text(MAPPING)
    return lattice, mapping


def instance(folder: Path, name: str = "model", **more: object) -> Instance:
    """Of the small ring, at 1000 updates per second of turns."""
    lattice, mapping = files(folder)
    return Instance(name, str(lattice), str(mapping), **({"hz": 1000.0} | more))  # type: ignore[arg-type]


def resolved(twin: Twin) -> Mapping:
    """The mapping of this ring."""
    from io import StringIO

    from ruamel.yaml import YAML

    return resolve(twin.lattice, YAML(typ="safe").load(StringIO(MAPPING)))


class PlayedMachine:
    """A server's segment, which a test writes; enter it."""

    def __init__(self, folder: Path, workspace: str = "demo") -> None:
        lattice, _ = files(folder)
        self.twin = Twin(load_lattice(lattice))
        self.twin.enable_6d()
        self.mapping = resolved(self.twin)
        self.knobs = SupplyMap(self.twin, self.mapping)
        self.turn = 0
        self.values = dict.fromkeys(self.mapping.supplies, 0.0)
        self.owner = Owner("server", workspace)
        self._rate = self.owner.parameter("server/turn_rate_hz", TURN_RATE_HZ)
        self._setpoints = {name: self.owner.parameter(f"{name}/setpoint", 0.0) for name in self.values}
        lanes = [("x1", "nm"), ("y1", "nm")]
        self._streams = [self.owner.stream(f"bpm{i:02d}/fast", lanes, PERIOD_TURNS) for i in range(1, BPMS + 1)]

    def open(self) -> Self:
        """As a server that starts."""
        self.owner.open()
        self._rate.write(TURN_RATE_HZ)  # of a segment that another one left, too
        for parameter in self._setpoints.values():
            parameter.write(0.0)
        return self

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.owner.close()

    def put(self, **supplies: float) -> None:
        """Supplies of these short names: h01 is ps/h01, qf all ps/qf*."""
        for short, value in supplies.items():
            for name in self._named(short):
                self.values[name] = value
                self._setpoints[name].write(value, self.turn)

    def _named(self, short: str) -> list[str]:
        return [name for name in self.values if name.startswith(f"ps/{short}")]

    def show(self, turns: int, **supplies: float) -> None:
        """Setpoints that say something else than what the fields are, for so many turns."""
        for short, value in supplies.items():
            for name in self._named(short):
                self._setpoints[name].write(value, self.turn)
        self.run(turns)

    def move(self, turns: int, **supplies: float) -> None:
        """Puts supplies, and runs on."""
        self.put(**supplies)
        self.run(turns)

    def run(self, turns: int) -> None:
        """The orbit that belongs to these supplies, record by record."""
        self.knobs.set(np.nan_to_num(np.array(list(self.values.values()))))
        _, orbit = self.twin.find_orbit(np.array(self.mapping.bpms, np.uint32))
        for _ in range(turns // PERIOD_TURNS):
            self.turn += PERIOD_TURNS
            for stream, nm in zip(self._streams, orbit[:, [0, 2]] * 1e9, strict=True):
                stream.put(self.turn, nm)
