# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench loop`: the orbit feedback closed on a living machine, for as long as it takes to believe it.

Ring and server have a core each, and must share them with all else that runs on the machine. A cycle is missed when it
has no step, or when an input was not there at its deadline. Before and after, a loop that only looks at the clock tells
how much of their time the cores are away for longer than a cycle can wait: nothing on them misses fewer.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.feedback.names import State
from ringmaster.programs.cores import cores
from ringmaster.programs.program import ProgramFailed
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import StallFloor, core_to_core_ns, run_times_ns, stall_floor
from ringmaster.report.headlines import Figure, exact, of_values
from ringmaster.report.section import Lines, Section, Table
from ringmaster.report.verdicts import Headline, conditions_of, number
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual import rate as virtual_rate
from ringmaster.virtual.loop import ELETTRA, ELETTRA2, Loop, Shipped
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ

RINGS: Mapping[str, Shipped] = {"elettra": ELETTRA, "elettra2": ELETTRA2}
LOADS = {
    "elettra": "96 BPMs at 10 kHz, eight electronics that send every turn, 164 correctors",
    "elettra2": "168 BPMs at 9.6 kHz, two electronics that send every turn, 528 correctors",
}
FLOOR_S = 5.0
"""Of each look at the stall floor; less where the loop is closed for less."""
WINDOW_S = 1.0
WAITS_S = 0.2e-3
"""So long a cycle can wait for its inputs, and a turn of the ring to be sent: two cycles, and `max_lag_ms`."""
OPEN_S = 3.0
WINDOWS = "seconds"


@dataclass(frozen=True)
class Options:
    """What to close, and for how long."""

    ring: str = "elettra"
    seconds: float = 60.0
    turn_rate_hz: float | None = None
    """None: as fast as this machine carries it, up to what the ring has."""


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


@dataclass
class Seen:
    """What there is of a run so far."""

    turn_rate_hz: float = 0.0
    seconds: list[Second] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    away: list[float] = field(default_factory=list)
    """Share of the time that either core was away for longer than WAITS_S, while nothing but a clock ran there."""
    probes_ns: list[float] = field(default_factory=list)
    waited: float = float("nan")
    """Share of the time that ring and server were ready to run and others had their cores."""
    lost: int | None = None
    motion_um: dict[str, dict[str, float]] = field(default_factory=dict)
    """By "open" and "closed", then by plane."""
    interrupted: bool = False


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return int(options.seconds / WINDOW_S)


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Closes the loop. Ctrl-C ends it early and in good order. Raises NotMeasured without two cores, or any figure."""
    if cores()[0] == cores()[1]:
        raise NotMeasured("loop: needs two cores, one for the ring and one for the server")
    log, seen = Log(say), Seen()
    shipped = RINGS[options.ring]
    floor_s = min(FLOOR_S, options.seconds)
    try:
        _look_at_floor(seen, floor_s)
        with virtual_loop.prepare(shipped) as directory:
            seen.turn_rate_hz = options.turn_rate_hz or _carried(directory, shipped, log)
            log.note(
                f"the model's delay: {virtual_rate.learn_delay(directory, seen.turn_rate_hz, shipped):.0f} µs more"
            )
            with virtual_loop.start(directory, seen.turn_rate_hz, shipped) as loop:
                _run(loop, options, seen, log, step)
        _look_at_floor(seen, floor_s)
    except KeyboardInterrupt:
        seen.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    except ProgramFailed as error:
        log.note(f"not measured further: {error}")
    if not seen.seconds and not seen.interrupted:
        raise NotMeasured("loop: " + "; ".join(log.notes))
    return section_of(options, seen, log)


def _carried(directory: Path, shipped: Shipped, log: Log) -> float:
    log.say("finding the turn rate …")
    rate, achieved = virtual_rate.find_turn_rate(directory, shipped)
    found = (
        f"turn rate: {rate / 1e3:.0f} of {FULL_TURN_RATE_HZ / 1e3:.0f} kHz; the last trial sent {achieved / 1e3:.0f}"
    )
    (log.say if rate == FULL_TURN_RATE_HZ else log.note)(found)
    return rate


def _look_at_floor(seen: Seen, seconds: float) -> None:
    with scratch_folder("bench") as directory:
        path = Path(directory) / "gaps"
        floor = stall_floor(seconds, cores(), path)
        rows = np.fromfile(path, dtype="<u8").reshape(-1, 3)
    seen.floors.append(floor)
    seen.away.append(away_share(rows, floor.tsc_hz))
    seen.probes_ns.append(core_to_core_ns(*cores()))


def away_share(rows: np.ndarray, tsc_hz: float) -> float:
    """Of rows as `ringmaster-stall-floor --gaps` writes them: the share of the time, 0–1, that a core was away for
    longer than WAITS_S. When both are, it counts once.
    """
    spans = [rows[rows[:, 0] == cpu][:, 1:].astype(np.int64) for cpu in np.unique(rows[:, 0])]
    begin, end = max(own[0, 0] for own in spans), min(own[0, 1] for own in spans)
    gaps = np.concatenate([own[1:] for own in spans])
    long = np.clip(gaps[gaps[:, 1] - gaps[:, 0] > WAITS_S * tsc_hz], begin, end)
    long = long[np.argsort(long[:, 0])]
    until = np.maximum.accumulate(long[:, 1])
    since = np.maximum(long[:, 0], np.concatenate([[begin], until])[:-1])
    return float(np.maximum(until - since, 0).sum() / (end - begin))


def _run(loop: Loop, options: Options, seen: Seen, log: Log, step: Callable[[], None]) -> None:
    virtual_loop.stable_rate_hz()
    loop.figures()
    loop.take_golden()
    loop.soften()
    sleep(OPEN_S)
    _note_motion(loop, seen, "open")
    figures = loop.close()
    if figures.mostly != State.ON:
        log.note(
            f"the loop is {figures.mostly.name.lower()}: {'; '.join(figures.missing) or 'the feedback gives no cause'}"
        )
    sleep(virtual_loop.SETTLES_S)
    begun, waited = monotonic(), _waited_ns(loop)
    before = _counts(loop)
    while monotonic() - begun < options.seconds:
        sleep(WINDOW_S)
        after = _counts(loop)
        seen.seconds.append(_second(loop, before, after, seen.turn_rate_hz))
        before = after
        seen.waited = (_waited_ns(loop) - waited) / (monotonic() - begun) / 2e9
        step()
    _note_motion(loop, seen, "closed")
    seen.lost = loop.never_came()


def _note_motion(loop: Loop, seen: Seen, when: str) -> None:
    motion = loop.motion()
    if motion is not None:
        seen.motion_um[when] = {plane: motion.rms_um(plane) for plane in "xy"}


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


def section_of(options: Options, seen: Seen, log: Log) -> Section:
    """All that there is to say of it."""
    return Section(
        name="loop",
        title="The loop, live",
        about=(
            f"{LOADS[options.ring]}: ring on one core, server with the feedback on the other, over memif. A cycle is "
            "missed when it has no step, or when an input was not there at its step's deadline, two cycles after the "
            "turn; the ring lets turns pass unsent after as long. Before and after, a loop that only looks at a clock "
            f"tells for which share of the time one of the two cores is away for more than {WAITS_S * 1e3:g} ms."
        ),
        command=f"ringmaster bench loop --ring {options.ring} --seconds {options.seconds:g}"
        + (f" --turn-rate {options.turn_rate_hz:.10g}" if options.turn_rate_hz else ""),
        headlines=_headlines(seen),
        tables=[_motions(seen)] if len(seen.motion_um) > 1 else [],
        charts=[_over_time(seen)] if seen.seconds else [],
        conditions=conditions_of(seen.probes_ns, seen.floors),
        notes=list(dict.fromkeys(log.notes)),
        interrupted=seen.interrupted,
        data={"options": asdict(options), "seen": asdict(seen)},
    )


def _of(seen: Seen, figure: Callable[[Second], float]) -> Figure | None:
    return of_values([figure(one) for one in seen.seconds], WINDOWS)


def _headlines(seen: Seen) -> list[Headline]:
    away = of_values(seen.away, "looks at the clock")
    waited = Figure(seen.waited, seen.waited, seen.waited, None, 1, "run") if seen.seconds else None
    return [
        Headline(
            "lost_records", exact(seen.lost, "run"), "", 0.5, about="sent by an instrument, and not in its stream"
        ),
        Headline("missed_share", _of(seen, lambda one: one.missed), "", about="of the cycles"),
        Headline("stall_floor_share", away, "", about="of the time: a core is away longer than a cycle waits"),
        Headline("waited_share", waited, "", about="of the time: others had the two cores"),
        Headline(
            "passed_share", _of(seen, lambda one: one.skipped_turns), "", about="of the turns, let pass by the ring"
        ),
        Headline("on_share", _of(seen, lambda one: one.on), "", about="of the cycles: the loop was on"),
        Headline("turn_rate_hz", exact(seen.turn_rate_hz, "run"), "Hz"),
    ]


def _motions(seen: Seen) -> Table:
    rows = []
    for plane in "xy":
        before, after = seen.motion_um["open"][plane], seen.motion_um["closed"][plane]
        rows.append((plane, number(before), number(after), f"{20 * np.log10(after / before):.1f}"))
    return Table("Motion of the orbit, µm rms over a second", ("plane", "open", "closed", "dB"), rows)


def _over_time(seen: Seen) -> Lines:
    points = list(enumerate(seen.seconds))
    return Lines(
        "Missed, second by second",
        "time, s",
        "share",
        {
            "cycles missed": [(float(i), one.missed) for i, one in points],
            "turns let pass by the ring": [(float(i), one.skipped_turns) for i, one in points],
            "stall floor": [(0.0, float(np.mean(seen.away))), (float(len(points)), float(np.mean(seen.away)))],
        },
        about="The stall floor is of the minutes before and after, not of the same second.",
    )
