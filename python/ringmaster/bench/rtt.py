# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench rtt`: the round trip time between two processes on two cores, by DPDK and by the kernel's sockets.

A sender on one core sends probes on a schedule, a reflector on another sends each back. Every way of doing so gets its
turn in every round, on an idle machine and on a loaded one; between two virtual ends that the bench makes, or between
two cards with a cable, as the paper does it.
"""

from collections.abc import Callable
from contextlib import ExitStack, nullcontext

from ringmaster.bench.distribution import Distribution
from ringmaster.bench.links import Pair, linked, way_of
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.placements import Placement, Placements, card_node, find_placements, isolated_cores
from ringmaster.bench.rtt_options import MOST_PROBES, Options
from ringmaster.bench.rtt_run import Probes, Round, Variant, run
from ringmaster.bench.rtt_section import Measured, section_of
from ringmaster.bench.stress import loaded
from ringmaster.programs.cores import allowed_cores
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import stall_floor
from ringmaster.report.section import Section
from ringmaster.report.verdicts import number

__all__ = ["MOST_PROBES", "Options", "measure", "steps"]

FLOOR_S = 0.5


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return options.rounds * len(options.loads) * len(options.ways) * len(placements(options).found)


def placements(options: Options) -> Placements:
    """The cores that there are to choose from."""
    card = card_node(options.endpoints[0][0]) if options.endpoints else None
    return find_placements(allowed_cores(), card)


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Measures all ways by turns. Ctrl-C ends it early and in good order. Raises NotMeasured where none can be had."""
    bench = _Bench(options, Log(say))
    bench.measure(step)
    measured = bench.measured
    if not measured.rounds and not measured.interrupted:
        raise NotMeasured("; ".join(dict.fromkeys(bench.log.notes)))
    return section_of(options, measured, bench.log)


class _Bench:
    """A run, and what there is of it so far."""

    def __init__(self, options: Options, log: Log) -> None:
        self.options = options
        self.log = log
        self.measured = Measured(placements(options))
        self._given_up: set[str] = set()
        """What failed once is not tried again: a load, or a way."""

    def measure(self, step: Callable[[], None]) -> None:
        """All rounds, or until Ctrl-C."""
        try:
            self._look_at_floor()
            for _ in range(self.options.rounds):
                for load in self.options.loads:
                    self._under(load, step)
            self._look_at_floor()
        except KeyboardInterrupt:
            self.measured.interrupted = True
            self.log.note("interrupted: what follows is what was measured until then")

    def _look_at_floor(self) -> None:
        cores = [core for place in self.measured.places.found for core in place.cores]
        self.measured.floors.append(stall_floor(FLOOR_S, cores))

    def _under(self, load: str, step: Callable[[], None]) -> None:
        """Every way once, under a load: on the cores that the kernel hands out by itself."""
        if load in self._given_up:
            return
        isolated = isolated_cores()
        ordinary = [core for core in allowed_cores() if core not in isolated]
        try:
            with loaded(ordinary) if load == "loaded" else nullcontext("nothing") as what:
                self.measured.loads[load] = what
                for way in range(len(self.options.ways)):
                    for place in self.measured.places.found:
                        self._once(way, place, load)
                        step()
        except NotMeasured as error:
            self._given_up.add(load)
            self.log.note(f"not measured: {error}")

    def _once(self, way: int, place: Placement, load: str) -> None:
        """One round of one way; where it fails, that way is given up and the others go on."""
        name = self.options.ways[way]
        if name in self._given_up:
            return
        try:
            with ExitStack() as stack:
                done = run(Variant(name, place, load), self._pair(way, stack), _probes(self.options))
        except (NotMeasured, ProgramFailed) as error:
            self._given_up.add(name)
            self.log.note(f"{name}, {load}: not measured: {error}")
            return
        self.measured.rounds.append(done)
        self.log.say(_words(done))
        if done.interrupted:
            raise KeyboardInterrupt

    def _pair(self, way: int, stack: ExitStack) -> Pair:
        if self.options.endpoints:
            left, right = self.options.endpoints[way]
            return Pair(self.options.ways[way], way_of(left), (left,), (right,))
        return stack.enter_context(linked(self.options.kinds[way], mtu=self.options.mtu))


def _probes(options: Options) -> Probes:
    return Probes(
        rate_hz=options.rate_hz,
        seconds=options.seconds,
        warm_up_s=options.warm_up_s,
        size=options.size,
        delay_us=options.delay_us,
        drop_every=options.drop_every,
    )


def _words(done: Round) -> str:
    """A round on one line."""
    figures = Distribution.of(done.due_us, done.lost)
    came = f"median {number(figures.quantiles['median'])} µs, most {number(figures.most)}" if figures else "none came"
    return f"{done.variant.way}, {done.variant.load}: {came}, {done.lost} lost, cores {done.distance}"
