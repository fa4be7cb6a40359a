# SPDX-License-Identifier: Apache-2.0
"""Two virtual rings of one workspace: their turns, and the machine's knobs are shared."""

import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from harness import SERVER_CORE, free_udp_port, nonzero, ringmaster, server, terminate, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.errors import RequestRefused
from ringmaster.programs.program import Program, attach_to

TURN_RATE_HZ, FIRST_TURN = 1000, 1_000_000


Ring = tuple[str, ...]
"""What a ring is started with."""


@dataclass
class Pair:
    """A server for two rings: bpm01 of the one, blm01 or bpm02 of the other."""

    name: str
    root: Path
    running: Program
    config: Path

    def ring(self, instrument: str, *, lines: str = "", rate: float = TURN_RATE_HZ) -> Ring:
        """A ring of one instrument: it is the other end of that one's port."""
        config, overlay = self.config, self.root / f"{self.name}-{instrument}.yaml"
        overlay.write_text(f"first_turn: {FIRST_TURN}\n{lines}")
        if rate != TURN_RATE_HZ:
            config = self.root / f"{self.name}-other.yaml"
            config.write_text(self.config.read_text().replace(f"rate_hz: {TURN_RATE_HZ}", f"rate_hz: {rate}"))
        return (str(config), str(overlay), "--ports", instrument)

    def look(self) -> Workspace:
        """The workspace as it is now."""
        return attach_to(self.name, self.running)

    def turn_zero(self, owner: str) -> list[int]:
        """What a ring publishes of its time, once its turns have begun."""
        found: list[int] = []

        def there() -> bool:
            with self.look() as ws:
                if f"{owner}/turn_zero" in ws.parameters:
                    zero: npt.NDArray[np.uint64] = np.asarray(ws.parameters[f"{owner}/turn_zero"].value, np.uint64)
                    found[:] = [int(part) for part in zero.ravel()]
            return bool(found) and found[1] != 2**64 - 1

        wait_for(there, f"the turns of {owner}")
        return found


@pytest.fixture
def pair(root: Path) -> Iterator[Pair]:
    name = unique_name("tworings")
    sockets = [f"127.0.0.1:{free_udp_port()}" for _ in range(3)]
    config = root / f"{name}.yaml"
    config.write_text(f"""
workspace: {name}
turn_rate_hz: {TURN_RATE_HZ}
polling: {{naps: true}}
ports:
  - {{name: bpm01, kind: udp, address: "{sockets[0]}"}}
  - {{name: blm01, kind: udp, address: "{sockets[1]}"}}
  - {{name: bpm02, kind: udp, address: "{sockets[2]}"}}
buffers: {{turn_records: 65536, fast_records: 1024}}
roles: [{{role: receive, core: {SERVER_CORE}, ports: [bpm01, blm01, bpm02]}}]
instruments:
  - {{name: bpm01, kind: bpm, id: 1, port: bpm01, source: 127.0.0.1}}
  - {{name: blm01, kind: blm, id: 1, port: blm01, source: 127.0.0.2}}
  - {{name: bpm02, kind: bpm, id: 1, port: bpm02, source: 127.0.0.3}}
""")
    with server(config) as running:
        attach_to(name, running).close()
        yield Pair(name, root, running, config)
    shutil.rmtree(root / name, ignore_errors=True)


def start(ring: Ring) -> Program:
    return Program("ringmaster-instruments", "run", *ring)


def test_a_ring_that_joins_takes_the_turns_of_the_one_that_is_there(pair: Pair) -> None:
    """And so does the first one, when it has ended and comes again."""
    bpm, blm = pair.ring("bpm01"), pair.ring("blm01")
    with start(bpm) as first:
        zero = pair.turn_zero("ring")
        assert zero[1] == FIRST_TURN
        with pair.look() as ws:
            wait_for(lambda: ws.counters("stream/bpm01")["accepted"] > TURN_RATE_HZ, "turns of the first ring")
        with start(blm):
            assert pair.turn_zero("ring-2") == zero
            with pair.look() as ws:
                streams = {name: ws.counters(f"stream/{name}") for name in ("bpm01", "blm01")}
                wait_for(lambda: streams["blm01"]["accepted"] > TURN_RATE_HZ, lambda: str(nonzero(streams["blm01"])))
                first_turn = ws.streams["blm01/turn"].first
                assert first_turn is not None
                assert first_turn > FIRST_TURN + TURN_RATE_HZ
            assert terminate(first) == 0
            with start(bpm):
                assert pair.turn_zero("ring") == zero


def test_a_second_sender_of_an_instrument_is_refused_by_name(pair: Pair) -> None:
    bpm = pair.ring("bpm01")
    with start(bpm):
        pair.turn_zero("ring")
        said = ringmaster("virtual", *bpm, expect=1).stderr
        assert 'instrument "bpm01"' in said
        other = pair.ring("blm01", rate=2 * TURN_RATE_HZ)
        assert "turn_rate_hz: found 2000, expected 1000" in ringmaster("virtual", *other, expect=1).stderr
        blm = pair.ring("blm01")
        unpaced = ringmaster("virtual", *blm, "--turn-rate", "0", expect=1).stderr
        assert "turn_rate_hz: found 0, expected 1000" in unpaced


MACHINE = """machine:
  lattice: elettra2_like
  seed: 7
  bpms: "{bpms}"
  step_turns: 1
  disturbances: {{mains: [{{hz: 50, orbit_um: 50}}]}}
"""


def rms(ws: Workspace, stream: str) -> float:
    """Of x of the newest 200 turns, nm, as far as they were had; NaN while they are few."""
    window = ws.streams[stream].latest(200)
    there = window.values("x1")[window.ok]
    return float(np.std(there)) if len(there) >= 50 else float("nan")


def test_a_kick_of_one_beam_is_one_of_both(pair: Pair) -> None:
    """At one turn, which the first ring publishes: `align` finds both by it."""
    quiet = "beam: {orbit_um: 0, betatron_um: 0, synchrotron_um: 0, mains_um: 0, drift_um: 0, noise_um: 0}\n"
    with start(pair.ring("bpm01", lines=quiet)) as first:
        pair.turn_zero("ring")
        with start(pair.ring("bpm02", lines=quiet)):
            pair.turn_zero("ring-2")
            with pair.look() as ws:
                streams = [ws.streams[f"{name}/turn"] for name in ("bpm01", "bpm02")]
                wait_for(lambda: all(stream.head is not None for stream in streams), "turns of both")
                os.kill(first.pid, signal.SIGUSR1)
                kick = ws.parameters["ring/kick_turn"]
                wait_for(lambda: int(kick.value) != 2**64 - 1, "the kick")
                turn = int(kick.value)
                wait_for(lambda: all((stream.head or 0) > turn + 200 for stream in streams), "turns after the kick")
                for stream in streams:
                    window = stream.read(turn - 200, 400)
                    x, there = window.values("x1"), window.ok
                    before, after = x[:200][there[:200]], x[200:][there[200:]]
                    assert len(before) > 0
                    assert len(after) > 0
                    assert not before.any(), "before the kick"
                    assert np.abs(after).max() > 10_000, "nm, after the kick"


def test_an_event_of_the_beam_is_one_of_both(pair: Pair) -> None:
    """It is put to the first ring, and happens at one turn; what befalls an instrument is its own ring's."""
    quiet = "beam: {orbit_um: 0, betatron_um: 0, synchrotron_um: 0, mains_um: 0, drift_um: 0, noise_um: 0}\n"
    with start(pair.ring("bpm01", lines=quiet)):
        pair.turn_zero("ring")
        with start(pair.ring("bpm02", lines=quiet)):
            pair.turn_zero("ring-2")
            with pair.look() as ws:
                streams = [ws.streams[f"{name}/turn"] for name in ("bpm01", "bpm02")]
                wait_for(lambda: all(stream.head is not None for stream in streams), "turns of both")
                with pytest.raises(RequestRefused, match="put it to ring/event"):
                    ws.put("ring-2/event", "event: kick, x_um: 60")
                with pytest.raises(RequestRefused, match="kick: x_um: found 1e.06, expected -100000 to 100000"):
                    ws.put("ring/event", "event: kick, x_um: 1e6")
                ws.put("ring/event", "event: kick, x_um: 60")
                counted = [ws.parameters[f"{ring}/events"] for ring in ("ring", "ring-2")]
                wait_for(lambda: all(int(events.value) == 1 for events in counted), "the kick of both")
                turns = [int(ws.parameters[f"{ring}/event_turn"].value) for ring in ("ring", "ring-2")]
                assert turns[0] == turns[1] == int(ws.parameters["ring/kick_turn"].value)
                wait_for(lambda: all((stream.head or 0) > turns[0] + 200 for stream in streams), "turns after the kick")
                for stream in streams:
                    window = stream.read(turns[0] - 200, 400)
                    x, there = window.values("x1"), window.ok
                    assert not x[:200][there[:200]].any(), "before the kick"
                    assert np.abs(x[200:][there[200:]]).max() > 10_000, "nm, after the kick"
                ws.put("ring-2/event", "event: offset, instrument: bpm02, x_um: 500, y_um: 0")
                wait_for(lambda: int(counted[1].value) == 2, "the second ring's own event")
                assert int(counted[0].value) == 1
                assert str(ws.parameters["ring-2/event"].value).startswith(
                    "event: offset, instrument: bpm02, x_um: 500"
                )


def test_what_is_set_at_one_machine_acts_on_the_beam_of_both(pair: Pair) -> None:
    noise = "beam: {betatron_um: 0, synchrotron_um: 0, noise_um: 0}\n"
    bpm = pair.ring("bpm01", lines=noise + MACHINE.format(bpms="BPM_S01_0[12]"))
    other = pair.ring("bpm02", lines=noise + MACHINE.format(bpms="BPM_S01_0[34]"))
    with start(bpm):
        pair.turn_zero("ring")
        with start(other):
            pair.turn_zero("ring-2")
            with pair.look() as ws:
                assert not [name for name in ws.parameters if name.startswith("ring-2/machine")]
                wait_for(lambda: all(rms(ws, f"{name}/turn") > 1000 for name in ("bpm01", "bpm02")), "the mains")
                ws.put("machine/mains", 0)
                wait_for(lambda: all(rms(ws, f"{name}/turn") < 100 for name in ("bpm01", "bpm02")), "no mains")
