# SPDX-License-Identifier: Apache-2.0
"""A machine for models to follow: BPMs that read nothing, and supplies, in a workspace of its own, by real time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

from ringmaster.fabric.owner import Owner
from ringmaster.machine.mapping import Mapping, read_mapping, resolve
from ringmaster.twin import Kind, Lattice, load_lattice

TURN_RATE_HZ = 1.2e6
RECORD_TURNS = 3000
"""400 records of each BPM in a second."""
LANES = ("x1", "y1", "x2", "y2")


def mapping_text(lattice: Lattice) -> str:
    """All BPMs, correctors and quadrupoles of a lattice, by their names: an electronics for two BPMs."""
    bpms = sorted({lattice.names[i] for i in lattice.get_bpms()} or {n for n in lattice.names if "BPM" in n.upper()})
    count = sum(lattice.names.count(name) for name in bpms)
    same = next((i for i, letters in enumerate(zip(*bpms, strict=False)) if len(set(letters)) > 1), len(min(bpms)))
    pattern = bpms[0] if len(bpms) == 1 else f"{bpms[0][:same]}*"
    lines = [f'bpms: "{pattern}"', f'rows: "bpm[001-{count // 2:03d}]/{{x1,y1,x2,y2}}"', "correctors:"]
    for k, name in enumerate(dict.fromkeys(lattice.names[int(i)] for i in lattice.get_correctors())):
        number = lattice.names.count(name)
        for plane in "xy":
            supplies = f"ps/{plane}{k:03d}_[001-{number:03d}]"
            lines.append(f'  - {{elements: "{name}", plane: {plane}, actuators: "{supplies}", urad_per_unit: 10}}')
    lines.append("strengths:")
    for k, name in enumerate(dict.fromkeys(lattice.names[int(i)] for i in lattice.find(kind=Kind.QUADRUPOLE))):
        supplies = f"ps/q{k:03d}_[001-{_magnets(lattice, name):03d}]"
        lines.append(f'  - {{elements: "{name}", change: gradient, supplies: "{supplies}", per_unit: 0.001}}')
    return "\n".join(lines) + "\n"


def _magnets(lattice: Lattice, name: str) -> int:
    """Elements of that name; parts of one magnet, which follow each other, count once."""
    places = [i for i, other in enumerate(lattice.names) if other == name]
    return sum(1 for i in places if i == 0 or lattice.names[i - 1] != name)


@dataclass(frozen=True)
class Files:
    """Of one lattice."""

    lattice: str
    path: Path
    mapping: Mapping

    @property
    def quadrupole(self) -> str:
        """A supply that moves the tunes."""
        return self.mapping.strengths[0].supplies[0]


def files_of(lattice: str, folder: Path) -> Files:
    """A mapping of it, written there."""
    read = load_lattice(lattice)
    path = folder / f"{Path(lattice).stem}.yaml"
    path.write_text(mapping_text(read))
    return Files(lattice, path, resolve(read, read_mapping(path)))


class Player:
    """The server's segment of such a machine."""

    def __init__(self, files: Files, workspace: Path) -> None:
        self.owner = Owner("server", str(workspace))
        self.owner.parameter("server/turn_rate_hz", TURN_RATE_HZ)
        self._setpoints = {n: self.owner.parameter(f"{n}/setpoint", 0.0) for n in files.mapping.supplies}
        lanes = [(lane, "nm") for lane in LANES]
        names = dict.fromkeys(row.rpartition("/")[0] for row in files.mapping.rows)
        self._streams = [self.owner.stream(f"{n}/fast", lanes, RECORD_TURNS, capacity=1024) for n in names]
        self._zeros = np.zeros(len(LANES))
        self._begin = 0.0
        self.turn = 0

    @contextmanager
    def open(self) -> Iterator["Player"]:
        """Runs from turn 0 on."""
        with self.owner:
            self._begin = perf_counter()
            yield self

    def put(self, supply: str, value: float) -> None:
        """A setpoint moves, now."""
        self._setpoints[supply].write(value, self.turn)

    def run(self, seconds: float, each: Callable[[int], bool] = lambda _: False) -> None:
        """Records when their time has come, all that are due; ``each`` ends it early."""
        give_up = perf_counter() + seconds
        while perf_counter() < give_up:
            due = int((perf_counter() - self._begin) * TURN_RATE_HZ) // RECORD_TURNS * RECORD_TURNS
            if due > self.turn:
                self.turn = due
                for stream in self._streams:
                    stream.put(due, self._zeros)
                if each(due):
                    return
            sleep(0.0005)
