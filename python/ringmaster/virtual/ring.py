# SPDX-License-Identifier: Apache-2.0
"""A virtual ring and a server, side by side, on two cores of this machine."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from ringmaster.fabric.workspace import Workspace
from ringmaster.places import CONFIGS
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import release_workspace, scratch_folder

WORKSPACE = "demo"
OWNERS = ("server", "ring")
"""Who has segments in it as soon as it runs."""
FULL_TURN_RATE_HZ = 1_157_000.0
TRIAL_S = 1.5
KEEPS_UP = 0.95
"""A ring that sends this share of its turns in time keeps up: the rest is what a stall has left to be caught up."""
HEADROOM = 0.85
"""A lowered rate is this share of what the machine just showed."""
TRIALS = 5


@dataclass(frozen=True)
class Progress:
    """How far a ring and its server are at one time."""

    time_s: float
    turns: int
    """Of the instrument that sends most often: every turn."""
    sent: int
    """Datagrams."""
    received: int
    """Datagrams that reached the server."""


class VirtualRing:
    """A ring that sends and its server. Made by ``start``."""

    def __init__(self, server: Program, ring: Program, ws: Workspace, turn_rate_hz: float) -> None:
        self.server = server
        self.ring = ring
        self.ws = ws
        self.turn_rate_hz = turn_rate_hz
        while self.turns() == 0:
            self.check()
            sleep(0.01)
        self.begun = self.progress()

    def check(self) -> None:
        """Raises ProgramFailed when one of the two programs has ended."""
        self.server.check()
        self.ring.check()

    def attach(self) -> Workspace:
        """The workspace once more, for who closes what it was given: a console does."""
        return attach_to(self.ws.name, self.server, OWNERS)

    def turns(self) -> int:
        """Of the instrument that sends most often: every turn."""
        return self.progress().turns

    def progress(self) -> Progress:
        """What was sent and received until now."""
        blocks = self.ws.counter_blocks.values()
        senders = [block for block in blocks if block.set_name == "sender"]
        return Progress(
            time_s=monotonic(),
            turns=max((sender["turns"] for sender in senders), default=0),
            sent=sum(sender["sent"] for sender in senders),
            received=sum(block["received"] for block in blocks if block.set_name == "port"),
        )


def adapted(config: str, directory: Path, turn_rate_hz: float, core: int, naps: bool = False) -> Path:
    """A shipped configuration with this machine's cores, the rate, and a link of our own; the rest as it is.

    Where it ``naps``, it leaves its core to others while it has nothing to do (polling.naps of a server's file).
    """
    text = (CONFIGS / config).read_text()
    text = re.sub(r"\bcore: \d+", f"core: {core}", text)
    text = re.sub(r"\bsocket: [^,}\s]+", f"socket: {directory}/ring.sock", text)
    text = re.sub(r"^turn_rate_hz: .*$", f"turn_rate_hz: {turn_rate_hz:.0f}", text, flags=re.MULTILINE)
    text += "\npolling: {naps: true}\n" if naps else ""
    path = directory / config
    path.write_text(text)
    return path


@contextmanager
def start(turn_rate_hz: float, naps: bool = False) -> Iterator[VirtualRing]:
    """Starts the server, then the ring, and waits until the ring is seen; ends both on leaving.

    Where they nap, they leave their cores to others while they wait, and are not fit to be measured.
    """
    ring_core, server_core = cores()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(scratch_folder("demo")))
        server_config = adapted("demo.yaml", directory, turn_rate_hz, server_core, naps)
        overlay = adapted("demo-ring.yaml", directory, turn_rate_hz, ring_core)
        stack.callback(release_workspace, WORKSPACE)
        server = stack.enter_context(Program("ringmaster-server", "run", server_config))
        attach_to(WORKSPACE, server).close()
        ring = stack.enter_context(Program("ringmaster-instruments", "run", server_config, overlay))
        ws = stack.enter_context(attach_to(WORKSPACE, server, OWNERS))
        yield VirtualRing(server, ring, ws, turn_rate_hz)


def achieved_turn_rate_hz(ring: VirtualRing, seconds: float = TRIAL_S) -> float:
    """Turns per second that the ring really sends, over some time."""
    before, then = ring.turns(), monotonic()
    sleep(seconds)
    ring.check()
    return (ring.turns() - before) / (monotonic() - then)


def find_turn_rate() -> tuple[float, float]:
    """The turn rate to run at, and what the machine showed at the last trial; the full rate where it keeps up."""
    rate = FULL_TURN_RATE_HZ
    achieved = 0.0
    for _ in range(TRIALS):
        with start(rate) as ring:
            achieved = achieved_turn_rate_hz(ring)
        if achieved >= KEEPS_UP * rate:
            break
        rate = max(1000.0, round(HEADROOM * achieved, -3))
    return rate, achieved
