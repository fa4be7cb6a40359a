# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench parameters`: what a parameter costs to read, to write, to be seen and to be set, beside PVAccess.

Windows follow each other in one run; each has all of it by turns, ours and the peer's: a program in C that is linked to
libringmaster.so as a user's is (bench/parameter_cost.c), Python, and EPICS PVAccess on loopback by p4p, all on the same
cores.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from statistics import median

from ringmaster.bench.measurement import Measurement, windows_within
from ringmaster.bench.options import COUNT, Finite, option
from ringmaster.bench.printed import Times, figures, printed
from ringmaster.bench.pvaccess import Peer, pva_server
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import class_of
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, number

PROGRAM = "ringmaster-parameter-cost"
READ_NS, WRITE_NS, VISIBLE_RATIO = 10.0, 30.0, 1.3
"""Targets."""
LIMIT_S = 60.0
WINDOWS = "windows"


@dataclass(frozen=True)
class Options:
    """How much of it."""

    windows: int = option(12, "Of each figure; the median and its spread are theirs.", COUNT)
    seconds: float = option(0.5, "Of each peer's window.", Finite(0.05))
    """Ours are as long as their counts take."""


@dataclass(frozen=True)
class Window:
    """All of it once."""

    core_to_core_ns: float
    """The longer of the probes before and after."""
    distance: str
    """near, far, mixed; or "one core"."""
    cost: Mapping[str, Times]
    """By what is done, on one core."""
    visible: Mapping[str, Times]
    """"plain", "parameter": half of there and back; "ratio" of the two, series by series."""
    request: Mapping[str, Times]
    """"put_polled", "put_asleep": until the reply, by an owner that looks all the time or that sleeps."""
    pva_get: Times | None
    pva_put: Times | None

    @property
    def words(self) -> str:
        """Medians, on one line."""
        parts = [f"{self.distance} ({self.core_to_core_ns:.0f} ns)"]
        if self.cost:
            cost = self.cost
            parts.append(f"read {cost['read_f64'].median:.1f} ns, write {cost['write_f64'].median:.1f} ns")
        if self.visible:
            parts.append(f"visible {self.visible['parameter'].median:.0f} ns ({self.visible['ratio'].median:.2f} ×)")
        if self.request:
            parts.append(f"put {self.request['put_polled'].median / 1e3:.2f} µs")
        for name, times in (("get", self.pva_get), ("put", self.pva_put)):
            if times is not None:
                parts.append(f"PVAccess {name} {times.median / 1e3:.0f} µs")
        return ", ".join(parts)


class Parameters(Measurement[Options, Window]):
    """Measure what a parameter costs: to read, to write, to be seen by another core, to be set by its owner.

    Beside it EPICS PVAccess get and put on loopback, by p4p where that is installed, on the same cores and by turns in
    the same run. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "parameters", "Parameters", Options
    examples = ("", "--json > parameters.json", "--windows 3 --seconds 0.2")
    about = (
        "What a parameter costs to read, to write, to be seen by another core and to be set by its owner, beside EPICS "
        "PVAccess on loopback on the same cores, by turns."
    )

    peer: Peer | None = None
    """PVAccess, while it runs."""

    @classmethod
    def rounds(cls, options: Options) -> int:
        """Windows."""
        return options.windows

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many windows as fit."""
        return Options(windows_within(seconds, 4.0), 0.3)

    @contextmanager
    def around(self) -> Iterator[None]:
        """The peer runs all the while."""
        with ExitStack() as stack, super().around():
            self.peer = self.attempt(lambda: stack.enter_context(pva_server(*cores())))
            yield

    def take(self, _peer: str) -> Window:
        """All of it once, the peer between ours."""
        first, second = cores()
        before = self._probe()
        visible = self._ours("visible", first, second)
        after = self._probe()
        cost = self._ours("cost", second)
        get = self._beside("get")
        request = self._ours("request", first, second)
        put = self._beside("put")
        distance = "one core" if first == second else class_of(before, after)
        return Window(max(before, after), distance, cost, visible, request, get, put)

    def _probe(self) -> float:
        self.probe_distance()
        return self.probes_ns[-1] if self.probes_ns else 0.0

    def _ours(self, what: str, *wanted_cores: int) -> dict[str, Times]:
        if len(set(wanted_cores)) < len(wanted_cores):
            return {}
        return self.attempt(lambda: run_program(what, wanted_cores)) or {}

    def _beside(self, what: str) -> Times | None:
        peer = self.peer
        return None if peer is None else self.attempt(lambda: peer.window(what, self.options.seconds))

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        return [
            Headline("read_ns", self.cost("read_f64"), "ns", READ_NS, about="a double, by any reader"),
            Headline("write_ns", self.cost("write_f64"), "ns", WRITE_NS, about="a double, by its owner"),
            Headline("write_stamped_ns", self.cost("write_stamped"), "ns", WRITE_NS, about="and its time from the TSC"),
            Headline("visible_ratio", of_values(self.ratios(), WINDOWS), "×", VISIBLE_RATIO, about="to a plain line"),
            Headline("visible_ns", self.visible("parameter"), "ns", about="write to another core's having it"),
            Headline("plain_ns", self.visible("plain"), "ns", about="the same of a plain cache line"),
            Headline("put_ns", self.request("put_polled"), "ns", about="through an owner that polls, to its reply"),
            Headline("put_asleep_ns", self.request("put_asleep"), "ns", about="through an owner that sleeps"),
            Headline("pva_get_ns", self.beside("pva_get", "median"), "ns", about="PVAccess, p4p, p50"),
            Headline("pva_get_p99_ns", self.beside("pva_get", "p99"), "ns", about="PVAccess, p4p, p99"),
            Headline("pva_put_ns", self.beside("pva_put", "median"), "ns", about="PVAccess, p4p, p50"),
            Headline("pva_put_p99_ns", self.beside("pva_put", "p99"), "ns", about="PVAccess, p4p, p99"),
            Headline("pva_get_over_read", self.over("pva_get", "cost", "read_f64"), "×", about="PVAccess to our read"),
            Headline("pva_put_over_put", self.over("pva_put", "request", "put_asleep"), "×", about="and to our put"),
        ]

    def ratios(self) -> list[float]:
        """Visibility to a plain line's, of windows of one class: near, where a line costs least; else far."""
        for distance in ("near", "far"):
            here = [window.visible for window in self.rows if window.distance == distance and window.visible]
            if here:
                return [visible["ratio"].median for visible in here]
        return []

    def cost(self, name: str) -> Figure | None:
        """Of the windows' medians."""
        return of_values([window.cost[name].median for window in self.rows if window.cost], WINDOWS)

    def visible(self, name: str) -> Figure | None:
        """Of the windows' medians, near and far alike."""
        return of_values([window.visible[name].median for window in self.rows if window.visible], WINDOWS)

    def request(self, name: str) -> Figure | None:
        """Of the windows' medians."""
        return of_values([window.request[name].median for window in self.rows if window.request], WINDOWS)

    def beside(self, call: str, what: str) -> Figure | None:
        """Of the windows' medians, or 99th percentiles."""
        return of_values([getattr(times, what) for times in self._times(call)], WINDOWS)

    def over(self, call: str, part: str, name: str) -> Figure | None:
        """The peer's median to ours of the same window."""
        pairs = [(getattr(window, call), getattr(window, part)) for window in self.rows]
        return of_values([peer.median / ours[name].median for peer, ours in pairs if peer and ours], WINDOWS)

    def _times(self, call: str) -> list[Times]:
        return [times for window in self.rows if (times := getattr(window, call)) is not None]

    def tables(self) -> list[Table]:
        """Costs on one core, and from core to core."""
        return [_costs(self.rows), _distances(self.rows)] if self.rows else []

    def data(self) -> dict[str, object]:
        """Every window."""
        return {"windows": [asdict(window) for window in self.rows]}


def _costs(windows: Sequence[Window]) -> Table:
    names = list(dict.fromkeys(name for window in windows for name in window.cost))
    rows = []
    for name in names:
        seen = [window.cost[name] for window in windows]
        low, high = min(one.low for one in seen), max(one.high for one in seen)
        rows.append((name, number(median(one.median for one in seen)), f"{number(low)}–{number(high)}"))
    return Table("On one core, back to back, through libringmaster.so, ns", ("", "median", "all windows"), rows)


def _distances(windows: Sequence[Window]) -> Table:
    rows = []
    for distance in ("near", "far", "mixed"):
        here = [window.visible for window in windows if window.distance == distance and window.visible]
        if here:
            cells = (number(median(one[name].median for one in here)) for name in ("plain", "parameter", "ratio"))
            rows.append((distance, str(len(here)), *cells))
    head = ("class", "windows", "plain line ns", "parameter ns", "ratio")
    return Table("From core to core, half of there and back", head, rows)


def ranges_of(words: str) -> dict[str, Times]:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    return figures(PROGRAM, words, lambda said: {name: Times(**values) for name, values in said.items()})


def run_program(what: str, wanted_cores: Sequence[int]) -> dict[str, Times]:
    """Runs a part of the program in a workspace of its own, of which nothing stays. Raises NotMeasured."""
    with scratch_folder("bench", "/dev/shm") as root:
        command = [find_program(PROGRAM), what, "bench", *map(str, wanted_cores)]
        return ranges_of(printed(what, command, LIMIT_S, environment={"RINGMASTER_WORKSPACES": root}))
