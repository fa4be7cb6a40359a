# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench forward`: packets a second through one forwarding core, beside testpmd's `macswap`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import click

from ringmaster.bench import forward_loss
from ringmaster.bench.forward_kernel import BesideKernel, beside_kernel
from ringmaster.bench.forward_loss import IMIX, Carried
from ringmaster.bench.forward_peers import IO, MACSWAP, ROUTE, Offer, send_through
from ringmaster.bench.measurement import PartByPart, Turn, windows_within
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.printed import figures, printed
from ringmaster.bench.receivers import NO_TESTPMD, has_testpmd
from ringmaster.bench.windows import NEIGHBOURS, TESTPMD, Window, compare, ratios_of
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import Probed
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline, spread_cell

PARTS = ("rate", "load", "loss", "kernel")
RATIO, RATIO_MANY, LOAD_S = 1.0, 0.8, 10.0
"""Targets: of one route and of many beside testpmd, at least; of a million routes, at most."""
MANY, MILLION = 100_000, 1_000_000
LIMIT_S = 300.0
LEAST_BYTES, LONGEST_BYTES = 64, 9600


class Sizes(click.ParamType[tuple[str, ...]]):
    """Bytes of frames, or the mix, with commas between; each once."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """In the order in which they were given."""
        found = tuple(dict.fromkeys(part.strip() for part in value.split(",")))
        for size in found:
            if size != IMIX and not (size.isdecimal() and LEAST_BYTES <= int(size) <= LONGEST_BYTES):
                self.fail(f"found {size!r}, expected {LEAST_BYTES} to {LONGEST_BYTES}, or {IMIX}", param, ctx)
        return found


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    windows: int = option(6, "Of each figure; the median and its spread are theirs.", COUNT)
    seconds: float = option(0.3, "Length of a window or trial.", Finite(0.05))
    routes: int = option(MANY, "Of the windows with many.", click.IntRange(2, 1 << 20))
    sizes: tuple[str, ...] = option(
        ("64", "1518", IMIX), "Bytes of frames whose rate without loss is sought, or imix.", Sizes(), metavar="SIZE,…"
    )


@dataclass(frozen=True, kw_only=True)
class Forwarded(Window):
    """One window of one that forwards; its rate is what came out."""

    load_s: float
    """What its routes took to be loaded by command."""


@dataclass(frozen=True)
class Loaded:
    """So many routes into both tables of a router, on one core."""

    routes: int
    seconds: float
    cpu_seconds: float
    """That this core was there for it."""
    memory_mib: int

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"{self.routes} routes in {self.cpu_seconds:.1f} s of a core ({self.seconds:.1f} s), {self.memory_mib} MiB"
        )


RATES: Columns = {
    "to": lambda row: row.load,
    "class": lambda row: row.distance,
    "route Mpps": lambda row: spread_cell(row.figure(ROUTE, "rate_pps"), 1e6),
    "testpmd macswap Mpps": lambda row: spread_cell(row.figure(TESTPMD, "rate_pps"), 1e6),
    "our macswap Mpps": lambda row: spread_cell(row.figure(MACSWAP, "rate_pps"), 1e6),
    "our io Mpps": lambda row: spread_cell(row.figure(IO, "rate_pps"), 1e6),
    "ratio": lambda row: row.figure(ROUTE, "ratio"),
    "left out": lambda row: str(row.starved + sum(row.disturbed.values())),
}
LOSSES: Columns = {
    "bytes": lambda row: row.size,
    "peer": lambda row: row.peer,
    "NDR Mpps": lambda row: f"{row.ndr_pps / 1e6:.2f}",
    "PDR Mpps": lambda row: f"{row.pdr_pps / 1e6:.2f}",
    "trials": lambda row: str(len(row.trials)),
    "p50 µs at NDR/2": lambda row: f"{row.delay.p50_ns / 1e3:.1f}" if row.delay else "",
    "p99 µs": lambda row: f"{row.delay.p99_ns / 1e3:.1f}" if row.delay else "",
    "longest pause µs": lambda row: f"{row.delay.longest_pause_us:.0f}" if row.delay else "",
    "stall floor µs": lambda row: f"{row.delay.stall_floor_us:.0f}" if row.delay else "",
}


BESIDE: Columns = {
    "route Mpps": lambda row: f"{row.route_pps / 1e6:.3f}",
    "kernel Mpps": lambda row: f"{row.kernel_pps / 1e6:.3f}",
    "ratio": lambda row: f"{row.ratio:.2f}",
}


class Forward(PartByPart[Options]):
    """Measure packets a second through one forwarding core, beside testpmd's `macswap`, over memif.

    The same program is at both ends of each: it offers frames of 64 bytes and counts those that come out. Our router
    looks each packet up in its routes; `io` and `macswap` are its plain modes. Uses two cores. Ctrl-C prints what was
    measured so far.
    """

    name, title, options_type = "forward", "Forwarding", Options
    examples = ("", "--json > forward.json", "--parts rate --windows 12", "--parts loss --sizes 64,9000,imix")
    two_cores = "one that forwards and one for both ends of it"
    meanings = """\b
Parts:
  rate    one route, and many with random destinations, beside testpmd and our own plain modes
  load    how long a million routes take
  loss    the highest rate without loss, and with 0.5 % of it; the latency at half of the first,
          beside the stall floor: the longest gap of a program that only looks at the clock
  kernel  our router with AF_XDP ports beside the kernel's, on the same veth links (root)

"""
    about = (
        "Packets a second through one forwarding core over two memif links, 64 bytes unless said otherwise, beside "
        "dpdk-testpmd's macswap on the same links, which looks nothing up. Peers take turns."
    )

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many windows as fit, without the search for rates."""
        return replace(Options(), parts=("rate", "load"), windows=windows_within(seconds, 10.0))

    @contextmanager
    def around(self) -> Iterator[None]:
        """Says what is missing."""
        if not has_testpmd():
            self.note(NO_TESTPMD)
        with super().around():
            yield
        if unresolved(self._added()):
            self.note("added_ns: windows of this host differ by more than routing adds; see its spread, and --windows")

    def _added(self) -> Figure | None:
        return of_values(added_ns(self.of("rate"), Offer().load), "pairs of windows")

    def turns_of(self, part: str) -> Iterable[Turn]:
        """Windows; a load; a search for each size and peer."""
        if part == "load":
            return [Turn("load", _load)]
        if part == "kernel":
            return [Turn("kernel", partial(beside_kernel, self.options.seconds)) for _ in range(self.options.windows)]
        if part == "loss":
            peers = [ROUTE, TESTPMD] if has_testpmd() else [ROUTE]
            return [Turn(peer, partial(self._search, peer, size)) for size in self.options.sizes for peer in peers]
        return self._windows()

    def _windows(self) -> Iterator[Turn]:
        one, many = Offer(), Offer(destinations=self.options.routes)
        other = [TESTPMD] if has_testpmd() else []
        plan = [(ROUTE, one), *((peer, one) for peer in other), (IO, one), (MACSWAP, one)]
        plan += [(ROUTE, many), *((peer, many) for peer in other)]
        for number in range(self.options.windows):
            for peer, offer in plan if number % 2 == 0 else plan[::-1]:
                window = partial(measure_window, peer, offer, self.options.seconds)
                yield Turn(peer, window, f"{number + 1}/{self.options.windows} ")

    def _search(self, peer: str, size: str) -> Carried:
        seconds = self.options.seconds
        return forward_loss.carried(peer, size, seconds, forward_loss.unlimited_pps(peer, size, seconds))

    def core_shares(self) -> list[float]:
        """Of the ends and of what forwards."""
        return [share for row in self.of("rate") for share in (row.sender_share, row.receiver_share)]

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        one, many = Offer().load, Offer(destinations=self.options.routes).load
        rows = self.of("rate")
        ratio = of_values(ratios_of(rows, one, ROUTE), "pairs of windows")
        ratio_many = of_values(ratios_of(rows, many, ROUTE), "pairs of windows")
        ratio_macswap = of_values(ratios_of(rows, one, MACSWAP), "pairs of windows")
        load = of_values((row.cpu_seconds for row in self.of("load")), "loads")
        kernel = of_values((row.ratio for row in self.of("kernel")), "pairs of windows")
        found = [
            Headline("ratio_to_testpmd", ratio, "×", RATIO, False, "one route, to testpmd macswap"),
            Headline("ratio_100k_routes", ratio_many, "×", RATIO_MANY, False, f"{self.options.routes} routes"),
            Headline("million_routes_s", load, "s", LOAD_S, about="of one core, into both tables"),
            Headline("added_ns", self._added(), "ns", about="a packet, by routing, over our own io"),
            Headline("ratio_to_kernel", kernel, "×", about="on the same veth links, with AF_XDP ports"),
            Headline("ratio_macswap", ratio_macswap, "×", about="our own macswap, to testpmd's"),
        ]
        for row in self.of("loss"):
            for name, rate in (("ndr", row.ndr_pps), ("pdr", row.pdr_pps)):
                figure = of_values([rate / 1e6], "searches")
                found.append(Headline(f"{name}_mpps.{row.peer}.{row.size}", figure, "Mpps"))
            for name, ns in (("p50", row.delay.p50_ns), ("p99", row.delay.p99_ns)) if row.delay else ():
                figure = of_values([ns / 1e3], "windows")
                found.append(Headline(f"latency_{name}_us.{row.peer}.{row.size}", figure, "µs", about="at NDR ÷ 2"))
        return found

    def tables(self) -> list[Table]:
        """Rates, and rates without loss."""
        compared = compare(self.of("rate"), ("rate_pps",))
        rates = [Table.of("Packets a second through one core over memif", compared, RATES)] if compared else []
        losses = self.of("loss")
        beside: list[BesideKernel] = self.of("kernel")
        rates += [Table.of("Beside the kernel, on veth links", beside, BESIDE)] if beside else []
        return rates + ([Table.of("Rates without loss, and with 0.5 %", losses, LOSSES)] if losses else [])

    def data(self) -> dict[str, object]:
        """Every row."""
        tables: dict[str, object] = {part: [asdict(row) for row in self.of(part)] for part in PARTS}
        tables["rate_comparisons"] = [asdict(row) for row in compare(self.of("rate"), ("rate_pps",))]
        return {"tables": tables}


def measure_window(peer: str, offer: Offer, seconds: float) -> Forwarded:
    """One window. Raises NotMeasured."""
    with Probed(*cores()) as probed:
        through = send_through(peer, offer, seconds)
    return Forwarded(
        peer=peer,
        load=offer.load,
        rate_pps=through.received / through.seconds,
        core_to_core_ns=probed.ns,
        distance=probed.distance,
        sender_share=through.ends_share,
        receiver_share=through.forwarder_share,
        sub_rates_pps=through.sub_rates_pps,
        load_s=through.load_s,
    )


def added_ns(windows: list[Forwarded], load: str) -> list[float]:
    """What a packet takes more by routing than by our io: of near windows that count, one after the other."""
    found = []
    for i, routed in enumerate(windows):
        near = (windows[i + step] for step in NEIGHBOURS if 0 <= i + step < len(windows))
        plain = next((one for one in near if (one.peer, one.load) == (IO, load) and one.counts), None)
        if (routed.peer, routed.load) == (ROUTE, load) and routed.counts and plain is not None:
            found.append(1e9 / routed.rate_pps - 1e9 / plain.rate_pps)
    return found


def unresolved(figure: Figure | None) -> bool:
    """Whether its spread has both signs, so that it says nothing of what it is about."""
    return figure is not None and figure.low <= 0 <= figure.high


def loaded_of(words: str) -> Loaded:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    return figures("ringmaster-route-load", words, lambda said: Loaded(**said))


def _load() -> Loaded:
    command = ["taskset", "-c", str(cores()[1]), find_program("ringmaster-route-load"), str(MILLION)]
    return loaded_of(printed("load", command, LIMIT_S))
