# SPDX-License-Identifier: Apache-2.0
"""The demonstration's loop on a pair of servers: the orbit feedback runs on both, and the orbit stays when one ends.

It is the ring like Elettra 2.0 at a fiftieth of its rate, in real time: nobody waits for a server that was killed, and
two servers, a ring and a person who looks share two cores.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ringmaster.fabric.layout import StandbyRole
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.golden import current_orbit, rate_of
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.names import State
from ringmaster.monitor.feedback import FeedbackFigures, read_feedback
from ringmaster.places import CONFIGS
from ringmaster.programs.program import ProgramFailed
from ringmaster.virtual import pair
from ringmaster.virtual.loop import ELETTRA2, GOLDEN_S, TIMEOUT_S, prepare
from ringmaster.virtual.pair import Pair, PairServer
from ringmaster.virtual.pair_file import Timing, free_links, write_pair
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ
from ringmaster.virtual.slower import make_slow

SLOWER = 50
TURN_RATE_HZ = FULL_TURN_RATE_HZ / SLOWER
FEEDBACK = "feedback"
TIMING = Timing(missed_cycles=20, timeout_s=0.2, begin_s=3.0)
"""Cycles of 5 ms: a stall of 0.1 s is a host's that shares its cores, and no end of a server. A standby must have been
in time for as many cycles before it takes over, so more are not better."""
LAG_MS = 50
"""By which the ring may be behind, until it lets turns pass."""
DISTURBANCES = ("ground", "steps", "insertion", "topup")
"""Of the ring's: the mains are faster than this loop."""
INSTRUMENTS = ("bpm", "mps")
"""Of the ring's: who sends at each turn is left out, which only the tune is seen in."""
BPMS = "BPM_*"
ORBIT = f"{FEEDBACK}/orbit"


class PairLoop:
    """The pair and its feedback, which runs on both servers. Made by ``start``."""

    def __init__(self, of: Pair) -> None:
        self.pair = of

    def active(self) -> tuple[PairServer, Workspace]:
        """The server that sends, and its workspace."""
        found: list[tuple[PairServer, Workspace]] = []

        def there() -> bool:
            server = self.pair.active
            ws = None if server is None else server.attached()
            if server is not None and ws is not None:
                found.append((server, ws))
            return bool(found)

        self.pair.wait(there, "a server that sends")
        return found[-1]

    def figures(self) -> FeedbackFigures | None:
        """Of the feedback of the server that sends; None while it begins."""
        return read_feedback(self.active()[1])

    def wait_state(self, *states: State, timeout_s: float = pair.TIMEOUT_S) -> None:
        """Until the active server's feedback is in one of these."""

        def there() -> bool:
            figures = self.figures()
            return figures is not None and figures.state in states

        self.pair.wait(there, f"the feedback to be {' or '.join(state.name for state in states)}", timeout_s)

    def wait_on(self, timeout_s: float = pair.TIMEOUT_S) -> None:
        """Until it is on."""
        self.wait_state(State.ON, timeout_s=timeout_s)

    def put(self, name: str, value: float) -> None:
        """Sets a parameter of the active server's feedback."""
        self.active()[1].put(f"{FEEDBACK}/{name}", value, timeout=TIMEOUT_S)

    def take_golden(self) -> None:
        """Wants the orbit that there is, as `ringmaster feedback golden current` does."""
        ws = self.active()[1]
        feedback = Feedback(ws, FEEDBACK, timeout_s=TIMEOUT_S)
        rows = feedback.need_matrix().rows
        mean, _ = current_orbit(ws, rows, rate_of(ws, rows), GOLDEN_S)
        feedback.put_array("golden", np.where(np.isfinite(mean), np.round(mean), 0.0))

    def rms_um(self, server: PairServer, first: int, last: int) -> dict[str, list[float]]:
        """RMS of the orbit over all BPMs, cycle by cycle, as this server has seen it between two turns."""
        ws = server.attached()
        if ws is None:
            raise ProgramFailed(f"server {server.name} is gone: {server.words}")
        stream = ws.streams[ORBIT]
        begin = -(-max(first, stream.oldest(16) or 0) // stream.period) * stream.period
        window = stream.read(begin, max(1, (last - begin) // stream.period))
        values = {plane: window.values(f"rms_{plane}") for plane in "xy"}
        return {plane: [float(value) for value in of if np.isfinite(value)] for plane, of in values.items()}

    def turn(self, server: PairServer) -> int:
        """Newest that this server's feedback has stepped."""
        ws = server.attached()
        return 0 if ws is None else ws.streams[ORBIT].head or 0

    def wait_turn(self, server: PairServer, turn: int) -> None:
        """Until this server's feedback has come so far."""
        self.pair.wait(lambda: self.turn(server) >= turn, f"turn {turn} of server {server.name}")


def reduced(server: Mapping[str, Any]) -> dict[str, Any]:
    """The demo's server without the tune and those instruments that send at each turn."""
    return {
        **server,
        "turn_rate_hz": TURN_RATE_HZ,
        "instruments": [one for one in server["instruments"] if one["name"] in INSTRUMENTS],
        "applications": [one for one in server["applications"] if one["name"] == FEEDBACK],
        "buffers": {"turn_records": 262144, "fast_records": 16384},
    }


def reduced_ring(ring: Mapping[str, Any]) -> dict[str, Any]:
    """The demo's ring with those alone."""
    machine = ring["machine"]
    moves = {name: one for name, one in machine["disturbances"].items() if name in DISTURBANCES}
    return {**ring, "max_lag_ms": LAG_MS, "machine": {**machine, "bpms": BPMS, "disturbances": moves}}


@contextmanager
def start(say: Callable[[str], None] = lambda _: None) -> Iterator[PairLoop]:
    """Starts both servers with their feedback, the links and the ring; waits until one sends and the other is READY."""
    say("a ring like Elettra 2.0 at a fiftieth of its rate, and two servers for it …")
    with prepare(ELETTRA2) as directory:
        make_slow(directory / ELETTRA2.feedback, SLOWER)
        config, overlay = write_files(directory)
        with pair.start(config, overlay) as running:
            loop = PairLoop(running)
            running.wait(lambda: running.active is not None, "a server that sends")
            loop.wait_state(State.READY, State.HOLD)
            active = running.wait_whole()
            say(f"server {active.name} sends, server {running.other(active).name} is {StandbyRole.READY.name}")
            yield loop


def write_files(directory: Path) -> tuple[Path, Path]:
    """The pair's files of the demo, in ``directory``."""
    from ringmaster.machine.server_file import read_yaml

    server, ring = (read_yaml(CONFIGS / name) for name in (ELETTRA2.server, ELETTRA2.overlay))
    return write_pair(directory, reduced(server), reduced_ring(ring), free_links(), TIMING)
