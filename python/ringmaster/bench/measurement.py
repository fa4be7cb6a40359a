# SPDX-License-Identifier: Apache-2.0
"""What all measurements are: options, turns that peers take by rounds; figures, tables and charts of what was seen.

A new one is a module with its Options and a class like this, and a line in benches.py:

    class Power(Measurement[Options, Window]):
        '''Measure what the machine takes. (The help of `ringmaster bench power`.)'''

        name, title, options_type, about = "power", "Power", Options, "With a server and without, by turns."

        @classmethod
        def peers(cls, options: Options) -> Sequence[str]:
            return ("idle", "loaded")

        def take(self, peer: str) -> Window: …      # with words, for a line while it runs

        def headlines(self) -> list[Headline]: …

Terminal, JSON, page, suite and comparison are made of its section. What stands around all turns, as a program that runs
meanwhile, is in around(). One of several parts, each with turns and rows of its own, is a PartByPart.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.options import command
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import StallFloor, core_to_core_ns, stall_floor
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Chart, Section, Table
from ringmaster.report.verdicts import Headline, conditions_of

OptionsT = TypeVar("OptionsT")
RowT = TypeVar("RowT")
"""What a peer's turn gives."""
Say = Callable[[str], None]
Step = Callable[[], None]
FLOOR_S = 0.5
"""Of each look at the stall floor."""
AROUND_S = 2.0
"""What a step takes besides the time that is measured: programs start, links come up, the machine is probed."""
SHORTEST_S, LONGER = 0.3, 5.0
"""A step is at least so long, and at most so many times what the measurement would choose by itself."""


class Turn(NamedTuple):
    """What is done once."""

    name: str
    """Of the peer, for notes."""
    take: Callable[[], Any]
    """Gives a row, or a list of them. Raises NotMeasured or ProgramFailed, which is noted, and the others go on."""
    of: str = ""
    """Before its words, while it runs: "3/12 "."""
    part: str = ""


class Measurement(Log, Generic[OptionsT, RowT]):
    """One of them while it runs. Of a subclass this text is the help of its command."""

    name: ClassVar[str]
    """As its command calls it: "rtt"."""
    title: ClassVar[str]
    options_type: ClassVar[type[Any]]
    examples: ClassVar[tuple[str, ...]] = ()
    """Options to try, of its command."""
    meanings: ClassVar[str] = ""
    """For its help: a list of what its parts or kinds are."""
    two_cores: ClassVar[str] = ""
    """Why one is not enough: "one for the server and one for the ring"."""
    repeated: ClassVar[str] = "rounds"
    """What its rows are, of which a figure has so many."""
    given_up: ClassVar[int] = 3
    """A turn is not tried again when so many of its name have failed."""
    about: str
    """What was measured, between what and what, and how: a paragraph."""

    def __init__(self, options: OptionsT, say: Say = lambda _: None, step: Step = lambda: None) -> None:
        super().__init__(say)
        self.options, self.step = options, step
        self.rows: list[RowT] = []
        """Of all turns, one after the other; of parts: of the one that is measured."""
        self._failures: Counter[str] = Counter()
        self.floors: list[StallFloor] = []
        self.probes_ns: list[float] = []
        """Round trips of a cache line between the two cores."""
        self.interrupted = False

    @classmethod
    def rounds(cls, options: OptionsT) -> int:
        """How many there are: the option `rounds`, or `windows`."""
        return options.windows if hasattr(options, "windows") else options.rounds  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def peers(cls, _options: OptionsT) -> Sequence[str]:
        """What takes turns in each round; one without a name where a round is one thing."""
        return ("",)

    @classmethod
    def steps(cls, options: OptionsT) -> int:
        """As often as it calls `step`, at most: after every turn."""
        return sum(1 for _ in cls(options).turns())

    @classmethod
    def fitted(cls, seconds: float) -> OptionsT:
        """Options with which it takes about so long: the usual ones, unless it knows better."""
        return fitted(cls.options_type(), cls.steps, seconds)  # type: ignore[no-any-return]

    @contextmanager
    def around(self) -> Iterator[None]:
        """What stands around all turns: looks at the machine, before and after."""
        self.probe()
        yield
        self.probe()

    def turns(self) -> Generator[Turn]:
        """All of them: in each round the peers."""
        rounds = self.rounds(self.options)
        for number in range(rounds):
            for peer in self.peers(self.options):
                yield Turn(peer, partial(self.take, peer), f"{number + 1}/{rounds} ")

    def take(self, peer: str) -> RowT:
        """A turn; the row has `words`, for a line while it runs."""
        raise NotImplementedError

    def measure(self) -> None:
        """All of it. What is kept in the object by then is told, also where an interrupt ends it early."""
        with self.around(), closing(self.turns()) as turns:
            for turn in turns:
                self.do(turn)
                self.step()

    def do(self, turn: Turn) -> None:
        """Keeps what it gives."""
        if self._failures[turn.name] >= self.given_up:
            return
        made = self.attempt(turn.take, turn.name)
        if made is None:
            self._failures[turn.name] += 1
            return
        for row in made if isinstance(made, list) else [made]:
            self.rows.append(row)
            self.say(f"{turn.of}{row.words}")

    def figure(self, value: Callable[[RowT], float | None]) -> Figure | None:
        """Of what each row says, if it says it."""
        return of_values(map(value, self.rows), self.repeated)

    def headlines(self) -> list[Headline]:
        """The figures that stand for all."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """What stands behind them."""
        return []

    def charts(self) -> list[Chart]:
        """The same drawn."""
        return []

    def data(self) -> dict[str, object]:
        """What else belongs into the JSON: every repeat."""
        return {}

    def core_shares(self) -> Sequence[float]:
        """Of their cores that those programs had which poll, 0–1."""
        return ()

    def is_empty(self) -> bool:
        """Whether nothing came of it."""
        return all(row.figure is None for row in self.headlines())

    def more_notes(self) -> Sequence[str]:
        """That are known in the end."""
        return ()

    def on(self) -> Sequence[int]:
        """The cores that programs run on, the sender's first."""
        return cores()

    def probe(self) -> None:
        """Looks at the machine: before, after, between."""
        self.floors.append(stall_floor(FLOOR_S, self.on()))
        self.probe_distance()

    def probe_distance(self) -> None:
        """Of the two cores, if there are two."""
        first, second, *_ = self.on()
        if first != second:
            self.probes_ns.append(core_to_core_ns(first, second))

    def run(self) -> Section:
        """Measures. An interrupt ends it early and in good order. Raises NotMeasured where no figure can be had."""
        if self.two_cores and cores()[0] == cores()[1]:
            raise NotMeasured(f"{self.name}: needs two cores, {self.two_cores}")
        try:
            self.measure()
        except KeyboardInterrupt:
            self.interrupted = True
            self.note("interrupted: what follows is what was measured until then")
        if not self.interrupted and self.is_empty():
            raise NotMeasured(f"{self.name}: {'; '.join(dict.fromkeys(self.notes))}")
        return self.section()

    def section(self) -> Section:
        """All that there is to say of what was measured so far."""
        return Section(
            name=self.name,
            title=self.title,
            about=self.about,
            command=command(self.name, self.options),
            headlines=self.headlines(),
            tables=self.tables(),
            charts=self.charts(),
            conditions=conditions_of(self.probes_ns, self.floors, self.core_shares()),
            notes=list(dict.fromkeys([*self.notes, *self.more_notes()])),
            interrupted=self.interrupted,
            data={"options": asdict(self.options), **self.data()},  # type: ignore[call-overload]
        )


class PartByPart(Measurement[OptionsT, Any]):
    """One of several parts, each with its own turns and rows. A part that is interrupted keeps the rows there are."""

    def __init__(self, options: OptionsT, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.parts: dict[str, list[Any]] = {}
        """Rows of each."""
        self._part = ""

    def of(self, part: str) -> list[Any]:
        """Its rows; none of one that was not asked for."""
        return self.parts.get(part, [])

    def turns_of(self, part: str) -> Iterable[Turn]:
        """Of a part that was asked for."""
        raise NotImplementedError

    def turns(self) -> Generator[Turn]:
        """Part by part."""
        for part in self.options.parts:  # type: ignore[attr-defined]
            yield from self.within(part, self.turns_of(part))

    def within(self, part: str, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Turns whose rows are the part's."""
        return (turn._replace(part=part, name=f"{part}, {turn.name}".removesuffix(", ")) for turn in turns)

    def do(self, turn: Turn) -> None:
        """Keeps it among its part's rows; looks at the cores' distance where a part begins."""
        if turn.part != self._part:
            self._part = turn.part
            self.probe_distance()
        self.rows = self.parts.setdefault(turn.part, [])
        before = len(self.rows)
        super().do(turn)
        self.probes_ns += [row.core_to_core_ns for row in self.rows[before:] if hasattr(row, "core_to_core_ns")]


def fitted(options: Any, steps: Callable[[Any], int], seconds: float) -> Any:
    """The same options with shorter, or longer, steps; with fewer rounds only where steps would be too short."""
    usual_s, rounds = options.seconds, options.rounds
    for fewer in range(rounds, 0, -1):
        chosen = replace(options, rounds=fewer)
        each_s = seconds / max(1, steps(chosen)) - AROUND_S
        if each_s >= SHORTEST_S:
            return replace(chosen, seconds=round(min(each_s, LONGER * usual_s), 1))
    return replace(options, rounds=1, seconds=SHORTEST_S)


def windows_within(seconds: float, each_s: float) -> int:
    """As many as fit."""
    return max(1, min(12, int(seconds / each_s)))
