# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench latency`: a square wave on one setpoint, seen back in the turns of a BPM.

Latency is from the commit of the row with the edge, by the application, to the arrival of the first BPM datagram that
shows more than half of the step. It has in it: the server's sending, the link, the supply, the wait for the turn that
the BPM samples at, the BPM's sending, the link back, and the server's receiving up to the time stamp.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ringmaster.bench import latency_run
from ringmaster.bench.distribution import beyond, histogram
from ringmaster.bench.latency_edges import PARTS, Figures, Floats, Step, averaged, parts_of, undisturbed
from ringmaster.bench.latency_run import Run
from ringmaster.bench.latency_setups import VARIANTS, Variant
from ringmaster.bench.log import Log
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import SECONDS, Finite, option
from ringmaster.bench.windows import WHOLE_CORE
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.published import SETPOINT_TO_BPM_US
from ringmaster.report.section import Chart, Lines, Quantiles, Table
from ringmaster.report.verdicts import Headline, number

PUBLISHED = {"source": SETPOINT_TO_BPM_US}
"""By variant: with no supply in it there is nothing to hold it against."""
UNDISTURBED = "undisturbed edges"
SINGLES = 3
"""Edges that are drawn one by one; by lot, or they might all stand in step with the supply's regulation."""
FROM_US, TO_US = -40.0, 120.0


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    seconds: float = option(10.0, "Of each variant.", SECONDS)
    turn_rate_hz: float = option(
        200_000.0,
        "Turns of the ring in a second: the BPM tells each.",
        Finite(20_000, 2_000_000),
        flag="--turn-rate",
        metavar="HZ",
    )


class Latency(Measurement[Options, Run]):
    """Measure end to end: a square wave on one setpoint, seen back in the data of a BPM.

    From the commit of a setpoint to the arrival of the first BPM datagram that shows half of its step. Twice: with a
    supply that follows at once, which leaves what software and links add, and with one as a machine has it, beside the
    40–50 µs that were published. Starts a server, the application square_wave and a virtual ring of its own on two
    cores. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "latency", "From setpoint to BPM", Options
    examples = ("", "--seconds 60 --report out", "--json > latency.json")
    two_cores = "one for the server and one for the ring"
    about = (
        "A square wave on one setpoint, seen back in the data of a BPM: from the setpoint's commit to the arrival of "
        "the first datagram that shows half of its step, with a supply that follows at once and with one as a machine "
        "has it."
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.turn_us = 1e6 / options.turn_rate_hz

    @classmethod
    def rounds(cls, _options: Options) -> int:
        """One."""
        return 1

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Variants."""
        return [variant.name for variant in VARIANTS]

    @classmethod
    def steps(cls, _options: Options) -> int:
        """Steps for parts of each variant's time, too."""
        return (1 + PARTS) * len(VARIANTS)

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """Half of the time for each variant."""
        return Options(seconds=max(1.0, min(10.0, round(seconds / 2 - 3.0, 1))))

    def take(self, peer: str) -> Any:
        """One variant; what there is of it is kept also where it ends early."""
        options, done = self.options, 0
        variant = next(variant for variant in VARIANTS if variant.name == peer)
        kept: Run | None = None
        try:
            with closing(latency_run.measure(variant, options.seconds, options.turn_rate_hz)) as runs:
                for run in runs:
                    if kept is None:
                        self.rows.append(run)
                    kept = run
                    while done < run.done * PARTS:
                        done += 1
                        self.step()
        finally:
            if kept is not None:
                self.say(words(kept, self.turn_us))
                _note(kept, self)
        return []

    def headlines(self) -> list[Headline]:
        """Of each variant, in the order of what people ask first."""
        return [line for variant in VARIANTS for line in self._headlines(variant)]

    def _headlines(self, variant: Variant) -> list[Headline]:
        run = next((run for run in self.rows if run.variant == variant.name), None)
        steps = run.steps if run else []
        quiet = undisturbed(steps, self.turn_us)
        name = variant.name
        p99 = _of_parts(steps, lambda figures: figures.p99)
        jitter = _of_parts(quiet, lambda figures: figures.most_of_it)
        return [
            Headline(f"latency_us.{name}", of_values(arrivals(quiet), UNDISTURBED), "µs", about=variant.about),
            Headline(f"crossing_us.{name}", of_values(crossings(quiet), UNDISTURBED), "µs", about="half, by the line"),
            Headline(f"jitter_us.{name}", jitter, "µs", about="p1 to p99, undisturbed"),
            Headline(f"latency_all_us.{name}", of_values(arrivals(steps), "edges"), "µs", about="whatever happened"),
            Headline(f"latency_all_p99_us.{name}", p99, "µs", about="whatever happened"),
        ]

    def tables(self) -> list[Table]:
        """Latencies, and the server's share in them."""
        return [self._latencies(), self._shares()] if any(run.steps for run in self.rows) else []

    def charts(self) -> list[Chart]:
        """The tails of both variants; of each the step as setpoint and BPM show it, and how its latencies spread."""
        seen = [run for run in self.rows if run.steps]
        tails = {run.variant: beyond(np.array(arrivals(run.steps)), 0) for run in seen}
        made: list[Chart] = [Quantiles("Setpoint committed to BPM datagram arrived", "µs", tails)] if tails else []
        for run in seen:
            quiet = undisturbed(run.steps, self.turn_us) or run.steps
            made += [_drawn_step(run, quiet), _histogram(run, quiet)]
        return made

    def data(self) -> dict[str, object]:
        """Every edge."""
        published_us = [SETPOINT_TO_BPM_US.value, SETPOINT_TO_BPM_US.to]
        return {"published_us": published_us, "runs": [self._as_json(run) for run in self.rows]}

    def _as_json(self, run: Run) -> dict[str, Any]:
        quiet = undisturbed(run.steps, self.turn_us)
        return {
            **{name: value for name, value in vars(run).items() if name != "steps"},
            "all": _asdict(run.steps),
            "undisturbed": _asdict(quiet),
            "arrival_us": arrivals(run.steps),
            "crossing_us": crossings(run.steps),
            "uneven_us": [step.uneven_us for step in run.steps],
        }

    def _latencies(self) -> Table:
        head = ("supply", "edges", "", "least", "p1", "median", "p99", "most", "peak to peak", "published")
        rows = []
        for run in self.rows:
            for name, steps in (("all", run.steps), ("undisturbed", undisturbed(run.steps, self.turn_us))):
                if steps:
                    f = Figures.of(arrivals(steps))
                    published = PUBLISHED[run.variant].words if run.variant in PUBLISHED else "–"
                    cells = (number(value) for value in (f.least, f.p1, f.median, f.p99, f.most, f.peak_to_peak))
                    rows.append((run.variant, name, str(f.count), *cells, published))
        return Table(
            "Commit of the edge to the arrival of the first BPM datagram beyond half of the step, µs", head, rows
        )

    def _shares(self) -> Table:
        head = ("supply", "commit to sent p50", "p99", "arrival to visible p50", "p99", "one turn", "edges that led")
        rows = []
        for run in self.rows:
            if run.steps:
                times = (run.sent_ns["p50"], run.sent_ns["p99"], run.visible_ns["p50"], run.visible_ns["p99"])
                led = f"{run.led} of {int(run.sent_ns['count'])}"
                rows.append((run.variant, *(number(ns / 1e3) for ns in times), number(self.turn_us), led))
        return Table("Of that, in the server, µs", head, rows)


def arrivals(steps: Sequence[Step]) -> list[float]:
    """The latencies, µs."""
    return [step.arrival_us for step in steps]


def _drawn_step(run: Run, steps: Sequence[Step]) -> Lines:
    grid: Floats = np.arange(FROM_US, TO_US)
    chosen = np.random.default_rng(SINGLES).permutation(len(steps))[:SINGLES]
    shape = zip(grid.tolist(), averaged(steps, grid).tolist(), strict=True)
    series: dict[str, Sequence[tuple[float, float]]] = {
        "setpoint": [(FROM_US, 0.0), (0.0, 0.0), (0.0, 1.0), (TO_US, 1.0)],
        f"BPM, median of {len(steps)} edges": list(shape),
    }
    for number_of, one in enumerate(steps[int(i)] for i in chosen):
        points = zip(one.time_us.tolist(), one.shape.tolist(), strict=True)
        series[f"BPM, single edge {number_of + 1}"] = [(us, part) for us, part in points if FROM_US <= us <= TO_US]
    return Lines(f"{run.variant}: the step", "time since the setpoint's commit, µs", "share of the step", series)


def _histogram(run: Run, steps: Sequence[Step]) -> Lines:
    series = {
        "first BPM datagram beyond half of the step": histogram(np.array(arrivals(steps)), 0),
        "half of the step, between two turns": histogram(np.array(crossings(steps)), 0),
    }
    return Lines(f"{run.variant}: histogram", "time since the commit, µs", "share of the edges", series, True)


def crossings(steps: Sequence[Step]) -> list[float]:
    """When the steps were half, µs after their commits."""
    return [step.crossing_us for step in steps]


def _asdict(steps: Sequence[Step]) -> dict[str, float] | None:
    if not steps:
        return None
    figures = Figures.of(arrivals(steps))
    return asdict(figures) | {"peak_to_peak": figures.peak_to_peak, "p1_to_p99": figures.most_of_it}


def _of_parts(steps: Sequence[Step], figure: Callable[[Figures], float]) -> Figure | None:
    """Of consecutive parts of the run."""
    return of_values([figure(Figures.of(part)) for part in parts_of(arrivals(steps))], "parts of the run")


def _note(run: Run, log: Log) -> None:
    """Says what is missing, and what was not as it should be."""
    edges = len(run.steps) + run.unseen + sum(run.without_step.values())
    if run.unseen:
        log.note(f"{run.variant}: {run.unseen} of {edges} edges were gone before they could be looked at")
    for why, count in run.without_step.items():
        log.note(f"{run.variant}: no figure of {count} of {edges} edges: {why}")
    for what, count in run.faults.items():
        log.note(f"{run.variant}: {what}: {count}, of {run.cycles} cycles")
    for who, share in (("ring", run.ring_share), ("server", run.server_share)):
        if share < WHOLE_CORE:
            log.note(f"{run.variant}: the {who} had {share:.0%} of its core: others use this machine")
    if not run.steps:
        log.note(f"{run.variant}: not measured: no edge was found")


def words(run: Run, turn_us: float) -> str:
    """A variant on one line."""
    if not run.steps:
        return f"{run.variant}: nothing"
    f = Figures.of(arrivals(run.steps))
    quiet = len(undisturbed(run.steps, turn_us))
    return (
        f"{run.variant}: {f.count} edges, median {f.median:.2f} µs, p1 {f.p1:.2f}, p99 {f.p99:.2f}, most {f.most:.1f}; "
        f"{quiet} undisturbed"
    )
