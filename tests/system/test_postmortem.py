# SPDX-License-Identifier: Apache-2.0
"""Real beam losses of a real server: seen by a watch, through its own death and the server's."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, TIMEOUT_S, kill_at_once, ringmaster_json, server, unique_name, wait_for

from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.event import CAPTURING, COMPLETE, Event
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import release_workspace

pytestmark = pytest.mark.usefixtures("root")

TURN_RATE_HZ = 50_000
"""So slow that a busy machine keeps up."""
RF_TRIP, INJECTION = "event: rf_trip, for_turns: 2000", "event: injection"


class Losing:
    """A server, its ring with a beam, and the recorder's file."""

    def __init__(self, running: Program, ws: Workspace, file: Path, archive: Path) -> None:
        self.server, self.ws, self.file = running, ws, file
        self.catalogue = Catalogue(archive)

    @contextmanager
    def watched(self) -> Iterator[Program]:
        """A watch that has begun to look."""
        arguments = ("-m", "ringmaster", "postmortem", "watch", self.file)
        with Program(sys.executable, *arguments) as watch:
            wait_for(lambda: "triggers; events go to" in watch.words, lambda: f"the watch: {watch.words}")
            turn = self.turn()
            wait_for(lambda: self.turn() > turn + TURN_RATE_HZ // 10, "some looks")
            yield watch

    def turn(self) -> int:
        """The newest."""
        return self.ws.streams["mps/turn"].head or 0

    def lose_beam(self) -> int:
        """The RF trips; returns the turn at which the interlock saw the beam go."""
        self.ws.put("ring/event", RF_TRIP)
        wait_for(lambda: self._interlock("loss_turn") >= 0 and self._interlock("current") == 0, "the loss")
        return int(self._interlock("loss_turn"))

    def inject(self) -> None:
        """There is a beam again, as before."""
        self.ws.put("ring/event", INJECTION)
        wait_for(lambda: self._interlock("loss_turn") < 0, "the injection")

    def _interlock(self, lane: str) -> float:
        window = self.ws.streams["mps/turn"].latest(1)
        return float(window[lane][0]) if len(window) and window.ok[0] else -1.0

    def event(self, number: int, state: str = COMPLETE) -> Event:
        """The event of that number, from 0 on, once it is so far."""
        wait_for(lambda: len(self.catalogue.events()) > number, lambda: f"event {number}: {self.catalogue.events()}")
        wait_for(lambda: self.catalogue.events()[number].state == state, lambda: f"{self.catalogue.events()[number]}")
        return self.catalogue.events()[number]


@contextmanager
def losing(root: Path, triggers: str) -> Iterator[Losing]:
    """Starts it, and waits for the beam."""
    name = unique_name("postmortem")
    config, overlay, file = (root / f"{name}{suffix}.yaml" for suffix in ("", "-ring", "-record"))
    config.write_text(
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"buffers: {{turn_records: 262144, fast_records: 16384}}\n"
        f"ports: [{{name: ring, kind: memif, socket: {root}/{name}.sock, role: server}}]\n"
        f"instruments:\n  - {{name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}}\n"
        f"  - {{name: mps, kind: interlock, id: 1, port: ring, source: 10.20.0.5}}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [ring]}}\n"
        f"  - {{role: housekeeping, core: {SERVER_CORE}}}\n"
    )
    overlay.write_text(
        f"core: {RING_CORE}\nmax_lag_ms: 0\nbeam: {{betatron_um: 1, synchrotron_um: 0}}\n"
        f"machine: {{lattice: elettra2_like, current_ma: 400, bpms: 'BPM_S01_0[12]', step_turns: 120}}\n"
    )
    file.write_text(
        f"workspace: {name}\ndirectory: {root / 'archive'}\npostmortem:\n  quota: 1 GB\n  triggers:\n{triggers}"
    )
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, overlay) as ring,
            attach_to(name, running, ("server", "ring")) as ws,
        ):
            wait_for(lambda: ws.parameters["machine/current_ma"].number > 300, lambda: f"the beam: {ring.words}")
            yield Losing(running, ws, file, root / "archive")
    release_workspace(name)


def saved(event: Event, stream: str, lane: str) -> tuple[np.typing.NDArray[np.uint64], np.typing.NDArray[np.int32]]:
    """Turns and values of all that was saved of a lane."""
    turns, values = [], []
    for path in sorted(event.folder.glob("memory/*.h5"), key=lambda path: int(path.stem)):
        with h5py.File(path) as file:
            if stream in file:
                ok = file[stream]["ok"][:]
                turns.append(file[stream]["turn"][:][ok])
                values.append(file[stream]["lanes"][lane][:][ok])
    return np.concatenate(turns), np.concatenate(values)


def test_a_loss_has_the_turn_of_the_interlock_and_all_of_its_windows(tmp_path: Path) -> None:
    triggers = (
        "    - {kind: interlock, before: 5000 turns, after: 2500 turns}\n"
        "    - {kind: beam_loss, before: 1000 turns, after: 2500 turns}\n"
    )
    with losing(tmp_path, triggers) as machine, machine.watched() as watch:
        lost = machine.lose_beam()
        event = machine.event(0)
        assert event.zero.turn == lost, watch.words
        assert event.zero.how == "lane loss_turn of mps/turn"
        turns, sums = saved(event, "bpm01/turn", "sum1")
        assert set(range(lost - 5000, lost + 2501)) <= set(turns.tolist())
        gone = turns[sums < 0.5 * sums[0]]
        assert abs(int(gone[0]) - lost) < 200  # most of the beam goes within a part of a synchrotron oscillation
        machine.inject()
        again = machine.lose_beam()
        assert machine.event(1).zero.turn == again
        shown = ringmaster_json("postmortem", "ls", "-w", machine.ws.name, "--json")
        assert [one["zero"]["turn"] for one in shown] == [lost, again]


def test_a_watch_that_was_killed_goes_on_and_a_killed_server_leaves_its_memory(tmp_path: Path) -> None:
    triggers = "    - {kind: interlock, before: 5000 turns, after: 2 s}\n    - {kind: server, before: 2000 turns}\n"
    with losing(tmp_path, triggers) as machine:
        with machine.watched() as watch:
            lost = machine.lose_beam()
            machine.event(0, CAPTURING)
            wait_for(lambda: list(machine.catalogue.folder.glob("*/memory/1.h5")), "what there was at the trigger")
            kill_at_once(watch.pid)
            watch.wait(TIMEOUT_S)
        with machine.watched() as watch:
            event = machine.event(0)
            assert event.zero.turn == lost, watch.words
            turns, _ = saved(event, "bpm01/turn", "x1")
            assert set(range(event.first_turn, event.last_turn + 1)) <= set(turns.tolist())
            assert len(machine.catalogue.events()) == 1
            os.kill(machine.server.pid, signal.SIGKILL)
            event = machine.event(1)
            assert event.reason == "the server was killed", watch.words
            newest = machine.turn()
            assert event.zero.turn == newest
            turns, _ = saved(event, "mps/turn", "permits")
            assert set(range(newest - 2000, newest + 1)) <= set(turns.tolist())
            parameters = json.loads((event.folder / "parameters.json").read_text())["parameters"]
            assert "server/turn_rate_hz" in parameters
