# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench rtt`: the round trip time between two processes on two cores, by DPDK and by the kernel's sockets.

A sender on one core sends probes on a schedule, a reflector on another sends each back. Every way of doing so gets its
turn in every round, on an idle machine and on a loaded one; between two virtual ends that the bench makes, or between
two cards with a cable, as the paper does it.
"""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import click

from ringmaster.bench import rtt_tables
from ringmaster.bench.distribution import Distribution
from ringmaster.bench.link_options import MOST_HZ, LinkOptions, size_option
from ringmaster.bench.links import LEAST_BYTES, Pair, about, linked, mtu_of, way_of
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import FLOOR_S, Measurement, Turn
from ringmaster.bench.options import COUNT, SECONDS, Finite, SomeOf, WrongOptions, option
from ringmaster.bench.placements import Placements, card_node, find_placements, isolated_cores
from ringmaster.bench.rtt_run import LOADS, Probes, Round, Variant, run
from ringmaster.bench.rtt_tables import Pooled
from ringmaster.bench.stress import loaded
from ringmaster.programs.cores import allowed_cores
from ringmaster.report.conditions import stall_floor
from ringmaster.report.section import Section

MOST_PROBES = 20_000_000
"""In a round: half a gigabyte of time stamps."""
WARM_UP_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Options(LinkOptions):
    """What to measure, and for how long."""

    rate_hz: float = option(5_000.0, "Probes a second, on a schedule.", Finite(1, MOST_HZ), flag="--rate", metavar="HZ")
    """Seldom enough that each is back before the next, so that what sleeps for it does sleep."""
    seconds: float = option(2.0, "Of a round.", SECONDS)
    rounds: int = option(3, "Of each way and load.", COUNT)
    size: int = size_option(LEAST_BYTES)
    loads: tuple[str, ...] = option(LOADS, "", SomeOf(LOADS), metavar="LOAD,…")
    delay_us: float = option(0.0, "", Finite(0), hidden=True)
    """Injected by the reflector, for tests."""
    drop_every: int = option(0, "", click.IntRange(0), hidden=True)
    """The reflector keeps every so many-th for itself, for tests."""

    def __post_init__(self) -> None:
        """Raises WrongOptions."""
        super().__post_init__()
        if self.rate_hz * self.seconds > MOST_PROBES:
            raise WrongOptions(
                f"--rate {self.rate_hz:g} for --seconds {self.seconds:g}: {self.rate_hz * self.seconds:,.0f} probes in "
                f"a round, expected up to {MOST_PROBES:,}; more --rounds make more"
            )

    @property
    def ways(self) -> tuple[str, ...]:
        """Names of what is measured by turns; a number tells those of one kind apart."""
        kinds = [way_of(left) for left in self.left]
        before = [kinds[:place].count(kind) for place, kind in enumerate(kinds)]
        names = tuple(f"{kind} {count + 1}" if count else kind for kind, count in zip(kinds, before, strict=True))
        return names or self.kinds

    @property
    def probes(self) -> Probes:
        """Of a round."""
        return Probes(self.rate_hz, self.seconds, WARM_UP_S, self.size, self.delay_us, self.drop_every)

    @property
    def places(self) -> Placements:
        """The cores that there are to choose from."""
        return find_placements(allowed_cores(), card_node(self.left[0]) if self.left else None)


class RoundTrips(Measurement[Options, Round]):
    """Measure the round trip time between two processes on two cores: DPDK beside the kernel's sockets.

    A sender sends probes on a schedule, a reflector sends each back; the time is from when a probe was due, so that no
    stall hides those that it delayed. Each way has its turn in every round, idle and under load (stress-ng, top -d0),
    on ordinary and on isolated cores where there are any. Over virtual links that it makes, or between two cards with
    a cable. Ctrl-C prints what was measured so far.
    """

    name, title, options_type, given_up = "rtt", "Round trip time", Options, 1
    examples = (
        "",
        "--report out --rounds 5 --seconds 10",
        "--kinds memif,raw,udp --loads idle --json > rtt.json",
        "--left pci:0000:03:00.0 --right pci:0000:03:00.1",
        "--left raw:eth1 --right raw:eth2 --left raw:eth1,wait=spin --right raw:eth2,wait=spin",
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.places = options.places
        self.loads: dict[str, str] = {}
        """What ran meanwhile, by load."""

    @classmethod
    def steps(cls, options: Options) -> int:
        """A step for each round of each way."""
        return options.rounds * len(options.loads) * len(options.ways) * len(options.places.found)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Looks at all cores that there are to choose from."""
        cores = [core for place in self.places.found for core in place.cores]
        self.floors.append(stall_floor(FLOOR_S, cores))
        yield
        self.floors.append(stall_floor(FLOOR_S, cores))

    def turns(self) -> Generator[Turn]:
        """All ways by turns, under each load."""
        loads = list(self.options.loads)
        for _ in range(self.options.rounds):
            for load in loads.copy():
                try:
                    yield from self._under(load)
                except NotMeasured as error:
                    loads.remove(load)
                    self.note(f"not measured: {error}")

    def _under(self, load: str) -> Iterator[Turn]:
        """Every way once, under a load: on the cores that the kernel hands out by itself."""
        isolated = isolated_cores()
        ordinary = [core for core in allowed_cores() if core not in isolated]
        with loaded(ordinary) if load == "loaded" else nullcontext("nothing") as what:
            self.loads[load] = what
            for way, name in enumerate(self.options.ways):
                for place in self.places.found:
                    yield Turn(f"{name}, {load}", partial(self._round, way, Variant(name, place, load)))

    def do(self, turn: Turn) -> None:
        """A round that was interrupted is the last."""
        super().do(turn)
        if self.rows and self.rows[-1].interrupted:
            raise KeyboardInterrupt

    def _round(self, way: int, variant: Variant) -> Round:
        with ExitStack() as stack:
            return run(variant, self._pair(way, stack), self.options.probes)

    def _pair(self, way: int, stack: ExitStack) -> Pair:
        options = self.options
        if options.endpoints:
            left, right = options.endpoints[way]
            return Pair(options.ways[way], way_of(left), (left,), (right,))
        return stack.enter_context(linked(options.kinds[way], mtu=mtu_of(options.size)))

    @property
    def pooled(self) -> list[Pooled]:
        """Rounds by variant."""
        return rtt_tables.pool(self.rows)

    @property
    def about(self) -> str:  # type: ignore[override]
        """Which processes, on which cores, over which links."""
        options = self.options
        places = "; ".join(f"{place.name} {place.cores[0]} and {place.cores[1]}" for place in self.places.found)
        between = [f"{left} to {right}" for left, right in options.endpoints] or map(about, options.kinds)
        ways = "; ".join(f"{name}: {what}" for name, what in zip(options.ways, between, strict=True))
        loaded_by = f" Loaded by {self.loads['loaded']}." if "loaded" in self.loads else ""
        return (
            f"A sender and a reflector, two processes on {places}. {options.rate_hz:g} probes a second of "
            f"{options.size} bytes on a schedule, {options.rounds} rounds of {options.seconds:g} s for each way and "
            f"load, by turns, each after {WARM_UP_S:g} s of warm-up. {ways}.{loaded_by}"
        )

    headlines, tables, charts = rtt_tables.headlines, rtt_tables.tables, rtt_tables.charts

    def section(self) -> Section:
        """With the probes around all rounds."""
        self.probes_ns = [probe for done in self.rows for probe in done.core_to_core_ns]
        return super().section()

    def core_shares(self) -> list[float]:
        """Of idle rounds, for a load has its own share; of programs that poll."""
        idle = [done for done in self.rows if done.variant.load == "idle"]
        polled = [done for done in idle if not rtt_tables.sleeps(done.variant.way)]
        return [share for done in polled for share in (done.sender_share, done.reflector_share)]

    def more_notes(self) -> list[str]:
        """What to doubt, and what is not here."""
        doubts = [note for one in self.pooled for note in _doubts(one)]
        return doubts + [f"not here: {note}" for note in self.places.notes]

    def data(self) -> dict[str, object]:
        """Every round."""
        return {
            "placements": [asdict(place) for place in self.places.found],
            "loads": self.loads,
            "rounds": [_as_json(done) for done in self.rows],
        }


def _doubts(one: Pooled) -> Iterator[str]:
    """What to know of a variant's figures."""
    if one.lost:
        yield f"{one.name}: {one.lost:,} of {one.probes:,} probes were lost"
    if one.variant.load == "idle":
        yield from _disturbances(one)
    elif one.variant.placement.name.startswith("ordinary"):
        yield (
            "loaded, ordinary cores: the load runs on the cores that are measured; a program that polls has its share "
            "of them (see Rounds) and waits for the rest, one that sleeps is woken soon"
        )
    for stamps in sorted({str(done.said.get("hardware_stamps", "none")) for done in one.rounds} - {"none"}):
        yield f"{one.name}: hardware time stamps of the card: {stamps}"


def _disturbances(one: Pooled) -> Iterator[str]:
    late_share = one.summed("sent_late") / max(1, one.probes)
    late = f"{late_share:.0%} of the probes were sent more than a period late"
    disturbed = len(one.rounds) - len(one.undisturbed)
    if disturbed and not rtt_tables.sleeps(one.variant.way):
        rounds = f"in {disturbed} of {len(one.rounds)} rounds others used this machine"
        yield f"{one.name}: {rounds}, sender or reflector had {min(one.least_shares):.0%} of its core; {late}"
    elif disturbed or late_share > rtt_tables.SENT_LATE:
        yield f"{one.name}: {late}: others use this machine, or the rate is more than it can send"


def _as_json(done: Round) -> dict[str, object]:
    """A round without its samples."""
    kept = {name: value for name, value in vars(done).items() if name not in ("due_us", "sent_us", "variant")}
    due, sent = Distribution.of(done.due_us, done.lost), Distribution.of(done.sent_us, done.lost)
    figures = {"due_us": asdict(due) if due else None, "sent_us": asdict(sent) if sent else None}
    return {**asdict(done.variant), **kept, **figures}
