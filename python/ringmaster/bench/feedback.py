# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench feedback`: from the last BPM seen to the setpoint vector, beside OpenBLAS sgemv.

The feedback itself in its host, on one core, while a thread on the other writes the records of its BPMs
(bench/feedback_latency.c): from the host's stamp of seeing the last record to that of the row's commit. And its
arithmetic alone (bench/feedback_cost.c): rows in other orders, the last one timed with the end of the product, then all
that is done between cycles; by turns in the same run sgemv and our product as a whole. Beside each a loop that only
looks at the clock for as long as the last answer took. Windows follow each other; the worst of all cycles stands
beside the worst of all of that loop's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from statistics import median

import click

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement, windows_within
from ringmaster.bench.openblas import Kernels, fastest
from ringmaster.bench.options import COUNT, option
from ringmaster.bench.printed import Times, figures, printed
from ringmaster.places import find_library, find_program
from ringmaster.programs.cores import cores
from ringmaster.report import published
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

PROGRAM, HOST_PROGRAM = "ringmaster-feedback-cost", "ringmaster-feedback-latency"
LATENCY, FLOOR = "last_bpm_to_setpoint_ns", "stall_floor_ns"
ANSWER, SGEMV, WHOLE = "answer_ns", "sgemv_ns", "whole_product_ns"
ALONE = (
    ("answer", ANSWER, "its arithmetic alone"),
    ("sgemv", SGEMV, "OpenBLAS, the same size, whole"),
    ("whole", WHOLE, "our product whole, at once"),
    ("controllers", "controllers_ns", "13 resonators each"),
)
"""Figures of the arithmetic."""
TARGETS = {"264x168": 200.0, "528x336": 500.0}
"""Nanoseconds, median."""
KERNEL_CYCLES = 2000
"""To try each kernel of OpenBLAS."""
START_S, MOST_NS_PER_CYCLE = 120.0, 1e6
WINDOWS = "windows"


@dataclass(frozen=True)
class Options:
    """How much of it."""

    cycles: int = option(1_000_000, "Of each size, in all windows.", click.IntRange(100))
    """In the host, and of the arithmetic alone."""
    windows: int = option(10, "Of each figure; the median and its spread are theirs.", COUNT)


@dataclass(frozen=True)
class Window:
    """All of it once: by size, and by what was timed."""

    simd: str
    sizes: Mapping[str, Mapping[str, Times]]
    host: Mapping[str, Mapping[str, Times]] = field(default_factory=dict)
    """LATENCY and FLOOR, by size, of the feedback in its host; without those that were not measured."""

    @property
    def words(self) -> str:
        """Medians, on one line."""
        host = [f"{size} {timed[LATENCY].median:.0f} ns" for size, timed in self.host.items()]
        alone = [f"{size} {timed[ANSWER].median:.0f} ns (sgemv {timed[SGEMV].median:.0f})"
                 for size, timed in self.sizes.items()]  # fmt: skip
        return f"{self.simd}: in its host {', '.join(host) or 'not measured'}; arithmetic " + ", ".join(alone)


def window_of(words: str) -> Window:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    return figures(
        PROGRAM,
        words,
        lambda said: Window(
            said["simd"],
            {size: {what: Times(**times) for what, times in timed.items()} for size, timed in said["sizes"].items()},
        ),
    )


def host_times_of(words: str) -> dict[str, Times]:
    """From the JSON of the program that runs the host. Raises NotMeasured where it is none of its kind."""
    return figures(HOST_PROGRAM, words, lambda said: {what: Times(**said[what]) for what in (LATENCY, FLOOR)})


class OrbitFeedback(Measurement[Options, Window]):
    """Measure the orbit feedback: from the last BPM seen to the setpoint vector.

    264 outputs of 168 BPMs, and both planes of such a ring, with thirteen resonators per channel: the feedback in its
    host, on one core, its BPMs written by the other; and its arithmetic alone, beside OpenBLAS sgemv of the same sizes.
    Beside each a loop that only looks at the clock, by turns in the same run. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "feedback", "Orbit feedback", Options
    examples = ("", "--json > feedback.json", "--cycles 10000 --windows 2")
    about = (
        "From the last BPM seen to the setpoint vector: the feedback in its host, and its arithmetic alone beside "
        "OpenBLAS sgemv of the same sizes, by turns."
    )

    kernels = Kernels({})
    """Of OpenBLAS, that were tried."""

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many windows as fit."""
        windows = windows_within(seconds, 15.0)
        return Options(20_000 * windows, windows)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Finds the fastest kernel."""
        self.kernels = _kernels(cores()[-1])
        self.note(str(self.kernels))
        with super().around():
            yield

    def take(self, _peer: str) -> Window:
        """The arithmetic, then the host."""
        here, cycles = cores(), -(-self.options.cycles // self.options.windows)
        window = _arithmetic(cycles, here[-1], self.kernels.environment)
        found = ((size, self.attempt(partial(_in_host, size, cycles, here))) for size in TARGETS)
        return replace(window, host={size: times for size, times in found if times is not None})

    @property
    def sizes(self) -> list[str]:
        """That were measured."""
        return list(self.rows[0].sizes) if self.rows else list(TARGETS)

    def values(self, size: str, what: str, of: str, *, host: bool = False) -> list[float]:
        """Of each window: of the arithmetic, or of the feedback in its host."""
        timed = [window.host.get(size) if host else window.sizes[size] for window in self.rows]
        return [getattr(times[what], of) for times in timed if times is not None]

    def figure_of(self, size: str, what: str, of: str = "median", *, host: bool = False) -> Figure | None:
        """Of the windows' medians, or 99th percentiles."""
        return of_values(self.values(size, what, of, host=host), WINDOWS)

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        about = "last BPM seen to the vector committed"
        first = [
            Headline(f"latency_{size}_ns", self.figure_of(size, LATENCY, host=True), "ns", target, about=about)
            for size, target in TARGETS.items()
        ]
        first += [
            Headline(f"latency_{size}_p99_ns", self.figure_of(size, LATENCY, "p99", host=True), "ns")
            for size in TARGETS
        ]
        return first + [
            Headline(f"{name}_{size}_ns", self.figure_of(size, what), "ns", about=about)
            for name, what, about in ALONE
            for size in self.sizes
        ]

    def summary(self, size: str, what: str, *, host: bool = False) -> dict[str, float | None]:
        """Median and 99th percentile of the windows, and the worst of all cycles."""
        middle = {of: self.values(size, what, of, host=host) for of in ("median", "p99")}
        worst = max(self.values(size, what, "max", host=host), default=None)
        return {**{of: median(values) if values else None for of, values in middle.items()}, "max": worst}

    def tables(self) -> list[Table]:
        """Worst beside median; what is done between cycles; published."""
        return [_worst(self), _between(self), published.table("Published", [published.MATRIX_US])] if self.rows else []

    def data(self) -> dict[str, object]:
        """Figures by size, and every window."""
        floors = [worst for size in TARGETS for worst in self.values(size, FLOOR, "max", host=True)]
        return {
            LATENCY: {size: self.summary(size, LATENCY, host=True) for size in TARGETS},
            FLOOR: max(floors, default=None),
            ANSWER: {size: self.summary(size, ANSWER) for size in self.sizes},
            SGEMV: {size: self.summary(size, SGEMV)["median"] for size in self.sizes},
            "cycles": {size: sum(window.host[size][LATENCY].count for window in self.rows if size in window.host)
                       for size in TARGETS},
            "openblas_kernels_ns": dict(self.kernels.times_ns),
            "windows": [asdict(window) for window in self.rows],
        }  # fmt: skip


def _worst(report: "OrbitFeedback") -> Table:
    parts = [(True, size, LATENCY) for size in TARGETS] + [(False, size, ANSWER) for size in report.sizes]
    rows = [
        (host, size, report.summary(size, what, host=host), report.summary(size, FLOOR, host=host))
        for host, size, what in parts
    ]
    columns: Columns = {
        "outputs × rows": lambda row: f"{row[1]}, {'in its host' if row[0] else 'arithmetic alone'}",
        "median": lambda row: row[2]["median"],
        "p99": lambda row: row[2]["p99"],
        "worst": lambda row: row[2]["max"],
        "bare clock p99": lambda row: row[3]["p99"],
        "bare clock worst": lambda row: row[3]["max"],
    }
    return Table.of(
        "From the last BPM to the row, ns; beside it by how much a loop on the clock was late", rows, columns
    )


def _between(report: "OrbitFeedback") -> Table:
    columns: Columns = {
        "outputs × rows": lambda size: size,
        "errors of channels": lambda size: report.summary(size, "errors_ns")["median"],
        "controllers": lambda size: report.summary(size, "controllers_ns")["median"],
        "their part of the next row": lambda size: report.summary(size, "ahead_ns")["median"],
    }
    return Table.of("Between cycles, per mode, ns", report.sizes, columns)


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
