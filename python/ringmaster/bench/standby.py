# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench standby`: two servers and one machine, and what befalls them: in simulated time, and real ones.

The program ringmaster-simulate-pair runs the protocol of who sends, the guards, the virtual chains with their judge,
and the orbit feedback at 96 kHz, closed loop, which the standby follows to the bit. Each part is a question of its own.
The same seed gives the same figures on every machine: nothing of it is timed. The last part has real servers on two
cores, which are killed and stopped (standby_real.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import PartByPart, Turn
from ringmaster.bench.options import Finite, SomeOf, option
from ringmaster.bench.printed import figures, printed
from ringmaster.bench.standby_real import MISSED, Round, carried_cycle_s, run_round, windows_of
from ringmaster.bench.standby_real_tables import real_data, real_headlines, real_notes, real_tables
from ringmaster.bench.standby_ring import CYCLE_HZ, LARGE, SMALL, Ring
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import stall_floor
from ringmaster.report.headlines import Figure, exact
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

PROGRAM = "ringmaster-simulate-pair"
REAL = "real"
PARTS = ("swaps", "large", "planned", "bits", "quiet", REAL)
MOST_CYCLES = float(MISSED + 2)
"""From the last good datagram to the successor's first."""
ROUNDS_PER_SWAP = 3.2
"""Faults that befall a pair for each unplanned swap: many of them may not lead to any."""
LOOP = ("--application", "feedback", "--set", "loop=1")
SETTINGS = ("--set", "gain=0.5:1", "--operator", "200")
SHARE = 3e-5
"""Of datagrams and of readings that are lost, and that are late."""
QUIET_SHARE = 1e-4
FLOOR_S = 1.0
"""Of a look at the stall floor before real servers."""
LIMIT_S, S_PER_CYCLE = 60.0, 1e-3
"""That a run may take, at most: to begin, and for each cycle."""
US = 1e6


@dataclass(frozen=True)
class Options:
    """What to run, and how much of it."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    swaps: int = option(1000, "Unplanned ones of the small ring, about.", click.IntRange(1))
    large_swaps: int = option(100, "Of the ring with 96 chains.", click.IntRange(1))
    switches: int = option(1000, "Planned ones.", click.IntRange(1))
    cycles: int = option(1_000_000, "With losses and settings, of the application.", click.IntRange(1000))
    quiet_cycles: int = option(10_000_000, "With losses and without faults: an hour has 347 million.",
                               click.IntRange(1000))  # fmt: skip
    seed: int = option(1, "Of all that is random.", click.IntRange(0))
    rounds: int = option(3, "Of real servers, which are started anew in each.", click.IntRange(1))
    real_swaps: int = option(8, "Unplanned ones of a round.", click.IntRange(0))
    real_switches: int = option(2, "Planned ones of a round.", click.IntRange(0))
    seconds: float = option(5.0, "Of a round, in which real servers are left alone.", Finite(0.1))
    cycle_hz: float | None = option(
        None,
        "Of real servers, instead of the rate that the cores carry.",
        Finite(1, 2000),
        flag="--cycle-rate",
        metavar="HZ",
    )


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    part: str
    said: Mapping[str, Any]
    """Its JSON."""

    def count(self, name: str) -> int:
        """Of its figures."""
        return int(self.said[name])

    @property
    def swaps(self) -> Mapping[str, float]:
        """Of a standby that was fit to take over: count, median, max, in cycles."""
        found: Mapping[str, float] = self.said["swap_cycles"]
        return found

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"{self.part}: {self.count('cycles')} cycles, {self.count('swaps')} swaps, {self.swaps['count']:.0f} of a "
            f"standby that was READY within {self.swaps['max']:.2f} cycles; {self.count('violations')} violations, "
            f"{self.count('two_masters')} two masters, {self.count('different_bits')} different bits"
        )


def run_of(part: str, words: str) -> Run:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""

    def read(said: Mapping[str, Any]) -> Run:
        run = Run(part, said)
        assert run.words
        return run

    return figures(PROGRAM, words, read)


class Standby(PartByPart[Options]):
    """Let faults befall a pair of servers, simulated and real, and judge what the chains obey.

    Processes are killed, stopped and resumed, cables cut in each direction, datagrams delayed by 50 ms, chains divided
    between the servers, servers parted from each other, chains switched off, at random moments, one fault or two at
    once. The feedback is closed on a living machine at 96 kHz; the standby makes each of its steps again.
    """

    name, title, options_type = "standby", "Hot standby", Options
    examples = ("", "--json > standby.json", "--parts swaps --swaps 100")
    meanings = """\b
Parts:
  swaps    faults at random moments, a small ring of twelve chains
  large    the same, Elettra 2.0's 96 chains
  planned  switches, at a turn that both agree on
  bits     losses, late datagrams and an operator's settings: does the standby come to the same bits?
  quiet    losses without faults: does it ever take over where it should not?
  real     real servers on two cores: kill -9, SIGSTOP, planned switches, and a quiet while

"""
    about = (
        "Two servers, their network, the virtual chains with their judge and a closed orbit feedback in simulated time "
        "at 96 kHz: the same seed gives the same figures. Real: two servers, their link and one virtual ring on two "
        "cores, over memif, at a rate at which N cycles are twice as long as the cores' longest stall before."
    )

    folder = Path()
    """Of the rings' files."""
    cycle_s = 0.0
    """Of real servers; 0: not yet chosen."""

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many cycles as fit: some 40 000 a second; a third of the time is real."""
        share = max(0.02, min(1.0, seconds / 180.0))
        return Options(
            swaps=int(1000 * share),
            large_swaps=max(2, int(50 * share)),
            switches=max(10, int(500 * share)),
            cycles=int(1_000_000 * share),
            quiet_cycles=int(5_000_000 * share),
            rounds=1,
            real_swaps=max(2, min(8, int(seconds / 6.0))),
            real_switches=1,
            seconds=max(0.5, min(5.0, round(seconds / 15.0, 1))),
        )

    @contextmanager
    def around(self) -> Iterator[None]:
        """Writes the rings' files."""
        with TemporaryDirectory(prefix="ringmaster-standby-") as folder:
            self.folder = Path(folder)
            parts = set(self.options.parts)
            for ring, needed in ((SMALL, parts - {"large", REAL}), (LARGE, parts & {"large"})):
                if needed:
                    (self.folder / ring.name).mkdir()
                    ring.write(self.folder / ring.name)
            yield

    def turns_of(self, part: str) -> Iterable[Turn]:
        """One run each; of real servers one for each round."""
        if part == REAL:
            rounds = self.options.rounds
            return [Turn("", self.run_real, f"{number + 1}/{rounds} ") for number in range(rounds)]
        return [Turn("", partial(self.run_part, part))]

    def run_real(self) -> Round:
        """A look at the stall floor, and then a pair. Raises NotMeasured."""
        options = self.options
        if cores()[0] == cores()[1]:
            raise NotMeasured("needs two cores, one for the ring and one for the servers")
        floor = stall_floor(FLOOR_S, cores())
        self.floors.append(floor)
        self.cycle_s = self.cycle_s or (
            1.0 / options.cycle_hz if options.cycle_hz else carried_cycle_s(floor.longest_us)
        )
        todo = windows_of(options.real_swaps, options.real_switches, options.seconds)
        return run_round(floor, self.cycle_s, todo, self.say)

    def run_part(self, part: str) -> Run:
        """Raises NotMeasured."""
        options = self.options
        of: Mapping[str, tuple[Ring, tuple[str, ...], int]] = {
            "swaps": (SMALL, self._faults(options.swaps, *LOOP, *SETTINGS), 3000 * options.swaps),
            "large": (LARGE, self._faults(options.large_swaps, *LOOP, *SETTINGS), 3000 * options.large_swaps),
            "planned": (SMALL, ("--faults", "switch", "--rounds", str(options.switches), *LOOP),
                        5000 * options.switches),
            "bits": (SMALL, ("--disturbed", str(SHARE), *LOOP, *SETTINGS), options.cycles),
            "quiet": (SMALL, ("--disturbed", str(QUIET_SHARE), "--operator", "1000"), options.quiet_cycles),
        }  # fmt: skip
        ring, arguments, cycles = of[part]
        return self._run(part, ring, *arguments, cycles=cycles)

    @staticmethod
    def _faults(swaps: int, *more: str) -> tuple[str, ...]:
        return ("--faults", "all", "--rounds", str(int(ROUNDS_PER_SWAP * swaps) + 1), *more)

    def _run(self, part: str, ring: Ring, *arguments: str, cycles: int) -> Run:
        files = (self.folder / ring.name / name for name in ("server.yaml", "ring.yaml"))
        words = printed(
            PROGRAM,
            [find_program(PROGRAM), *map(str, files), *arguments, "--missed", str(MISSED), "--json", "--seed",
             str(self.options.seed), "--cycles", str(cycles)],
            LIMIT_S + cycles * S_PER_CYCLE,
        )  # fmt: skip
        return run_of(part, words)

    def run_named(self, part: str) -> Run | None:
        """Of the part; None where it was not asked for, or did not succeed."""
        return next(iter(self.of(part)), None)

    @property
    def runs(self) -> list[Run]:
        """All of them."""
        return [run for part in PARTS if part != REAL for run in self.of(part)]

    @property
    def real(self) -> list[Round]:
        """Rounds of real servers."""
        return self.of(REAL)

    def total(self, name: str) -> Figure | None:
        """Of all runs."""
        return exact(sum(run.count(name) for run in self.runs) if self.runs else None, "runs")

    def headlines(self) -> list[Headline]:
        """As docs/standby.md has them; those of 96 chains where these were run."""
        swaps, planned = self.run_named("large") or self.run_named("swaps"), self.run_named("planned")
        all_swaps = sum(int(run.swaps["count"]) for run in self.runs)
        longest = max((run.swaps["max"] for run in self.runs if run.swaps["count"]), default=None)
        return [
            Headline("simulated.swap_cycles.median", _exact(None if swaps is None else swaps.swaps["median"]), "cycles",
                     about="last good datagram to the first of a standby that was READY and reached a majority"),
            Headline("simulated.swap_cycles.max", _exact(longest), "cycles", MOST_CYCLES, about="of all runs"),
            Headline("simulated.swaps", exact(all_swaps if self.runs else None, "runs"), "", at_most=False,
                     about="unplanned ones, of such a standby"),
            Headline("simulated.planned_missing_cycles", _count(planned, "planned_missing_cycles"), "cycles", 0.0),
            Headline("simulated.planned_duplicate_cycles", _count(planned, "planned_duplicate_cycles"), "cycles", 0.0),
            *(Headline(f"simulated.{name}", self.total(name), "", 0.0)
              for name in ("violations", "two_masters", "different_bits", "false_swaps")),
            *real_headlines(self.real),
        ]  # fmt: skip

    def tables(self) -> list[Table]:
        """What each run saw; swaps by fault; the orbit; real servers."""
        simulated = [_runs(self.runs), *map(_by_fault, self.of("swaps") + self.of("large"))] if self.runs else []
        return simulated + real_tables(self.real)

    def more_notes(self) -> list[str]:
        """What real rounds met; what the simulation had not."""
        return real_notes(self.real) + [
            f"{run.part}: {run.count('unsettled')} times the pair did not come to rest by itself"
            for run in self.runs
            if run.count("unsettled")
        ]

    def probe(self) -> None:
        """Nothing is timed but the rounds of real servers, which look for themselves."""

    def data(self) -> dict[str, object]:
        """Every run."""
        return {"cycle_hz": CYCLE_HZ, "runs": [asdict(run) for run in self.runs], "rounds": real_data(self.real)}


def _exact(value: float | None) -> Figure | None:
    """A length, which is known to a hundredth of a cycle."""
    return None if value is None else Figure(value, value - 0.005, value + 0.005, None, 1, "runs")


def _count(run: Run | None, name: str) -> Figure | None:
    return exact(None if run is None else run.count(name), "runs")


def _runs(runs: list[Run]) -> Table:
    columns: Columns = {
        "run": lambda run: run.part,
        "chains": lambda run: float(run.count("chains")),
        "cycles": lambda run: float(run.count("cycles")),
        "faults": lambda run: float(run.count("rounds")),
        "swaps, READY": lambda run: run.swaps["count"],
        "late": lambda run: run.said["late_cycles"]["count"],
        "begun anew": lambda run: run.said["begin_cycles"]["count"],
        "switched": lambda run: run.said["planned_cycles"]["count"],
        "steps followed": lambda run: float(run.count("followed")),
        "copies of the state": lambda run: float(run.count("copies")),
        "orbit, µm": lambda run: run.said["orbit_nm"]["max"] * 1e-3,
        "after swaps, µm": lambda run: run.said["orbit_nm"]["max_after_swap"] * 1e-3,
    }
    return Table.of(
        "Runs", runs, columns,
        "Late: the standby was not READY when the other one ended, or did not reach a majority. Orbit: the largest RMS "
        "over the BPMs, open loop after each new beginning included; within 200 cycles after a swap.",
    )  # fmt: skip


def _by_fault(run: Run) -> Table:
    rows = [(name, of) for name, of in run.said["after"].items() if of["count"]]
    columns: Columns = {
        "after": lambda row: "two faults" if row[0] == "two" else row[0],
        "swaps": lambda row: row[1]["count"],
        "median, cycles": lambda row: f"{row[1]['median']:.2f}",
        "max, cycles": lambda row: f"{row[1]['max']:.2f}",
        "max, µs": lambda row: f"{row[1]['max'] / CYCLE_HZ * US:.0f}",
    }
    return Table.of(f"Swaps by what befell the pair: {run.part}", rows, columns)
