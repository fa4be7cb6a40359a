# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench parameters`: what a parameter costs to read, to write, to be seen and to be set, beside PVAccess.

Windows follow each other in one run; each has all of it by turns, ours and the peer's: a program in C that is linked to
libringmaster.so as a user's is (bench/parameter_cost.c), Python, and EPICS PVAccess on loopback by p4p, all on the same
cores.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from statistics import median

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.printed import printed
from ringmaster.bench.pvaccess import Peer, Times, pva_server
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import StallFloor, class_of, core_to_core_ns, stall_floor
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Section, Table
from ringmaster.report.verdicts import Conditions, Headline, as_json, conditions_of, number

PROGRAM = "ringmaster-parameter-cost"
READ_NS, WRITE_NS, VISIBLE_RATIO = 10.0, 30.0, 1.3
"""Targets."""
FLOOR_S = 0.5
LIMIT_S = 60.0
WINDOWS = "windows"


@dataclass(frozen=True)
class Range:
    """Of one window: nanoseconds, or a ratio. Low and high leave the outermost tenths out."""

    median: float
    low: float
    high: float
    p99: float


@dataclass(frozen=True)
class Options:
    """How much of it."""

    windows: int = 12
    seconds: float = 0.5
    """Of each of the peer's windows; ours are as long as their counts take."""


@dataclass(frozen=True)
class Window:
    """All of it once."""

    core_to_core_ns: float
    """The longer of the probes before and after."""
    distance: str
    """near, far, mixed; or "one core"."""
    cost: Mapping[str, Range]
    """By what is done, on one core."""
    visible: Mapping[str, Range]
    """"plain", "parameter": half of there and back; "ratio" of the two, series by series."""
    request: Mapping[str, Range]
    """"put_polled", "put_asleep": until the reply, by an owner that looks all the time or that sleeps."""
    pva_get: Times | None
    pva_put: Times | None


@dataclass
class Report:
    """What was measured."""

    options: Options
    windows: list[Window] = field(default_factory=list)
    probes_ns: list[float] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def conditions(self) -> Conditions:
        """Of the machine."""
        return conditions_of(self.probes_ns, self.floors)

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
            Headline("pva_get_ns", self.peer("pva_get", "median"), "ns", about="PVAccess, p4p, p50"),
            Headline("pva_get_p99_ns", self.peer("pva_get", "p99"), "ns", about="PVAccess, p4p, p99"),
            Headline("pva_put_ns", self.peer("pva_put", "median"), "ns", about="PVAccess, p4p, p50"),
            Headline("pva_put_p99_ns", self.peer("pva_put", "p99"), "ns", about="PVAccess, p4p, p99"),
            Headline("pva_get_over_read", self.over("pva_get", "cost", "read_f64"), "×", about="PVAccess to our read"),
            Headline("pva_put_over_put", self.over("pva_put", "request", "put_asleep"), "×", about="and to our put"),
        ]

    def ratios(self) -> list[float]:
        """Visibility to a plain line's, of windows of one class: near, where a line costs least; else far."""
        for distance in ("near", "far"):
            here = [window.visible for window in self.windows if window.distance == distance and window.visible]
            if here:
                return [visible["ratio"].median for visible in here]
        return []

    def cost(self, name: str) -> Figure | None:
        """Of the windows' medians."""
        return of_values([window.cost[name].median for window in self.windows if window.cost], WINDOWS)

    def visible(self, name: str) -> Figure | None:
        """Of the windows' medians, near and far alike."""
        return of_values([window.visible[name].median for window in self.windows if window.visible], WINDOWS)

    def request(self, name: str) -> Figure | None:
        """Of the windows' medians."""
        return of_values([window.request[name].median for window in self.windows if window.request], WINDOWS)

    def peer(self, call: str, what: str) -> Figure | None:
        """Of the windows' medians, or 99th percentiles."""
        return of_values([getattr(times, what) for times in self._times(call)], WINDOWS)

    def over(self, call: str, part: str, name: str) -> Figure | None:
        """The peer's median to ours of the same window."""
        pairs = [(getattr(window, call), getattr(window, part)) for window in self.windows]
        return of_values([peer.median / ours[name].median for peer, ours in pairs if peer and ours], WINDOWS)

    def _times(self, call: str) -> list[Times]:
        return [times for window in self.windows if (times := getattr(window, call)) is not None]

    def as_json(self) -> dict[str, object]:
        """The figures that stand for all, and the windows behind them."""
        return {
            **as_json(self.headlines()),
            "conditions": asdict(self.conditions),
            "interrupted": self.interrupted,
            "notes": self.notes,
            "options": asdict(self.options),
            "tables": {"windows": [asdict(window) for window in self.windows]},
        }

    def section(self) -> Section:
        """For people."""
        return Section(
            name="parameters",
            title="Parameters",
            about="What a parameter costs to read, to write, to be seen by another core and to be set by its owner, "
            "beside EPICS PVAccess on loopback on the same cores, by turns.",
            command=f"ringmaster bench parameters --windows {self.options.windows} --seconds {self.options.seconds:g}",
            headlines=self.headlines(),
            tables=[_costs(self.windows), _distances(self.windows)] if self.windows else [],
            conditions=self.conditions,
            notes=self.notes,
            interrupted=self.interrupted,
            data={"options": asdict(self.options), "windows": [asdict(window) for window in self.windows]},
        )


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


def ranges_of(words: str) -> dict[str, Range]:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    try:
        return {name: Range(**said) for name, said in json.loads(words).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise NotMeasured(f"{PROGRAM} printed no figures: {error!r}") from error


def _ours(what: str, wanted_cores: Sequence[int]) -> dict[str, Range]:
    """Runs a part of the program in a workspace of its own, of which nothing stays. Raises NotMeasured."""
    with scratch_folder("bench", "/dev/shm") as root:
        command = [find_program(PROGRAM), what, "bench", *map(str, wanted_cores)]
        return ranges_of(printed(what, command, LIMIT_S, environment={"RINGMASTER_WORKSPACES": root}))


class _Bench:
    def __init__(self, report: Report, peer: Peer | None, log: Log) -> None:
        self._report, self._peer, self._log = report, peer, log
        self._cores = cores()

    def _try(self, what: str, wanted_cores: Sequence[int]) -> dict[str, Range]:
        if len(set(wanted_cores)) < len(wanted_cores):
            return {}
        try:
            return _ours(what, wanted_cores)
        except NotMeasured as error:
            self._log.note(f"not measured: {error}")
            return {}

    def _beside(self, what: str) -> Times | None:
        if self._peer is None:
            return None
        try:
            return self._peer.window(what, self._report.options.seconds)
        except NotMeasured as error:
            self._log.note(f"not measured: {error}")
            return None

    def _probe(self) -> float | None:
        if self._cores[0] == self._cores[1]:
            return None
        self._report.probes_ns.append(core_to_core_ns(*self._cores))
        return self._report.probes_ns[-1]

    def window(self) -> Window:
        """All of it once, the peer between ours."""
        first, second = self._cores
        before = self._probe()
        visible = self._try("visible", (first, second))
        after = self._probe()
        cost = self._try("cost", (second,))
        get = self._beside("get")
        request = self._try("request", (first, second))
        put = self._beside("put")
        known = before is not None and after is not None
        return Window(
            core_to_core_ns=max(before or 0.0, after or 0.0),
            distance=class_of(before or 0.0, after or 0.0) if known else "one core",
            cost=cost,
            visible=visible,
            request=request,
            pva_get=get,
            pva_put=put,
        )


@contextmanager
def _peer(log: Log) -> Iterator[Peer | None]:
    with ExitStack() as stack:
        try:
            peer = stack.enter_context(pva_server(*cores()))
        except NotMeasured as error:
            log.note(str(error))
            peer = None
        yield peer


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Report:
    """Measures it. An interrupt ends it early and in good order."""
    log = Log(say)
    report = Report(options, notes=log.notes)
    try:
        report.floors.append(stall_floor(FLOOR_S, cores()))
        with _peer(log) as peer:
            bench = _Bench(report, peer, log)
            for i in range(options.windows):
                window = bench.window()
                report.windows.append(window)
                log.say(f"{i + 1}/{options.windows} {words(window)}")
                step()
        report.floors.append(stall_floor(FLOOR_S, cores()))
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    report.notes[:] = list(dict.fromkeys(report.notes))
    return report


def words(window: Window) -> str:
    """A window on one line."""
    parts = [f"{window.distance} ({window.core_to_core_ns:.0f} ns)"]
    if window.cost:
        cost = window.cost
        parts.append(f"read {cost['read_f64'].median:.1f} ns, write {cost['write_f64'].median:.1f} ns")
    if window.visible:
        parts.append(f"visible {window.visible['parameter'].median:.0f} ns ({window.visible['ratio'].median:.2f} ×)")
    if window.request:
        parts.append(f"put {window.request['put_polled'].median / 1e3:.2f} µs")
    for name, times in (("get", window.pva_get), ("put", window.pva_put)):
        if times is not None:
            parts.append(f"PVAccess {name} {times.median / 1e3:.0f} µs")
    return ", ".join(parts)
