# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench feedback`: from the last BPM seen to the setpoint vector, beside OpenBLAS sgemv.

The feedback itself in its host, on one core, while a thread on the other writes the records of its BPMs
(bench/feedback_latency.c): from the host's stamp of seeing the last record to that of the row's commit. And its
arithmetic alone (bench/feedback_cost.c): rows in other orders, the last one timed with the end of the product, then all
that is done between cycles; by turns in the same run sgemv and our product as a whole. Beside each a loop that only
looks at the clock for as long as the last answer took. Windows follow each other; the worst of all cycles stands
beside the worst of all of that loop's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.openblas import Kernels, fastest
from ringmaster.bench.printed import printed
from ringmaster.places import find_library, find_program
from ringmaster.programs.cores import cores
from ringmaster.report import published
from ringmaster.report.conditions import StallFloor, core_to_core_ns, stall_floor
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Section, Table
from ringmaster.report.verdicts import Conditions, Headline, as_json, conditions_of, number

PROGRAM, HOST_PROGRAM = "ringmaster-feedback-cost", "ringmaster-feedback-latency"
LATENCY, FLOOR = "last_bpm_to_setpoint_ns", "stall_floor_ns"
ANSWER, SGEMV, WHOLE = "answer_ns", "sgemv_ns", "whole_product_ns"
BETWEEN = ("errors_ns", "controllers_ns", "ahead_ns")
TARGETS = {"264x168": 200.0, "528x336": 500.0}
"""Nanoseconds, median."""
FLOOR_S = 0.5
KERNEL_CYCLES = 2000
"""To try each kernel of OpenBLAS."""
START_S, MOST_NS_PER_CYCLE = 120.0, 1e6
WINDOWS = "windows"


@dataclass(frozen=True)
class Options:
    """How much of it."""

    cycles: int = 1_000_000
    """Of each size, over all windows; in the host, and of the arithmetic alone."""
    windows: int = 10


@dataclass(frozen=True)
class Times:
    """Nanoseconds, of so many."""

    median: float
    p99: float
    max: float
    count: int


@dataclass(frozen=True)
class Window:
    """All of it once: by size, and by what was timed."""

    simd: str
    sizes: Mapping[str, Mapping[str, Times]]
    host: Mapping[str, Mapping[str, Times]] = field(default_factory=dict)
    """LATENCY and FLOOR, by size, of the feedback in its host; without those that were not measured."""


def window_of(words: str) -> Window:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    try:
        said = json.loads(words)
        sizes = {size: {what: Times(**times) for what, times in timed.items()} for size, timed in said["sizes"].items()}
        return Window(said["simd"], sizes)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotMeasured(f"{PROGRAM} printed no figures: {error!r}") from error


def host_times_of(words: str) -> dict[str, Times]:
    """From the JSON of the program that runs the host. Raises NotMeasured where it is none of its kind."""
    try:
        said = json.loads(words)
        return {what: Times(**said[what]) for what in (LATENCY, FLOOR)}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotMeasured(f"{HOST_PROGRAM} printed no figures: {error!r}") from error


@dataclass
class Report:
    """What was measured."""

    options: Options
    windows: list[Window] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    probes_ns: list[float] = field(default_factory=list)
    """Round trips of a cache line between the two cores, before and after."""
    kernels: Kernels = field(default_factory=lambda: Kernels({}))
    """Of OpenBLAS, that were tried."""
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def sizes(self) -> list[str]:
        """That were measured."""
        return list(self.windows[0].sizes) if self.windows else list(TARGETS)

    def values(self, size: str, what: str, of: str, *, host: bool = False) -> list[float]:
        """Of each window: of the arithmetic, or of the feedback in its host."""
        timed = [window.host.get(size) if host else window.sizes[size] for window in self.windows]
        return [getattr(times[what], of) for times in timed if times is not None]

    def figure(self, size: str, what: str, of: str = "median", *, host: bool = False) -> Figure | None:
        """Of the windows' medians, or 99th percentiles."""
        return of_values(self.values(size, what, of, host=host), WINDOWS)

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        about = "last BPM seen to the vector committed"
        return [
            *(Headline(f"latency_{size}_ns", self.figure(size, LATENCY, host=True), "ns", target, about=about)
              for size, target in TARGETS.items()),
            *(Headline(f"latency_{size}_p99_ns", self.figure(size, LATENCY, "p99", host=True), "ns")
              for size in TARGETS),
            *(Headline(f"answer_{size}_ns", self.figure(size, ANSWER), "ns", about="its arithmetic alone")
              for size in self.sizes),
            *(Headline(f"sgemv_{size}_ns", self.figure(size, SGEMV), "ns", about="OpenBLAS, the same size, whole")
              for size in self.sizes),
            *(Headline(f"whole_{size}_ns", self.figure(size, WHOLE), "ns", about="our product whole, at once")
              for size in self.sizes),
            *(Headline(f"controllers_{size}_ns", self.figure(size, "controllers_ns"), "ns", about="13 resonators each")
              for size in self.sizes),
        ]  # fmt: skip

    def summary(self, size: str, what: str, *, host: bool = False) -> dict[str, float | None]:
        """Median and 99th percentile of the windows, and the worst of all cycles."""
        middle = {of: self.values(size, what, of, host=host) for of in ("median", "p99")}
        worst = max(self.values(size, what, "max", host=host), default=None)
        return {**{of: median(values) if values else None for of, values in middle.items()}, "max": worst}

    def as_json(self) -> dict[str, object]:
        """The figures that stand for all, and the windows behind them."""
        floors = [worst for size in TARGETS for worst in self.values(size, FLOOR, "max", host=True)]
        return {
            **as_json(self.headlines()),
            LATENCY: {size: self.summary(size, LATENCY, host=True) for size in TARGETS},
            FLOOR: max(floors, default=None),
            ANSWER: {size: self.summary(size, ANSWER) for size in self.sizes},
            SGEMV: {size: self.summary(size, SGEMV)["median"] for size in self.sizes},
            "cycles": {size: sum(window.host[size][LATENCY].count for window in self.windows if size in window.host)
                       for size in TARGETS},
            "conditions": asdict(self.conditions),
            "interrupted": self.interrupted,
            "openblas_kernels_ns": dict(self.kernels.times_ns),
            "notes": self.notes,
            "options": asdict(self.options),
            "tables": {"windows": [asdict(window) for window in self.windows]},
        }  # fmt: skip

    @property
    def conditions(self) -> Conditions:
        """Of the machine."""
        return conditions_of(self.probes_ns, self.floors)

    def section(self) -> Section:
        """For people."""
        return Section(
            name="feedback",
            title="Orbit feedback",
            about="From the last BPM seen to the setpoint vector: the feedback in its host, and its arithmetic alone "
            "beside OpenBLAS sgemv of the same sizes, by turns.",
            command=f"ringmaster bench feedback --cycles {self.options.cycles} --windows {self.options.windows}",
            headlines=self.headlines(),
            tables=[_worst(self), _between(self), published.table("Published", [published.MATRIX_US])]
            if self.windows
            else [],
            conditions=self.conditions,
            notes=self.notes,
            interrupted=self.interrupted,
            data={"options": asdict(self.options), "windows": [asdict(window) for window in self.windows]},
        )


def _shown(value: float | None) -> str:
    return "" if value is None else number(value)


def _worst(report: Report) -> Table:
    rows = []
    for host, what, sizes in ((True, LATENCY, list(TARGETS)), (False, ANSWER, report.sizes)):
        for size in sizes:
            answer = report.summary(size, what, host=host)
            floor = report.summary(size, FLOOR, host=host)
            name = f"{size}, in its host" if host else f"{size}, arithmetic alone"
            rows.append((name, *map(_shown, (*answer.values(), floor["p99"], floor["max"]))))
    head = ("outputs × rows", "median", "p99", "worst", "bare clock p99", "bare clock worst")
    return Table("From the last BPM to the row, ns; beside it by how much a loop on the clock was late", head, rows)


def _between(report: Report) -> Table:
    rows = [(size, *(_shown(report.summary(size, what)["median"]) for what in BETWEEN)) for size in report.sizes]
    head = ("outputs × rows", "errors of channels", "controllers", "their part of the next row")
    return Table("Between cycles, per mode, ns", head, rows)


def _run(program: str, cycles: int, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    limit_s = START_S + cycles * MOST_NS_PER_CYCLE * 1e-9
    return printed(program, [find_program(program), *arguments], limit_s, environment=environment)


def _arithmetic(cycles: int, core: int, environment: Mapping[str, str]) -> Window:
    return window_of(_run(PROGRAM, cycles, str(cycles), str(core), environment=environment))


def _kernels(core: int) -> Kernels:
    """Of OpenBLAS, by the sum of sgemv's medians over the sizes."""
    return fastest(
        lambda environment: sum(
            times[SGEMV].median for times in _arithmetic(KERNEL_CYCLES, core, environment).sizes.values()
        )
    )


def _in_host(size: str, cycles: int, here: Sequence[int]) -> dict[str, Times]:
    if here[0] == here[-1]:
        raise NotMeasured(f"{HOST_PROGRAM} needs two cores")
    code = find_library("feedback.so")
    return host_times_of(_run(HOST_PROGRAM, cycles, size, str(cycles), code, str(here[-1]), str(here[0])))


def _window(cycles: int, here: Sequence[int], kernels: Kernels, log: Log) -> Window:
    window = _arithmetic(cycles, here[-1], kernels.environment)
    host = {}
    for size in TARGETS:
        try:
            host[size] = _in_host(size, cycles, here)
        except NotMeasured as error:
            log.note(f"not measured: {error}")
    return replace(window, host=host)


def _probe(report: Report, here: Sequence[int]) -> None:
    report.floors.append(stall_floor(FLOOR_S, here))
    report.probes_ns.append(core_to_core_ns(here[0], here[-1]))


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Report:
    """Measures it. An interrupt ends it early and in good order."""
    log = Log(say)
    report = Report(options, notes=log.notes)
    here = cores()
    each = -(-options.cycles // options.windows)
    try:
        _probe(report, here)
        report.kernels = _kernels(here[-1])
        log.note(str(report.kernels))
        for i in range(options.windows):
            try:
                report.windows.append(_window(each, here, report.kernels, log))
                log.say(f"{i + 1}/{options.windows} {words(report.windows[-1])}")
            except NotMeasured as error:
                log.note(f"not measured: {error}")
            step()
        _probe(report, here)
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    report.notes[:] = list(dict.fromkeys(report.notes))
    return report


def words(window: Window) -> str:
    """A window on one line."""
    host = [f"{size} {timed[LATENCY].median:.0f} ns" for size, timed in window.host.items()]
    alone = [f"{size} {timed[ANSWER].median:.0f} ns (sgemv {timed[SGEMV].median:.0f})"
             for size, timed in window.sizes.items()]  # fmt: skip
    return f"{window.simd}: in its host {', '.join(host) or 'not measured'}; arithmetic " + ", ".join(alone)
