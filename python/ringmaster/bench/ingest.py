# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench ingest`: what one receive core costs and carries, part by part, each figure beside a peer.

A part yields its rows as they are measured; whoever interrupts it keeps those there are.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ringmaster.bench import added, end_to_end, instructions, load, memory, polling, sizes
from ringmaster.bench.log import Log
from ringmaster.bench.windows import Window, compare, ratio_of, ratios_of
from ringmaster.programs.cores import cores
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import Spread, StallFloor, core_to_core_ns, stall_floor
from ringmaster.report.headlines import Figure, exact, of_values

PARTS = ("added", "instructions", "windows", "load", "polling", "sizes")
"""In the order in which they are measured. The memory table needs no measurement, and is always there."""
FLOOR_S = 0.5


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = PARTS
    windows: int = 12
    """Pairs of windows of each frame size."""
    seconds: float = 1.0
    """Length of a window."""
    load_seconds: float = 60.0
    """For which the Elettra load is held."""
    rounds: int = 21
    """Of each run of the added cost; a third of them where sizes are compared."""


@dataclass
class Report:
    """What was measured: rows of each part, as dataclasses of the part's own module."""

    options: Options
    tsc_hz: float = 0.0
    simds: list[str] = field(default_factory=list)
    """Of this CPU, narrowest first."""
    probes_ns: list[float] = field(default_factory=list)
    """Round trips of a cache line between the two cores, through the whole run."""
    floors: list[StallFloor] = field(default_factory=list)
    """Before and after."""
    rows: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What could not be measured, and why; what was scaled."""
    interrupted: bool = False

    @property
    def windows(self) -> list[Window]:
        """Of the part of that name."""
        return self.rows.get("windows", [])

    def as_json(self) -> dict[str, object]:
        """The figures that stand for all, and the tables behind them."""
        tables: dict[str, object] = {part: [asdict(row) for row in rows] for part, rows in self.rows.items()}
        tables["memory"] = [asdict(row) for row in memory.table()]
        tables["comparisons"] = [asdict(row) for row in compare(self.windows)]
        tables["core_to_core_ns"] = asdict(Spread.of(self.probes_ns)) if self.probes_ns else None
        return {
            **self.headlines(),
            "spreads": {name: asdict(figure) if figure else None for name, figure in self.spreads().items()},
            "tsc_hz": self.tsc_hz,
            "interrupted": self.interrupted,
            "notes": self.notes,
            "options": asdict(self.options),
            "tables": tables,
        }

    def headlines(self) -> dict[str, object]:
        """None where a figure was not measured."""
        counted = self.rows.get("instructions", [])
        return {
            "added_ns_per_packet": added.headline(self.rows.get("added", []), self.simds),
            "ratio_to_testpmd": ratio_of(self.windows, end_to_end.LONG.name),
            "ratio_to_testpmd_96": ratio_of(self.windows, end_to_end.LONG_OF_MANY.name),
            "bytes_per_packet": next(row.cpu_bytes for row in memory.table() if row.chain == "both"),
            "instructions_per_packet": next((row.added for row in counted if row.chain == "both"), None),
            "core_to_core_ns": Spread.of(self.probes_ns).median if self.probes_ns else None,
        }

    def spreads(self) -> dict[str, Figure | None]:
        """Of each headline: median, spread, and of how many what; None where it was not measured."""
        found, rows = self.headlines(), added.headline_rows(self.rows.get("added", []), self.simds)
        timed = {f"added_ns_per_packet.{chain}": added.figure_of(visits) for chain, visits in rows.items()}
        return {
            **timed,
            "ratio_to_testpmd": self._ratios(end_to_end.LONG.name),
            "ratio_to_testpmd_96": self._ratios(end_to_end.LONG_OF_MANY.name),
            "bytes_per_packet": exact(_float(found["bytes_per_packet"]), "layout"),
            "instructions_per_packet": exact(_float(found["instructions_per_packet"]), "count"),
            "core_to_core_ns": of_values(self.probes_ns, "probes"),
        }

    def _ratios(self, load_name: str) -> Figure | None:
        return of_values(ratios_of(self.windows, load_name), "pairs of windows")


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _measurements(report: Report, log: Log) -> dict[str, Callable[[], Iterator[Any]]]:
    options, tsc_hz = report.options, report.tsc_hz
    return {
        "added": lambda: added.run(options.rounds, log),
        "instructions": lambda: instructions.run(log),
        "windows": lambda: end_to_end.run(options.windows, options.seconds, tsc_hz, log),
        "load": lambda: load.run(options.load_seconds, options.seconds, tsc_hz, log),
        "polling": lambda: polling.run(options.seconds, tsc_hz, log),
        "sizes": lambda: sizes.run(max(3, options.rounds // 3), options.seconds, tsc_hz, log),
    }


def measure(options: Options, progress: Callable[[str], None], step: Callable[[], None] = lambda: None) -> Report:
    """Measures the parts that are asked for, with a step for each. An interrupt ends it early and in good order."""
    log = Log(progress)
    report = Report(options, simds=added.simds(), notes=log.notes)
    try:
        report.floors.append(stall_floor(FLOOR_S, cores()))
        report.tsc_hz = report.floors[0].tsc_hz
        for part, run in _measurements(report, log).items():
            if part in options.parts:
                _measure_part(part, run(), report, log)
                _visit(report, log)
                step()
        report.floors.append(stall_floor(FLOOR_S, cores()))
        if report.windows and report.headlines()["ratio_to_testpmd"] is None:
            log.note("windows: no pair to compare: see what the discarded ones say; more --windows may find some")
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    return report


def _visit(report: Report, log: Log) -> None:
    """Between the parts, the added cost that stands for all."""
    if "added" in report.options.parts and len(report.options.parts) > 1:
        _measure_part("added", added.visit(max(3, report.options.rounds // 3), log), report, log)


def _measure_part(part: str, rows: Iterator[Any], report: Report, log: Log) -> None:
    report.probes_ns.append(core_to_core_ns(*cores()))
    kept = report.rows.setdefault(part, [])
    try:
        for row in rows:
            kept.append(row)
            if isinstance(row, Window):
                report.probes_ns.append(row.core_to_core_ns)
    except ProgramFailed as error:
        log.note(f"{part}: not measured to its end: {error}")
