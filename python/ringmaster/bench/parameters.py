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
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline, number

PROGRAM = "ringmaster-parameter-cost"
READ_NS, WRITE_NS, VISIBLE_RATIO = 10.0, 30.0, 1.3
"""Targets."""
LIMIT_S = 60.0
DISTANCES = ("near", "far", "mixed")


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

    def of(self, part: str, name: str = "", what: str = "median") -> float | None:
        """A figure of one of these, by its name; None where it was not measured."""
        found = getattr(self, part)
        times = found.get(name) if isinstance(found, Mapping) else found
        return None if times is None else float(getattr(times, what))

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

    name, title, options_type, repeated = "parameters", "Parameters", Options, "windows"
    examples = ("", "--json > parameters.json", "--windows 3 --seconds 0.2")
    about = (
        "What a parameter costs to read, to write, to be seen by another core and to be set by its owner, beside EPICS "
        "PVAccess on loopback on the same cores, by turns."
    )

    peer: Peer | None = None
    """PVAccess, while it runs."""

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

        def of(part: str, name: str = "", what: str = "median") -> Figure | None:
            return self.figure(lambda window: window.of(part, name, what))

        def over(call: str, part: str, name: str) -> Figure | None:
            def ratio(window: Window) -> float | None:
                peer, ours = window.of(call), window.of(part, name)
                return peer / ours if peer and ours else None

            return self.figure(ratio)

        return [
            Headline("read_ns", of("cost", "read_f64"), "ns", READ_NS, about="a double, by any reader"),
            Headline("write_ns", of("cost", "write_f64"), "ns", WRITE_NS, about="a double, by its owner"),
            Headline(
                "write_stamped_ns", of("cost", "write_stamped"), "ns", WRITE_NS, about="and its time from the TSC"
            ),
            Headline("visible_ratio", of_values(self.ratios(), "windows"), "×", VISIBLE_RATIO, about="to a plain line"),
            Headline("visible_ns", of("visible", "parameter"), "ns", about="write to another core's having it"),
            Headline("plain_ns", of("visible", "plain"), "ns", about="the same of a plain cache line"),
            Headline("put_ns", of("request", "put_polled"), "ns", about="through an owner that polls, to its reply"),
            Headline("put_asleep_ns", of("request", "put_asleep"), "ns", about="through an owner that sleeps"),
            Headline("pva_get_ns", of("pva_get"), "ns", about="PVAccess, p4p, p50"),
            Headline("pva_get_p99_ns", of("pva_get", what="p99"), "ns", about="PVAccess, p4p, p99"),
            Headline("pva_put_ns", of("pva_put"), "ns", about="PVAccess, p4p, p50"),
            Headline("pva_put_p99_ns", of("pva_put", what="p99"), "ns", about="PVAccess, p4p, p99"),
            Headline("pva_get_over_read", over("pva_get", "cost", "read_f64"), "×", about="PVAccess to our read"),
            Headline("pva_put_over_put", over("pva_put", "request", "put_asleep"), "×", about="and to our put"),
        ]

    def ratios(self) -> list[float]:
        """Visibility to a plain line's, of windows of one class: near, where a line costs least; else far."""
        for distance in ("near", "far"):
            here = [window.visible for window in self.rows if window.distance == distance and window.visible]
            if here:
                return [visible["ratio"].median for visible in here]
        return []

    def tables(self) -> list[Table]:
        """Costs on one core, and from core to core."""
        return [_costs(self.rows), _distances(self.rows)] if self.rows else []

    def data(self) -> dict[str, object]:
        """Every window."""
        return {"windows": [asdict(window) for window in self.rows]}


def _costs(windows: Sequence[Window]) -> Table:
    seen = {name: [window.cost[name] for window in windows] for name in windows[0].cost}
    columns: Columns = {
        "": lambda one: one[0],
        "median": lambda one: median(times.median for times in one[1]),
        "all windows": lambda one: "–".join(
            (number(min(times.low for times in one[1])), number(max(times.high for times in one[1])))
        ),
    }
    return Table.of("On one core, back to back, through libringmaster.so, ns", seen.items(), columns)


def _distances(windows: Sequence[Window]) -> Table:
    classes = [[one for one in windows if one.distance == distance and one.visible] for distance in DISTANCES]
    columns: Columns = {
        "class": lambda here: here[0].distance,
        "windows": lambda here: str(len(here)),
        "plain line ns": lambda here: median(one.visible["plain"].median for one in here),
        "parameter ns": lambda here: median(one.visible["parameter"].median for one in here),
        "ratio": lambda here: median(one.visible["ratio"].median for one in here),
    }
    return Table.of("From core to core, half of there and back", filter(None, classes), columns)


def ranges_of(words: str) -> dict[str, Times]:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    return figures(PROGRAM, words, lambda said: {name: Times(**values) for name, values in said.items()})


def run_program(what: str, wanted_cores: Sequence[int]) -> dict[str, Times]:
    """Runs a part of the program in a workspace of its own, of which nothing stays. Raises NotMeasured."""
    with scratch_folder("bench", "/dev/shm") as root:
        command = [find_program(PROGRAM), what, "bench", *map(str, wanted_cores)]
        return ranges_of(printed(what, command, LIMIT_S, environment={"RINGMASTER_WORKSPACES": root}))
