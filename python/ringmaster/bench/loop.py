# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench loop`: the orbit feedback closed on a living machine, for as long as it takes to believe it.

Ring and server have a core each, and must share them with all else that runs on the machine. A cycle is missed when it
has no step, or when an input was not there at its deadline. Before and after, a loop that only looks at the clock tells
how much of their time the cores are away for longer than a cycle can wait: nothing on them misses fewer.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import click
import numpy as np

from ringmaster.bench import bare_clock
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import Finite, option
from ringmaster.feedback.names import State
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import run_times_ns
from ringmaster.report.headlines import Figure, exact, of_values
from ringmaster.report.section import Chart, Lines, Table
from ringmaster.report.verdicts import Headline, number
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual import rate as virtual_rate
from ringmaster.virtual.loop import ELETTRA, ELETTRA2, Loop, Shipped
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ

RINGS: Mapping[str, Shipped] = {"elettra": ELETTRA, "elettra2": replace(ELETTRA2, tune_runs=False)}
LOADS = {
    "elettra": "96 BPMs at 10 kHz, eight electronics that send every turn, 164 correctors",
    "elettra2": "168 BPMs at 9.6 kHz, two electronics that send every turn, 528 correctors",
}
LONG_FLOOR_S = 5.0
"""Of each look at the stall floor; less where the loop is closed for less."""
WINDOW_S = 1.0
WAITS_S = 0.2e-3
"""So long a cycle can wait for its inputs, and a turn of the ring to be sent: two cycles, and `max_lag_ms`."""
OPEN_S = 3.0
STARTS_S = 40.0
"""Of a run, besides the closed loop."""


@dataclass(frozen=True)
class Options:
    """What to close, and for how long."""

    ring: str = option(
        "elettra",
        "elettra: 96 BPMs, 164 correctors, eight electronics that send every turn; elettra2: 168, 528 and two.",
        click.Choice(tuple(RINGS)),
    )
    seconds: float = option(60.0, "With the loop closed.", Finite(1))
    turn_rate_hz: float | None = option(
        None,
        "Send at this rate instead of the highest that is carried.",
        Finite(10_000, 2_000_000),
        flag="--turn-rate",
        metavar="HZ",
    )


@dataclass(frozen=True)
class Second:
    """What was counted in one window."""

    cycles: float
    """That there were, by the turn clock."""
    late: int
    skipped: int
    skipped_turns: float
    """Share of the turns that the ring let pass, because it was away."""
    unsent: int
    """Cycles of setpoints that did not go out."""
    on: float
    """Share of its last cycles."""

    @property
    def missed(self) -> float:
        """Share of the cycles."""
        return (self.late + self.skipped) / self.cycles

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.missed:.2%} of {self.cycles:.0f} cycles missed, on in {self.on:.0%}"


class ClosedLoop(Measurement[Options, Second]):
    """Close the orbit feedback on a living machine, and count the cycles that it missed.

    Beside that stands what no program on these cores can help: how much of their time they are away for longer than a
    cycle waits, while nothing but a clock runs on them. Starts a server, its feedback and a virtual ring of its own on
    two cores. Ctrl-C prints what was measured so far.
    """

    name, title, options_type, given_up, repeated = "loop", "The loop, live", Options, 1, "seconds"
    examples = ("", "--ring elettra2 --seconds 20 --json > loop.json", "--turn-rate 800000 --report out")
    two_cores = "one for the ring and one for the server"

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.turn_rate_hz = options.turn_rate_hz or 0.0
        self.away: list[float] = []
        """Share of the time that either core was away for longer than WAITS_S, while but a clock ran there."""
        self.waited = float("nan")
        """Share of the time that ring and server were ready to run and others had their cores."""
        self.lost: int | None = None
        self.motion_um: dict[str, dict[str, float]] = {}
        """By "open" and "closed", then by plane."""

    @classmethod
    def rounds(cls, options: Options) -> int:
        """Windows."""
        return int(options.seconds / WINDOW_S)

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """Programs start, the rate is found, and the stall floor is looked at twice."""
        return Options(seconds=max(5.0, min(60.0, round(seconds - STARTS_S))))

    @property
    def about(self) -> str:  # type: ignore[override]
        """Which ring, and when a cycle is missed."""
        return (
            f"{LOADS[self.options.ring]}: ring on one core, server with the feedback on the other, over memif. A cycle "
            "is missed when it has no step, or when an input was not there at its step's deadline, two cycles after "
            "the turn; the ring lets turns pass unsent after as long. Before and after, a loop that only looks at a "
            f"clock tells for which share of the time one of the two cores is away for more than {WAITS_S * 1e3:g} ms."
        )

    def measure(self) -> None:
        """What fails ends it, with what there is."""
        try:
            super().measure()
        except ProgramFailed as error:
            self.note(f"not measured further: {error}")

    @contextmanager
    def around(self) -> Iterator[None]:
        """Closes the loop, between two looks at the machine."""
        shipped = RINGS[self.options.ring]
        self._look_at_floor()
        with virtual_loop.prepare(shipped) as directory:
            self.turn_rate_hz = self.turn_rate_hz or self._carried(directory, shipped)
            delay_us = virtual_rate.learn_delay(directory, self.turn_rate_hz, shipped)
            self.note(f"the model's delay: {delay_us:.0f} µs more")
            with virtual_loop.start(directory, self.turn_rate_hz, shipped) as self.loop:
                self._close(self.loop)
                yield
                self._note_motion(self.loop, "closed")
                self.lost = self.loop.lost()
        self._look_at_floor()

    def _carried(self, directory: Path, shipped: Shipped) -> float:
        self.say("finding the turn rate …")
        rate, achieved = virtual_rate.find_turn_rate(directory, shipped)
        full = FULL_TURN_RATE_HZ
        found = f"turn rate: {rate / 1e3:.0f} of {full / 1e3:.0f} kHz; the last trial sent {achieved / 1e3:.0f}"
        (self.say if rate == full else self.note)(found)
        return rate

    def _look_at_floor(self) -> None:
        bare = bare_clock.look(min(LONG_FLOOR_S, self.options.seconds), self.on())
        self.floors.append(bare.floor)
        self.away.append(bare.away_share(WAITS_S))
        self.probe_distance()

    def _close(self, loop: Loop) -> None:
        virtual_loop.stable_rate_hz()
        loop.figures()
        loop.take_golden()
        loop.soften()
        sleep(OPEN_S)
        self._note_motion(loop, "open")
        figures = loop.close()
        if figures.mostly != State.ON:
            missing = "; ".join(figures.missing) or "the feedback gives no cause"
            self.note(f"the loop is {figures.mostly.name.lower()}: {missing}")
        sleep(virtual_loop.SETTLES_S)
        self._begun, self._waited = monotonic(), _waited_ns(loop)
        self._before = _counts(loop)

    def take(self, _peer: str) -> Second:
        """The next second."""
        sleep(WINDOW_S)
        before, self._before = self._before, _counts(self.loop)
        self.waited = (_waited_ns(self.loop) - self._waited) / (monotonic() - self._begun) / 2e9
        return _second(self.loop, before, self._before, self.turn_rate_hz)

    def _note_motion(self, loop: Loop, when: str) -> None:
        motion = loop.motion()
        if motion is not None:
            self.motion_um[when] = {plane: motion.rms_um(plane) for plane in "xy"}

    def headlines(self) -> list[Headline]:
        """What was lost and missed; none of a loop that was never closed."""
        away = of_values(self.away, "looks at the clock") if self.rows else None
        waited = Figure(self.waited, self.waited, self.waited, None, 1, "run") if self.rows else None
        rate_hz = exact(self.turn_rate_hz, "run") if self.rows else None
        return [
            Headline("lost_records", exact(self.lost, "run"), "", 0.5, about="missing in an instrument's stream"),
            Headline("missed_share", self.figure(lambda one: one.missed), "", about="of the cycles"),
            Headline("stall_floor_share", away, "", about="of the time: a core is away longer than a cycle waits"),
            Headline("waited_share", waited, "", about="of the time: others had the two cores"),
            Headline("passed_share", self.figure(lambda one: one.skipped_turns), "",
                     about="of the turns, let pass by the ring"),
            Headline("on_share", self.figure(lambda one: one.on), "", about="of the cycles: the loop was on"),
            Headline("turn_rate_hz", rate_hz, "Hz"),
        ]  # fmt: skip

    def tables(self) -> list[Table]:
        """How much the orbit moved."""
        if len(self.motion_um) < 2:
            return []
        rows = []
        for plane in "xy":
            before, after = self.motion_um["open"][plane], self.motion_um["closed"][plane]
            rows.append((plane, number(before), number(after), f"{20 * np.log10(after / before):.1f}"))
        return [Table("Motion of the orbit, µm rms over a second", ("plane", "open", "closed", "dB"), rows)]

    def charts(self) -> list[Chart]:
        """Missed over time."""
        if not self.rows:
            return []
        points, away = list(enumerate(self.rows)), float(np.mean(self.away))
        series = {
            "cycles missed": [(float(i), one.missed) for i, one in points],
            "turns let pass by the ring": [(float(i), one.skipped_turns) for i, one in points],
            "stall floor": [(0.0, away), (float(len(points)), away)],
        }
        about = "The stall floor is of the minutes before and after, not of the same second."
        return [Lines("Missed, second by second", "time, s", "share", series, about=about)]

    def data(self) -> dict[str, object]:
        """Every second."""
        names = ("turn_rate_hz", "away", "waited", "lost", "motion_um")
        seen = {name: getattr(self, name) for name in names}
        return {"seen": {**seen, "seconds": [asdict(one) for one in self.rows]}}


def _waited_ns(loop: Loop) -> int:
    """Of the busiest thread of each: time in which it could have run, and another did."""
    waited = 0
    for pid in (loop.server.pid, loop.ring.pid):
        times = run_times_ns(pid)
        busiest = max(times, key=lambda task: times[task])
        waited += int(Path(f"/proc/{pid}/task/{busiest}/schedstat").read_text().split()[1])
    return waited


@dataclass(frozen=True)
class _Counts:
    at_s: float
    late: int
    skipped: int
    skipped_turns: int
    unsent: int


def _counts(loop: Loop) -> _Counts:
    loop.check()
    blocks = loop.ws.counter_blocks
    host = blocks[f"application/{loop.figures().name}"]
    passed = max(block["skipped_turns"] for block in blocks.values() if block.set_name == "sender")
    return _Counts(monotonic(), host["late"], host["skipped"], passed, blocks["transmit"]["skipped"])


def _second(loop: Loop, before: _Counts, after: _Counts, turn_rate_hz: float) -> Second:
    figures = loop.figures()
    turns = (after.at_s - before.at_s) * turn_rate_hz
    return Second(
        cycles=turns / loop.ws.streams[f"{figures.name}/orbit"].period,
        late=after.late - before.late,
        skipped=after.skipped - before.skipped,
        skipped_turns=(after.skipped_turns - before.skipped_turns) / turns,
        unsent=after.unsent - before.unsent,
        on=figures.lately.get(State.ON, 0.0),
    )
