# SPDX-License-Identifier: Apache-2.0
"""A real pair of servers on two cores that others use, too: killed, stopped, switched as planned, and left alone.

A round looks at the stall floor of the cores while nothing of ours runs there, and then starts the pair and its ring.
A window is what befalls the pair once. Cycles are counted by turns, as the judge of the virtual chains does it. What
the host took from the programs meanwhile stands beside it: cycles that the ring let pass, or the standby.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep

from ringmaster.bench.workspace import own_name
from ringmaster.errors import RequestRefused, RequestUnanswered, WorkspaceError
from ringmaster.fabric.layout import StandbyReason, StandbyRole
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.programs.program import ProgramFailed
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import StallFloor
from ringmaster.standby import names
from ringmaster.standby.figures import StandbyFigures
from ringmaster.standby.switch import NotSwitched, switch
from ringmaster.virtual import pair as virtual_pair
from ringmaster.virtual.pair import Pair, PairServer
from ringmaster.virtual.pair_file import Timing, write_shipped_pair

MISSED = 3
"""N."""
KILL, STOP, SWITCH, QUIET = "kill -9", "SIGSTOP", "switch", "quiet"
SHORTEST_CYCLE_S = 1e-3
STALLS = 2.0
"""N cycles are so many times as long as the longest stall that was seen before: a rate that the cores carry."""
TIMEOUT_CYCLES, LEAST_TIMEOUT_S = 12, 0.1
BEGIN_CYCLES, LEAST_BEGIN_S = 60, 1.0
TRIES = 5
"""Of a planned switch."""
LOOKS_S = 0.05
"""In quiet windows."""
US = 1e6


@dataclass(frozen=True)
class Window:
    """What befell the pair once, and what came of it."""

    what: str
    seconds: float
    """Until the pair was whole again."""
    away_cycles: float
    """That the host took: the ring let their turns pass, or the standby came too late for them. The larger one; of a
    quiet window the most from one look to the next."""
    ended: str = ""
    """Why the other server sends, as a word: took_over, switched; began where it was not fit to take over."""
    swap_cycles: int | None = None
    """From the last datagram that the chains obeyed of the one to the first of the other, as their judge counts; the
    longest of all chains; 1: no cycle was missed."""
    told_cycles: int | None = None
    """The same as the successor tells, from the chains' answers."""
    missing: int | None = None
    """Of a planned switch: cycles around it to which no chain has answered, and to which a chain has answered twice."""
    doubled: int | None = None
    swaps: int = 0
    """In a quiet window, without a reason of ours; and those of them in which a majority saw no gap above N."""
    false_swaps: int = 0

    @property
    def disturbed(self) -> bool:
        """The host took a core for longer than N cycles."""
        return self.away_cycles > MISSED

    @property
    def took_over(self) -> bool:
        """An unplanned swap of a standby that was fit for it."""
        return self.ended == StandbyReason.TOOK_OVER.name.lower()

    @property
    def words(self) -> str:
        """On one line."""
        if self.what == QUIET:
            came = f"{self.seconds:.0f} s, {self.swaps} swaps, {self.false_swaps} of them false"
        elif self.what == SWITCH:
            came = f"{self.missing} cycles missing, {self.doubled} doubled"
        else:
            came = f"{self.swap_cycles} cycles, {self.ended.replace('_', ' ')}, whole again in {self.seconds:.2f} s"
        return f"{self.what}: {came}; the host took {self.away_cycles:.1f} cycles"


@dataclass(frozen=True)
class Round:
    """One pair from its start to its end."""

    floor: StallFloor
    """Before it, without it."""
    cycle_s: float
    windows: tuple[Window, ...]
    judged: Mapping[str, float]
    """What the judge saw of all of it; instruments/chain_judge.h has the names."""
    different_bits: int
    """Steps that the standby made again with other bits."""
    trouble: str = ""
    """What ended it early."""

    @property
    def floor_cycles(self) -> float:
        """The longest stall of the cores."""
        return self.floor.longest_us / US / self.cycle_s

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"real: {len(self.windows)} windows, cycles of {self.cycle_s * 1e3:.2f} ms, stall floor "
            f"{self.floor_cycles:.2f} cycles; judged: {self.judged.get('swaps', 0):.0f} swaps"
        )


def carried_cycle_s(longest_us: float) -> float:
    """Cycles as short as cores with such stalls allow."""
    return max(SHORTEST_CYCLE_S, STALLS * longest_us / US / MISSED)


@contextmanager
def started(cycle_s: float) -> Iterator["RealPair"]:
    """The small shipped pair with its ring, at this pace. Raises ProgramFailed."""
    with scratch_folder("bench") as folder:
        timing = Timing(
            MISSED,
            max(LEAST_TIMEOUT_S, TIMEOUT_CYCLES * cycle_s),
            max(LEAST_BEGIN_S, BEGIN_CYCLES * cycle_s),
        )
        with virtual_pair.start(*write_shipped_pair(Path(folder), own_name(), cycle_s, timing)) as pair:
            yield RealPair(pair)


class RealPair:
    """The pair while it runs."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.different_bits = 0
        self._differences = {server.name: 0 for server in pair.servers}
        """That were counted already, of this life of each server."""

    def settled(self) -> PairServer:
        """Waits until one sends, the other one is READY, and no take-over waits for a person; returns the first."""
        for server in self.pair.servers:
            server.start()
        self.pair.wait(self._at_rest, "one active server and one that is READY, and nothing to acknowledge")
        self.pair.wait(self._ring_seen, "the ring in the workspace of server a")
        self._count_differences()
        active = self.pair.active
        return self.settled() if active is None else active

    def _at_rest(self) -> bool:
        """Acknowledges, of either server, what waits for a person."""
        if not self.pair.whole:
            return False
        waiting = [one for one in self.pair.servers if (figures := one.figures()) and figures.unacknowledged]
        for server in waiting:
            ws = server.attached()
            with suppress(RequestRefused, RequestUnanswered):
                if ws is not None:
                    ws.put(names.ACKNOWLEDGE, 1)
        return not waiting

    def _ring_seen(self) -> bool:
        ws = self.pair.a.attached()
        return ws is not None and bool(_of_set(ws, "supply", "cycles_missed"))

    @contextmanager
    def _ring(self) -> Iterator[Workspace]:
        """What the ring counts. It publishes itself in the workspace of server a, and goes on there when that ends."""
        ws = attach(self.pair.a.workspace)
        try:
            yield ws
        finally:
            ws.close()

    def _count_differences(self) -> None:
        for server in self.pair.servers:
            if (figures := server.figures()) is not None:
                now = sum(int(one.counts["differences"]) for one in figures.followers)
                self.different_bits += max(0, now - self._differences[server.name])
                self._differences[server.name] = now

    def swap(self, what: str) -> Window:
        """Ends the active server; starts it again, or lets it go on, and waits until the pair is whole."""
        gone = self.settled()
        heir, begin = self.pair.other(gone), monotonic()
        with self._ring() as ring:
            before = Counts.of(heir, ring)
            if what == KILL:
                gone.kill()
                self._differences[gone.name] = 0
            else:
                gone.freeze()
            figures = self._confirmed(heir)
            after = Counts.of(heir, ring)
        if what == STOP:
            gone.thaw()
            self.pair.wait(lambda: gone.role != StandbyRole.ACTIVE, f"{gone.name} to learn that it was deposed")
        self.settled()
        return Window(
            what,
            monotonic() - begin,
            after.away_since(before, figures.period_turns),
            figures.reason.name.lower(),
            1 + max(after.missed_since(before)),
            figures.swap_cycles,
        )

    def _confirmed(self, heir: PairServer) -> StandbyFigures:
        """When a majority of the chains obeys it."""

        def there() -> bool:
            found = heir.figures()
            return found is not None and found.sends and found.with_us >= found.majority

        self.pair.wait(there, f"{heir.name} to send, and a majority to obey it")
        figures = heir.figures()
        return self._confirmed(heir) if figures is None else figures

    def switch(self) -> Window:
        """As planned; again where the host changes the roles meanwhile. Raises ProgramFailed where it does not come."""
        for left in reversed(range(TRIES)):
            try:
                return self._switch(self.settled())
            except (NotSwitched, RequestRefused, RequestUnanswered, WorkspaceError) as error:
                if left == 0:
                    raise ProgramFailed(f"planned switch, tried {TRIES} times: {error}") from error
        raise AssertionError

    def _switch(self, active: PairServer) -> Window:
        heir, begin, ws = self.pair.other(active), monotonic(), active.attached()
        if ws is None:
            raise NotSwitched(f"server {active.name} is gone")
        with self._ring() as ring:
            before = Counts.of(heir, ring)
            done = switch(ws)
            figures = self._confirmed(heir)
            after = Counts.of(heir, ring)
        self.settled()
        return Window(
            SWITCH,
            monotonic() - begin,
            after.away_since(before, figures.period_turns),
            figures.reason.name.lower(),
            missing=done.missing_cycles,
            doubled=done.duplicate_cycles,
        )

    def quiet(self, seconds: float) -> Window:
        """Nothing is done to it, and it is looked at which one sends."""
        active, begin = self.settled(), monotonic()
        period_turns = self._confirmed(active).period_turns
        away, swaps, false_swaps = 0.0, 0, 0
        with self._ring() as ring:
            before = Counts.of(active, ring)
            while monotonic() < begin + seconds:
                sleep(LOOKS_S)
                self.pair.check()
                now = Counts.of(active, ring)
                away = max(away, now.away_since(before, period_turns))
                if not now.sends:
                    active = self.settled()
                    now = Counts.of(active, ring)
                    swaps += 1
                    false_swaps += is_false(now.missed_since(before))
                before = now
        return Window(QUIET, monotonic() - begin, away, swaps=swaps, false_swaps=false_swaps)

    def judged(self) -> dict[str, float]:
        """Ends the ring; what the chains' judge saw."""
        self._count_differences()
        return self.pair.judged()


def is_false(missed_cycles: Iterable[int]) -> bool:
    """Whether a swap was one for nothing: a majority of the chains saw no gap above N."""
    votes = [missed < MISSED for missed in missed_cycles]
    return 2 * sum(votes) > len(votes)


@dataclass(frozen=True)
class Counts:
    """What a server has counted, and what the ring has."""

    sends: bool
    skipped_cycles: int
    passed_turns: int
    missed_cycles: Mapping[str, int]
    """By chain: without setpoints that it obeyed."""

    @classmethod
    def of(cls, server: PairServer, ring: Workspace) -> "Counts":
        """Now. Raises ProgramFailed where the server is gone."""
        ws = server.attached()
        figures = server.figures()
        if ws is None or figures is None:
            raise ProgramFailed(f"server {server.name} is gone: {server.words}")
        return cls(
            figures.sends,
            ws.counters("transmit")["skipped"],
            max(_of_set(ring, "sender", "skipped_turns").values(), default=0),
            _of_set(ring, "supply", "cycles_missed"),
        )

    def away_since(self, before: "Counts", period_turns: int) -> float:
        """Cycles that the host took since then."""
        return max(
            self.skipped_cycles - before.skipped_cycles, (self.passed_turns - before.passed_turns) / period_turns, 0.0
        )

    def missed_since(self, before: "Counts") -> list[int]:
        """Cycles, of each chain."""
        return [count - before.missed_cycles.get(chain, 0) for chain, count in self.missed_cycles.items()]


def _of_set(ws: Workspace, counter_set: str, counter: str) -> dict[str, int]:
    return {block.name: block[counter] for block in ws.counter_blocks.values() if block.set_name == counter_set}


Befall = Callable[[RealPair], Window]


def run_round(floor: StallFloor, cycle_s: float, todo: Iterable[Befall], say: Callable[[str], None]) -> Round:
    """One after the other. A window that fails ends the round, which keeps the others; without any it has failed."""
    windows: list[Window] = []
    trouble = ""
    with started(cycle_s) as pair:
        try:
            for one in todo:
                windows.append(one(pair))
                say(windows[-1].words)
        except ProgramFailed as error:
            if not windows:
                raise
            trouble = str(error)
        return Round(floor, cycle_s, tuple(windows), pair.judged(), pair.different_bits, trouble)


def windows_of(swaps: int, switches: int, quiet_s: float) -> list[Befall]:
    """What befalls a pair in a round: quiet first, then kills and stops by turns, with the switches between them."""
    unplanned: list[Befall] = [partial(RealPair.swap, what=(KILL, STOP)[i % 2]) for i in range(swaps)]
    every = max(1, swaps // (switches + 1))
    for i in range(switches):
        unplanned.insert((i + 1) * every + i, RealPair.switch)
    return [partial(RealPair.quiet, seconds=quiet_s), *unplanned]
