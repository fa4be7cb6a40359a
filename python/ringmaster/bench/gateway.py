# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench gateway`: what programs that speak other protocols get, and what that costs the server."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from time import sleep
from typing import Any

from ringmaster.bench import gateway_epics as epics
from ringmaster.bench import gateway_fast_archiver as fast_archiver
from ringmaster.bench import gateway_tango as tango
from ringmaster.bench.gateway_fast_archiver import ALONE, EPICS, READ, Served, Window
from ringmaster.bench.gateway_peers import GATEWAY, missing
from ringmaster.bench.measurement import PartByPart, Turn
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.printed import Times
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline

PARTS = ("epics", "tango", "fast-archiver")
"""In the order in which they are measured: the server of the last takes two cores."""
SETTLES_S = 1.0
ROUND_S = {"epics": 18.0, "tango": 9.0, "fast-archiver": 20.0}
"""About what a round of a part takes, in short turns."""
PUTS = {
    "epics": ("epics", GATEWAY),
    "tango": ("tango", GATEWAY),
    "plain_ioc": ("epics", epics.IOC),
    "plain_tango": ("tango", tango.PLAIN),
}
"""Whose puts they are: a part, and its peer."""


@dataclass(frozen=True)
class Options:
    """How much of it."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    rounds: int = option(3, "Of each part; its peers take turns.", COUNT)
    seconds: float = option(3.0, "Of each turn; of its puts half of it.", Finite(0.1))
    pvs: int = option(1000, "That the client of PV Access monitors.", COUNT)
    clients: int = option(10, "Of the fast archiver at once.", COUNT)


class Gateway(PartByPart[Options]):
    """Measure what clients of the gateways get beside plain servers, and what the receive core does more.

    Clients of the fast archiver take 168 BPMs at 10 kHz, by TCP on loopback. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "gateway", "Gateways", Options
    examples = ("", "--json > gateway.json", "--parts epics --pvs 300 --rounds 2", "--parts fast-archiver --clients 4")
    two_cores = "one for the ring, and one for the server, the gateway and its clients"
    meanings = """\b
Parts:
  epics          updates and puts by PV Access, beside pvxs' IOC of as many PVs
  tango          writes of an attribute, beside a plain PyTango device server
  fast-archiver  ten clients of a server that receives, and its receive core with gateways and without

"""
    about = (
        "By turns in one run, on loopback. PV Access: updates that p4p's client was given of PVs that change ten times "
        "a second each, and puts one after the other, of our gateway and of pvxs' IOC. TANGO: writes of an attribute "
        "of our gateway and of a plain device server. Our gateways ask the parameter's owner, another process; the "
        "others keep the value themselves. Then a server receives 168 BPMs at 10 kHz over memif on one core: ten "
        "clients take all of them from the fast-archiver gateway, or one monitors all PVs of the EPICS gateway, or "
        "there is no gateway."
    )
    _served: Served | None = None

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many rounds as fit."""
        return Options(rounds=max(1, int(seconds / sum(ROUND_S.values()))), seconds=2.0)

    @contextmanager
    def around(self) -> Iterator[None]:
        """A server that was started for a part ends with it."""
        with super().around(), ExitStack() as self._stack:
            yield

    def turns(self) -> Generator[Turn]:
        """Part by part."""
        for part in (part for part in PARTS if part in self.options.parts):
            yield from self.within(part, self.turns_of(part))

    def turns_of(self, part: str) -> Iterable[Turn]:
        """By rounds; none of what needs packages that are not there, which a note says."""
        pvs, seconds = self.options.pvs, self.options.seconds
        if part == "epics":
            return self._rounds(part, epics.NEEDED, (GATEWAY, epics.IOC), lambda it: epics.take(it, pvs, seconds))
        if part == "tango":
            return self._rounds(part, tango.NEEDED, (GATEWAY, tango.PLAIN), lambda it: tango.take(it, seconds))
        has_epics = not missing(*epics.NEEDED)
        return self._rounds(part, (), (ALONE, READ, ALONE, EPICS) if has_epics else (ALONE, READ), self._window)

    def _rounds(self, part: str, needed: Sequence[str], peers: Sequence[str], take: Any) -> Iterator[Turn]:
        if words := missing(*needed):
            self.note(f"{part}: not measured: {words}")
            return
        for number in range(self.options.rounds):
            for peer in peers:
                yield Turn(peer, partial(take, peer), f"{number + 1}/{self.options.rounds} ")

    def _window(self, gateway: str) -> Window:
        """Beside a server that receives, which the first of them starts."""
        if self._served is None:
            self._served = self._stack.enter_context(fast_archiver.served())
            sleep(SETTLES_S)
        seconds = self.options.seconds
        if gateway == ALONE:
            return self._served.without(seconds)
        if gateway == EPICS:
            return self._served.with_epics(seconds)
        return self._served.with_clients(self.options.clients, seconds)

    def _puts(self, part: str, peer: str) -> list[Times]:
        return [row.put for row in self.of(part) if row.peer == peer]

    def headlines(self) -> list[Headline]:
        """Of the parts that were asked for: updates, then puts, then the fast archiver and the receive core."""
        parts = self.options.parts
        found = epics.headlines(self.of("epics")) if "epics" in parts else []
        for name, whose in ((name, whose) for name, whose in PUTS.items() if whose[0] in parts):
            times = self._puts(*whose)
            for what, about in (("median", "p50"), ("p99", "p99")):
                figure = of_values((getattr(each, what) / 1e3 for each in times), "rounds")
                found.append(Headline(f"put_us.{name}.{about}", figure, "µs", about=f"put, {about}"))
        return [*found, *(fast_archiver.headlines(self.of("fast-archiver")) if "fast-archiver" in parts else ())]

    def tables(self) -> list[Table]:
        """All turns."""
        columns = {"epics": epics.COLUMNS, "tango": tango.COLUMNS, "fast-archiver": fast_archiver.COLUMNS}
        titles = {"epics": "PV Access", "tango": "TANGO", "fast-archiver": "Beside a server that receives"}
        return [
            Table.of(f"{titles[part]}, turn by turn", rows, columns[part]) for part, rows in self.parts.items() if rows
        ]

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": {part: [asdict(row) for row in rows] for part, rows in self.parts.items()}}
