# SPDX-License-Identifier: Apache-2.0
"""A small machine with supplies, for tests: a ring of BPMs and chains of virtual supplies, a server, an application.

The supplies follow at once and say at every cycle where they are. So the readback streams are the whole truth: every
setpoint that ever reached a supply is a record of them, and a test looks at all of them.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from harness import RING_CORE, SERVER_CORE, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.fabric.counters import lost
from ringmaster.fabric.layout import ChainStatus
from ringmaster.fabric.stream import Stream
from ringmaster.programs.program import Program, attach_to

TURN_RATE_HZ = 100_000
"""So slow that a busy machine keeps up."""
PERIOD_TURNS = 100
CYCLE_S = PERIOD_TURNS / TURN_RATE_HZ
CHAINS = ("c01", "c02", "c03", "c04")
SUPPLIES = 4
"""In each chain."""
LIMIT_A = 10.0
SLEW_A_PER_S = 20.0
SLEW_A = SLEW_A_PER_S * CYCLE_S
"""In one cycle."""
ROUNDING_A: float = 2 * LIMIT_A * 2.0**-23
"""A setpoint on the wire is an f32."""
SAFE_A = 1.0
SAFE_SLEW_A_PER_S = 5.0
BPMS = ("bpm01", "bpm02")

Floats = npt.NDArray[np.float64]

REPEATS = int(os.environ.get("RINGMASTER_TORTURE", "0"))
"""`make torture` says how often a fault is made; 0: as often as a test can afford."""


def repeats(few: int) -> int:
    """How often to do it: a few times in a test, many in `make torture`."""
    return REPEATS or few


@dataclass
class Machine:
    """A server with its supplies and BPMs, running."""

    name: str
    config: Path
    running: Program
    ring: Program

    def start(self) -> None:
        """Another server of the same configuration, after the first one has ended."""
        self.end()
        self.running = server(self.config)

    def end(self) -> None:
        """Ends the server, if it has not ended."""
        self.running.__exit__(None, None, None)


def server_text(name: str, root: Path, stop: str, code: str) -> str:
    """The server's configuration."""
    bpms = "".join(
        f"  - {{name: {n}, kind: bpm, id: {i}, port: ring, source: 10.20.0.1}}\n" for i, n in enumerate(BPMS, 1)
    )
    return (
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\n"
        f"buffers: {{turn_records: 262144, fast_records: 16384}}\npolling: {{naps: true}}\n"
        f"ports:\n"
        f"  - {{name: ring, kind: memif, socket: {root}/{name}-ring.sock, role: server}}\n"
        f"  - {{name: supplies, kind: memif, socket: {root}/{name}-ps.sock, role: server, answer: 10.30.255.1}}\n"
        f"instruments:\n{bpms}"
        f"setpoints: {{period_turns: {PERIOD_TURNS}, phase_turns: 10, lost_cycles: 200}}\n"
        f"chains:\n  - name: c\n    count: {len(CHAINS)}\n    id: 1\n    port: supplies\n    address: 10.30.0.1\n"
        f"    supplies:\n      - name: ps/c{{chain}}_\n        count: {SUPPLIES}\n        unit: A\n"
        f"        limits: [{-LIMIT_A}, {LIMIT_A}]\n        slew: {SLEW_A_PER_S}\n        safe: {SAFE_A}\n"
        f"        safe_slew: {SAFE_SLEW_A_PER_S}\n        tolerance: 0.5\n"
        f'applications:\n  - name: mover\n    code: {code}\n    supplies: ["ps/c01_*"]\n    stop: {stop}\n'
        f"    freshness_turns: {20 * PERIOD_TURNS}\n    watchdog_cycles: 2\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [ring, supplies]}}\n"
        f"  - {{role: transmit, core: {SERVER_CORE}}}\n"
    )


def ring_text(faults: str = "") -> str:
    """The virtual ring's overlay. With faults the supplies stand at 2 A at first."""
    return (
        f"core: {RING_CORE}\nchains: [{{name: c, timeout_ms: 200, stop: hold}}]\n"
        f"supplies: [{{supplies: c, range: [-11, 11], initial: {2 if faults else 0}}}]\n"
        + (f"chain_faults:\n{faults}" if faults else "")
    )


@contextmanager
def machine(root: Path, word: str, stop: str = "hold", faults: str = "") -> Iterator[Machine]:
    """Starts it under a name with that word, waits until the chains have joined, and ends it."""
    name = unique_name(word)
    config, overlay = root / f"{name}.yaml", root / f"{name}-ring.yaml"
    config.write_text(server_text(name, root, stop, "ramp"))
    overlay.write_text(ring_text(faults))
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", config, overlay) as ring:
            with attach_to(name, running, ("server", "ring")) as ws:
                wait_for(lambda: joined(ws), lambda: f"the chains to join: {running.words} {ring.words}")
            made = Machine(name, config, running, ring)
            try:
                yield made
            finally:
                made.end()
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def joined(ws: Workspace) -> bool:
    """Whether all supplies have answered and take setpoints."""
    state = np.atleast_1d(np.asarray(ws.parameters["supply/state"].value))
    return not np.any(state & (8 | 16))


def readbacks(
    ws: Workspace, chain: str, first: int, last: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
    """Turns and currents (shape (records, supplies)) of a chain's answers from turn ``first`` to ``last``."""
    turn, currents, _ = answers(ws, chain, first, last)
    return turn, currents


def answers(ws: Workspace, chain: str, first: int, last: int) -> tuple[npt.NDArray[np.uint64], Floats, Floats]:
    """The same, and of each answer its term and the low 16 bits of its datagram's sequence; NaN of a query's answer."""
    stream: Stream = ws.streams[f"{chain}/raw"]
    begin = max(-(-first // PERIOD_TURNS) * PERIOD_TURNS, stream.oldest(16) or 0)
    window = stream.read(begin, max(0, (last - begin) // PERIOD_TURNS + 1))
    lanes = [lane.name for lane in stream.lanes[2 : 2 + SUPPLIES]]
    values = np.stack([window.values(lane) for lane in lanes], axis=1)
    lane = np.asarray(window.values(stream.lanes[0].name)[window.ok], np.int64) & 0xFFFFFFFF
    sequence = np.where(window.status[window.ok] & ChainStatus.QUERIED, np.nan, lane)
    return window.turn[window.ok], values[window.ok], sequence


def sent_between(sequence: Floats) -> Floats:
    """How many setpoints were sent from each answer to the next, of ``answers``; 0 where they do not tell."""
    same_term = np.diff(sequence // 0x10000) == 0
    low = (np.diff(sequence) + 0x8000) % 0x10000 - 0x8000
    return np.where(same_term, low, 0.0)


def head(ws: Workspace) -> int:
    """Newest turn that every chain has answered."""
    return min(ws.streams[f"{chain}/raw"].head or 0 for chain in CHAINS)


def assert_never_hurt(ws: Workspace, first: int) -> int:
    """From turn ``first`` on no supply left its limits, nor moved faster than its slew; returns the newest turn.

    On a starved host the turn clock may step back by some cycles, which are then sent twice, each in a time of its own.
    The sequence numbers that the answers on both sides carry prove it: between these two records, and nowhere else, so
    many setpoints were sent. The transmit role has counted each such step as a cycle that was skipped.
    """
    last = head(ws)
    for chain in CHAINS:
        turn, current, sequence = answers(ws, chain, first, last)
        assert len(turn) > 0, f"{chain} answered nothing from turn {first} to {last}"
        assert np.abs(current).max() <= LIMIT_A + ROUNDING_A
        cycles: Floats = np.diff(turn.astype(np.float64)) / PERIOD_TURNS
        sent = sent_between(sequence)
        assert np.count_nonzero(sent > cycles) <= ws.counters("transmit")["skipped"]
        cycles = np.maximum(cycles, sent)
        step: Floats = np.abs(np.diff(current, axis=0)).max(axis=1)
        beyond: Floats = step - cycles * SLEW_A
        assert not len(beyond) or beyond.max() <= ROUNDING_A, (
            f"{chain} went {step[np.argmax(beyond)]} A in {cycles[np.argmax(beyond)]} cycles before turn "
            f"{turn[1 + np.argmax(beyond)]}; {SLEW_A} A a cycle are allowed"
        )
    return last


def assert_nothing_was_lost(ws: Workspace) -> None:
    """Ingest went on through it all."""
    for bpm in BPMS:
        counted = ws.counters(f"stream/{bpm}")
        assert lost(counted) == 0, dict(counted)


def cycles_go_on(ws: Workspace, cycles: int = 50) -> int:
    """Waits until so many cycles were answered; returns the newest turn."""
    goal = head(ws) + cycles * PERIOD_TURNS
    wait_for(lambda: head(ws) >= goal, lambda: f"cycle {goal}, at {head(ws)}")
    return head(ws)
