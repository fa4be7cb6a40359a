# SPDX-License-Identifier: Apache-2.0
"""The Elettra load: eight streams at 1.157 MHz and 96 BPMs at 10 kHz, held without loss for a while on two cores.

Before and after it testpmd receives the same instruments as fast as their sender goes. Where that is less than 1.3
times the load, the machine cannot show the load: the turn rate is lowered to what it can, and the figure says so.
"""

from dataclasses import dataclass

from ringmaster.bench.loads import Ring, elettra
from ringmaster.bench.log import Log
from ringmaster.bench.receivers import Received, has_testpmd, measure_window
from ringmaster.bench.setups import TURN_RATE_HZ
from ringmaster.bench.windows import RINGMASTER, TESTPMD
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import StallFloor, stall_floor

HEADROOM = 1.3
"""By which testpmd's adjacent rate must exceed the load."""
TRIES = 3
"""For an adjacent window in which both had their cores."""
IN_TIME = 0.999
"""A sender that sends this share of its turns keeps its pace: the rest is what a stall has left to be caught up."""


@dataclass(frozen=True)
class Held:
    """What came of the load."""

    seconds: float
    load_pps: float
    """As set: the full one, or what the machine can show."""
    full_load_pps: float
    turn_rate_hz: float
    """As set."""
    scaled: bool
    """Whether the turn rate was lowered."""
    rate_pps: float
    """As really sent and received."""
    in_time: bool
    """Whether the sender kept its pace."""
    lost: int
    """Sent but not received, lost, duplicate, late or refused."""
    faults: dict[str, int]
    """The same by counter."""
    held: bool
    """In time, and nothing lost."""
    testpmd_pps: tuple[float, ...]
    """Before and after."""
    headroom: float | None
    """The lower of them over the load."""
    distance: str
    """Class of the window: near, far or mixed."""
    busy_share: float
    busy_ns_per_packet: float
    latency_ns: dict[str, float] | None
    longest_sender_wait_us: float
    stall_floor: StallFloor
    """Of the same cores over the same time, just after: see conditions.StallFloor."""

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.load_pps / 1e6:.2f} Mpps for {self.seconds:.0f} s: {'held' if self.held else 'not held'}"


def turn_rate_for(testpmd_pps: float | None, packets_per_turn: float) -> float:
    """The turn rate that testpmd's adjacent rate exceeds by HEADROOM; the full one where it can, or without testpmd."""
    if testpmd_pps is None:
        return TURN_RATE_HZ
    return min(TURN_RATE_HZ, float(int(testpmd_pps / HEADROOM / packets_per_turn / 1000)) * 1000)


def _adjacent(load: Ring, seconds: float, tsc_hz: float, log: Log) -> Received | None:
    """A window of testpmd's; None without testpmd. The last of TRIES where none counts."""
    window = None
    for _ in range(TRIES if has_testpmd() else 0):
        window = measure_window(TESTPMD, load, 0.0, seconds, tsc_hz)
        log.say(window.words)
        if window.counts:
            break
    return window


def hold(load_seconds: float, seconds: float, tsc_hz: float, log: Log) -> Held:
    """Adjacent window, load, adjacent window, floor."""
    load = elettra()
    before = _adjacent(load, seconds, tsc_hz, log)
    turn_rate_hz = turn_rate_for(before.rate_pps if before else None, load.packets_per_turn)
    if turn_rate_hz < TURN_RATE_HZ and before is not None:
        log.note(
            f"Elettra load: testpmd takes {before.rate_pps / 1e6:.1f} Mpps of it just now, less than {HEADROOM} × "
            f"{TURN_RATE_HZ * load.packets_per_turn / 1e6:.1f} Mpps: lowered to {turn_rate_hz / 1e3:.0f} kHz turn rate"
        )
    window = measure_window(RINGMASTER, load, turn_rate_hz, load_seconds, tsc_hz)
    log.say(window.words)
    after = _adjacent(load, seconds, tsc_hz, log)
    log.say(f"stall floor of cores {cores()} for {load_seconds:.0f} s")
    floor = stall_floor(load_seconds, cores())
    held = held_of(load, turn_rate_hz, window, [w.rate_pps for w in (before, after) if w], floor)
    if held.headroom is not None and held.headroom < HEADROOM:
        log.note(f"Elettra load: the machine became slower meanwhile, testpmd's rate is {held.headroom:.2f} × the load")
    return held


def held_of(load: Ring, turn_rate_hz: float, window: Received, testpmd: list[float], floor: StallFloor) -> Held:
    """The row, from what was measured."""
    load_pps = turn_rate_hz * load.packets_per_turn
    in_time = window.turn_rate_hz >= IN_TIME * turn_rate_hz
    return Held(
        seconds=floor.seconds,
        load_pps=load_pps,
        full_load_pps=TURN_RATE_HZ * load.packets_per_turn,
        turn_rate_hz=turn_rate_hz,
        scaled=turn_rate_hz < TURN_RATE_HZ,
        rate_pps=window.rate_pps,
        in_time=in_time,
        lost=window.lost or 0,
        faults=window.faults or {},
        held=in_time and window.lost == 0,
        testpmd_pps=tuple(testpmd),
        headroom=min(testpmd) / load_pps if testpmd else None,
        distance=window.distance,
        busy_share=window.busy_share,
        busy_ns_per_packet=window.busy_ns_per_packet,
        latency_ns=window.latency_ns,
        longest_sender_wait_us=window.longest_wait_us,
        stall_floor=floor,
    )
