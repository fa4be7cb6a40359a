# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench latency`: a square wave on one setpoint, seen back in the turns of a BPM.

Latency is from the commit of the row with the edge, by the application, to the arrival of the first BPM datagram that
shows more than half of the step. It has in it: the server's sending, the link, the supply, the wait for the turn that
the BPM samples at, the BPM's sending, the link back, and the server's receiving up to the time stamp.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ringmaster.bench import latency_run
from ringmaster.bench.latency_edges import PARTS, Figures, Step, parts_of, undisturbed
from ringmaster.bench.latency_run import Run
from ringmaster.bench.latency_setups import VARIANTS, Variant
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.windows import WHOLE_CORE
from ringmaster.programs.cores import cores
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import StallFloor, core_to_core_ns, stall_floor
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.published import SETPOINT_TO_BPM_US
from ringmaster.report.section import Quantiles, Section, Table
from ringmaster.report.verdicts import Conditions, Headline, as_json, conditions_of, number

TURN_RATE_HZ = 200_000.0
PUBLISHED = {"source": SETPOINT_TO_BPM_US}
"""By variant: with no supply in it there is nothing to hold it against."""
FLOOR_S = 0.5
UNDISTURBED = "undisturbed edges"


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    seconds: float = 10.0
    """Of each variant."""
    turn_rate_hz: float = TURN_RATE_HZ


@dataclass
class Report:
    """What was measured."""

    options: Options
    runs: list[Run] = field(default_factory=list)
    probes_ns: list[float] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def conditions(self) -> Conditions:
        """Of the machine."""
        return conditions_of(self.probes_ns, self.floors)

    @property
    def turn_us(self) -> float:
        """One turn."""
        return 1e6 / self.options.turn_rate_hz

    def headlines(self) -> list[Headline]:
        """Of each variant, in the order of what people ask first."""
        return [line for variant in VARIANTS for line in self._headlines(variant)]

    def _headlines(self, variant: Variant) -> list[Headline]:
        run = next((run for run in self.runs if run.variant == variant.name), None)
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

    def as_json(self) -> dict[str, object]:
        """The figures that stand for all, and the edges behind them."""
        return {
            **as_json(self.headlines()),
            "conditions": asdict(self.conditions),
            "interrupted": self.interrupted,
            "notes": self.notes,
            "options": asdict(self.options),
            "published_us": [SETPOINT_TO_BPM_US.value, SETPOINT_TO_BPM_US.to],
            "tables": {"latency": [self._as_json(run) for run in self.runs]},
        }

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

    def section(self) -> Section:
        """For people."""
        seen = {run.variant: run for run in self.runs if run.steps}
        options = self.options
        return Section(
            name="latency",
            title="From setpoint to BPM",
            about="A square wave on one setpoint, seen back in the data of a BPM: from the setpoint's commit to the "
            "arrival of the first datagram that shows half of its step, with a supply that follows at once and with "
            "one as a machine has it.",
            command=f"ringmaster bench latency --seconds {options.seconds:g} --turn-rate {options.turn_rate_hz:.10g}",
            headlines=self.headlines(),
            tables=[self._latencies(), self._shares()] if seen else [],
            charts=[Quantiles("Setpoint committed to BPM datagram arrived", "µs",
                              {name: _tail(run.steps) for name, run in seen.items()})] if seen else [],
            conditions=self.conditions,
            notes=self.notes,
            interrupted=self.interrupted,
            data={"options": asdict(options), "runs": [self._as_json(run) for run in self.runs]},
        )  # fmt: skip

    def _latencies(self) -> Table:
        head = ("supply", "edges", "", "least", "p1", "median", "p99", "most", "peak to peak", "published")
        rows = []
        for run in self.runs:
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
        for run in self.runs:
            if run.steps:
                times = (run.sent_ns["p50"], run.sent_ns["p99"], run.visible_ns["p50"], run.visible_ns["p99"])
                led = f"{run.led} of {int(run.sent_ns['count'])}"
                rows.append((run.variant, *(number(ns / 1e3) for ns in times), number(self.turn_us), led))
        return Table("Of that, in the server, µs", head, rows)


def arrivals(steps: Sequence[Step]) -> list[float]:
    """The latencies, µs."""
    return [step.arrival_us for step in steps]


def _tail(steps: Sequence[Step]) -> list[tuple[float, float]]:
    """Of each latency, the share of edges that took longer."""
    rising = sorted(arrivals(steps))
    return [(value, 1.0 - (i + 1) / len(rising)) for i, value in enumerate(rising)]


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


def _watch(variant: Variant, report: Report, log: Log, step: Callable[[], None]) -> None:
    """One variant; what there is of it is in the report also where it ends early."""
    options, done = report.options, 0
    kept: Run | None = None
    try:
        with closing(latency_run.measure(variant, options.seconds, options.turn_rate_hz)) as runs:
            for run in runs:
                if kept is None:
                    report.runs.append(run)
                kept = run
                while done < run.done * PARTS:
                    done += 1
                    step()
    except (NotMeasured, ProgramFailed) as error:
        log.note(f"{variant.name}: not measured: {error}")
    finally:
        if kept is not None:
            log.say(words(kept, report.turn_us))
            _note(kept, log)


def steps() -> int:
    """As often as measure() calls its `step`, at most."""
    return PARTS * len(VARIANTS)


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Report:
    """Measures both variants. An interrupt ends it early and in good order."""
    log = Log(say)
    report = Report(options, notes=log.notes)
    log.say("server and square wave on one core, the virtual ring on the other; the application is hosted and leads")
    try:
        _probe(report)
        for variant in VARIANTS:
            _watch(variant, report, log, step)
            _probe(report)
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    report.notes[:] = list(dict.fromkeys(report.notes))
    return report


def _probe(report: Report) -> None:
    if cores()[0] == cores()[1]:
        raise NotMeasured("latency: needs two cores, one for the server and one for the ring")
    report.floors.append(stall_floor(FLOOR_S, cores()))
    report.probes_ns.append(core_to_core_ns(*cores()))


def draw(report: Report, path: Path) -> None:
    """Writes the plot. Raises NotMeasured without matplotlib."""
    from ringmaster.bench.latency_plot import draw as draw_runs

    draw_runs(report.runs, report.turn_us, path)
