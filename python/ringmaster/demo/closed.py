# SPDX-License-Identifier: Apache-2.0
"""What the demonstration's loop came to, and what of it is wrong."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import monotonic

from ringmaster.demo.tune import DemoTune, find_tune_and_ripple
from ringmaster.feedback.names import State
from ringmaster.monitor.feedback import Motion, decibel
from ringmaster.virtual.loop import SETTLES_S, Loop
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ

MAINS_HZ = 50.0

WHOLE = 0.97
"""Share of the cycles below which figures of a loop in real time are the host's."""


@dataclass(frozen=True)
class Closed:
    """What the loop came to; the JSON has these names under "feedback"."""

    simulated_time: bool
    """The ring waited for the loop: no cycle was missed, and time was not real."""
    real_time_ratio: float
    """Seconds of the ring per second of the clock."""
    whole_share: float
    """Of the cycles that the ring's time had: those in which the feedback had all its inputs."""
    turn_rate_hz: float
    full_turn_rate_hz: float
    cycle_hz: float
    bpms: int
    """Readings in use, of both planes."""
    actuators: int
    state: str
    why: str
    """Why it is not on; empty where it is."""
    orbit_rms_um_open: dict[str, float]
    """Of the whole orbit, what stands still too, over all readings in use."""
    orbit_rms_um_closed: dict[str, float]
    motion_rms_um_open: dict[str, float]
    """Of its motion alone, from 1 Hz on, over some BPMs."""
    motion_rms_um_closed: dict[str, float]
    mains_50_hz_um_open: dict[str, float]
    """Amplitude of the line at 50 Hz."""
    mains_50_hz_um_closed: dict[str, float]
    attenuation_50_hz_db: dict[str, float]
    steps: int
    """Cycles of the feedback."""
    skipped: int
    """Cycles that passed without a step, because the machine did something else."""
    late: int
    """Steps in which an input was missing."""
    lost: int
    """Records of the instruments: what they sent and the server never got, or could not use."""
    skipped_turns: int
    """That the ring let pass unsent, because others had its core: nobody lost them."""
    cycles: int
    """Of setpoints, that went out."""
    cycles_skipped: int
    """That did not: a server that comes a whole cycle too late sends none, so that supplies get no two steps at once.
    Their turns have no answer either, which is no loss."""
    unanswered: int
    """Datagrams to chains that no answer came to in time."""
    refused: int
    """Setpoint vectors that the guard did not take."""
    seconds: float
    """Of the clock."""
    tune: DemoTune | None = None
    """None where nothing measures it."""

    @property
    def host_was_late(self) -> bool:
        """The host took so much time away that cycles of a loop in real time were missed: its figures say little."""
        return not self.simulated_time and self.whole_share < WHOLE

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words; empty when nothing is. What a late host does to a loop is no fault of it."""
        wrong = [f"{self.lost} records of instruments lost"] if self.lost else []
        return wrong if self.host_was_late else wrong + self._loop_faults() + (self.tune.faults if self.tune else [])

    def _loop_faults(self) -> list[str]:
        wrong = (
            [] if self.state == "on" else [f"the loop is {self.state}, not on: {self.why or 'the reason is not known'}"]
        )
        for plane, less in self.attenuation_50_hz_db.items():
            if not less > 0:
                wrong.append(f"the loop does not attenuate 50 Hz in {plane}: {less:.1f} dB")
        return wrong

    def as_json(self) -> dict[str, object]:
        """Plain dictionaries and numbers."""
        return asdict(self)


def measure(loop: Loop, open_s: float, closed_s: float) -> Closed:
    """Leaves it open for some seconds, closes it for some, and compares. Call it once; golden is taken."""
    loop.put("loop", 0.0)
    begin, turns, whole = monotonic(), loop.turns(), loop.whole_cycles()
    loop.pass_time(max(open_s, loop.span_s() + 0.5), loop.span_s() + 0.5)
    open_motion, open_rms = loop.motion(), loop.orbit_rms_um()
    loop.close()
    loop.pass_time(max(closed_s, loop.span_s() + SETTLES_S), loop.span_s() + SETTLES_S)
    closed_motion, closed_rms = loop.motion(), loop.orbit_rms_um()
    whole = loop.whole_cycles() - whole  # before the time that it is a share of: that goes on
    seconds = monotonic() - begin
    ring_s = (loop.turns() - turns) / loop.turn_rate_hz
    share = whole / loop.cycle_hz() / (ring_s if loop.simulated else seconds)
    return _compared(loop, (open_motion, closed_motion), (open_rms, closed_rms), (seconds, ring_s / seconds, share))


def _compared(
    loop: Loop,
    motions: tuple[Motion | None, Motion | None],
    rms: tuple[dict[str, float], dict[str, float]],
    times: tuple[float, float, float],
) -> Closed:
    figures = loop.settled()
    blocks = loop.ws.counter_blocks
    host, transmit = blocks[f"application/{figures.name}"], blocks["transmit"]
    chains = {chain for chain in blocks if chain.startswith("chain/")}
    lines = [_of_planes(motion, lambda one, plane: one.line_um(plane, MAINS_HZ)) for motion in motions]
    moving = [_of_planes(motion, lambda one, plane: one.rms_um(plane)) for motion in motions]
    return Closed(
        simulated_time=loop.simulated,
        real_time_ratio=times[1],
        whole_share=times[2],
        turn_rate_hz=loop.turn_rate_hz,
        full_turn_rate_hz=FULL_TURN_RATE_HZ,
        cycle_hz=loop.cycle_hz(),
        bpms=figures.rows_used,
        actuators=figures.actuators - len(figures.actuators_out),
        state=figures.mostly.name.lower(),
        why="" if figures.mostly == State.ON else "; ".join(figures.missing or figures.cause),
        orbit_rms_um_open=rms[0],
        orbit_rms_um_closed=rms[1],
        motion_rms_um_open=moving[0],
        motion_rms_um_closed=moving[1],
        mains_50_hz_um_open=lines[0],
        mains_50_hz_um_closed=lines[1],
        attenuation_50_hz_db={plane: decibel(lines[0][plane], lines[1][plane]) for plane in "xy"},
        steps=host["steps"],
        skipped=host["skipped"],
        late=host["late"],
        lost=loop.lost(),
        skipped_turns=max(block["skipped_turns"] for block in blocks.values() if block.set_name == "sender"),
        cycles=transmit["cycles"],
        cycles_skipped=transmit["skipped"],
        unanswered=sum(blocks[chain]["unanswered"] for chain in chains),
        refused=sum(value for what, value in blocks[f"guard/{figures.name}"].items() if what.startswith("refused_")),
        seconds=times[0],
        tune=find_tune_and_ripple(loop.ws),
    )


def _of_planes(motion: Motion | None, figure: Callable[[Motion, str], float]) -> dict[str, float]:
    return {plane: float("nan") if motion is None else figure(motion, plane) for plane in "xy"}
