# SPDX-License-Identifier: Apache-2.0
"""A workspace in memory for tests of the post-mortem: two BPMs, an interlock, parameters and a clock."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fabric
import numpy as np

from ringmaster.fabric.layout import ElementType, InstrumentKind, LaneType
from ringmaster.postmortem.event import Event, load
from ringmaster.postmortem.settings import Settings, read_settings
from ringmaster.postmortem.watch import Watch
from ringmaster.values import time_format

TSC_HZ = 1e9
TICKS_PER_TURN = 1000.0
"""A million turns a second."""
START = 1_000_000
"""The turn of the moment at which it was made."""
LANES = {
    "bpm01": [("x1", "nm"), ("sum1", "counts")],
    "bpm02": [("x1", "nm"), ("sum1", "counts")],
    "mps": [("flags", "bits"), ("permits", "bits"), ("loss_turn", "turn"), ("current", "uA")],
}
BEAM, NO_LOSS = 1_000_000, -1
INTERLOCK = "{name: mps, kind: interlock, before: 1000 turns, after: 1000 turns}"


class Machine:
    """Its streams go on when the test says so. Its clock is the host's, so the watch sees them as of now."""

    def __init__(self, make_owner: Any, capacity: int = 4096, more: Sequence[fabric.Spec] = ()) -> None:
        self.began_tai_ns = time_format.now_tai_ns()
        streams = [self._stream(name, capacity) for name in LANES]
        value = np.array([400.0])
        self.owner = make_owner(
            [
                *streams,
                *more,
                fabric.parameter("machine/current_ma", value, "mA", ElementType.F64),
                fabric.parameter("premortem/alarms", np.array([0], "<i8"), "", ElementType.I64),
                self._clock(0, START),
                fabric.text("server/config", "workspace: demo\n"),
            ]
        )
        self.turn = START - 1
        self.turn_epoch = 0
        self.current = 400.0
        self.permits, self.loss_turn = 255, NO_LOSS

    @staticmethod
    def _stream(name: str, capacity: int) -> fabric.Spec:
        kind = InstrumentKind.INTERLOCK if name == "mps" else InstrumentKind.BPM
        lanes = [(lane, unit, LaneType.I32) for lane, unit in LANES[name]]
        return fabric.stream(f"{name}/turn", capacity=capacity, margin=8, kind=kind, lanes=lanes)

    def _clock(self, turn_epoch: int, turn: int) -> fabric.Spec:
        """Turn ``turn`` is now."""
        self.turn_began, self.turn_tai_ns = turn, time_format.now_tai_ns()
        return fabric.clock(
            anchored=1, turn_epoch=turn_epoch, turn=turn, turn_tsc=10**12, ticks_per_turn_bits=TICKS_PER_TURN,
            tsc_hz_bits=TSC_HZ, tai_tsc=10**12, tai_ns=self.turn_tai_ns,
        )  # fmt: skip

    def run(self, turns: int) -> None:
        """So many turns of all streams come."""
        first = self.turn + 1
        self.turn += turns
        for turn in range(first, self.turn + 1):
            sum1 = round(BEAM * self.current / 400)
            for bpm in ("bpm01", "bpm02"):
                self.owner.store(f"{bpm}/turn", turn, struct.pack("<ii", turn % 1000, sum1), tag=turn)
            lanes = struct.pack("<iiii", 0, self.permits, self.loss_turn, round(self.current * 1000))
            self.owner.store("mps/turn", turn, lanes, tag=turn)
        for name in LANES:
            self.owner.publish(f"{name}/turn", self.turn, turn_epoch=self.turn_epoch, first=self._first)

    @property
    def _first(self) -> int:
        return START if self.turn_epoch == 0 else self.turn_began

    def to_now(self) -> None:
        """The clock says that the newest turn is now, as if the machine had waited for the test."""
        self.owner.set_bytes("clock", 0, self._clock(self.turn_epoch, self.turn).content)

    def lose_beam(self, interlock: bool = True) -> int:
        """From the next turn on; returns that turn."""
        self.current = 0.0
        if interlock:
            self.permits, self.loss_turn = 254, self.turn + 1
        return self.turn + 1

    def restart_turns(self) -> None:
        """The machine's turn counter begins again at 100."""
        self.turn_epoch, self.turn = self.turn_epoch + 1, 99
        self.owner.set_bytes("clock", 0, self._clock(self.turn_epoch, 100).content)

    def set_current(self, milliamperes: float) -> None:
        """What the parameter says."""
        self.owner.set_values("machine/current_ma", struct.pack("<d", milliamperes))

    def alarm(self, count: int) -> None:
        """What the pre-mortem application has counted."""
        self.owner.set_values("premortem/alarms", struct.pack("<q", count))


def settings(root: Path, triggers: str, quota: str = "100 MB") -> Settings:
    """Of a file with these lines of triggers."""
    file = root / "recorder.yaml"
    listed = "".join(f"    - {line.strip()}\n" for line in triggers.strip().splitlines())
    file.write_text(
        f"workspace: demo\ndirectory: {root / 'archive'}\npostmortem:\n  quota: {quota}\n  triggers:\n{listed}"
    )
    return read_settings(file)


def finish(watch: Watch, machine: Machine, turns: int = 500) -> None:
    """Turns come until nothing is captured any more."""
    for _ in range(1000):
        if not watch.busy:
            return
        machine.run(turns)
        watch.look()
    raise AssertionError("an event is still being captured")


def lose_beam(watch: Watch, machine: Machine) -> Event:
    """One event, from the loss to its end."""
    watch.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(10)
    (event,) = watch.look()
    finish(watch, machine)
    return load(event.folder)
