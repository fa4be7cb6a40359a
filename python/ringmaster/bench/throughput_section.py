# SPDX-License-Identifier: Apache-2.0
"""What the windows of `ringmaster bench throughput` come to: headlines, and tables in the form of the slides."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from ringmaster.bench import cpu_time
from ringmaster.bench.throughput_cases import Case, senders_words
from ringmaster.bench.throughput_loss import Losses
from ringmaster.bench.throughput_window import Window
from ringmaster.bench.zero_loss import Search
from ringmaster.report import published
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, number

ROUNDS = "windows"
NONE = "–"


@dataclass
class Found:
    """All that was measured, in the order of time."""

    windows: list[Window] = field(default_factory=list)
    searches: dict[Case, Search] = field(default_factory=dict)

    def of(self, case: Case) -> list[Window]:
        """Windows of a case that count: those that had their cores; all of them where none had."""
        here = [window for window in self.windows if window.case == case]
        return [window for window in here if window.whole] or here

    def middle(self, case: Case, figure: Callable[[Window], float]) -> float | None:
        """The median; None of nothing."""
        values = [figure(window) for window in self.of(case)]
        return median(values) if values else None

    def groups(self) -> dict[tuple[int, int], list[Case]]:
        """Cases by MTU and number of senders: a plot of the slides each."""
        groups: dict[tuple[int, int], list[Case]] = {}
        for case in dict.fromkeys(window.case for window in self.windows):
            groups.setdefault((case.mtu, case.senders), []).append(case)
        return groups


def group_words(mtu: int, senders: int) -> str:
    """As "MTU 1500, one sender"."""
    return f"MTU {mtu}, {senders_words(senders)}"


def kinds_of(cases: Sequence[Case]) -> list[str]:
    """In their order."""
    return list(dict.fromkeys(case.kind for case in cases))


def sizes_of(cases: Sequence[Case]) -> list[int]:
    """Rising."""
    return sorted({case.size for case in cases})


def headlines(found: Found) -> list[Headline]:
    """Of each MTU and kind, with the fewest senders: the rate of the smallest datagrams, throughput of the largest."""
    lines = []
    fewest = min((senders for _, senders in found.groups()), default=1)
    for (mtu, senders), cases in found.groups().items():
        if senders != fewest:
            continue
        smallest, largest = sizes_of(cases)[0], sizes_of(cases)[-1]
        tail = f"mtu{mtu}.senders{senders}"
        for case in cases:
            if case.size == smallest:
                rates = of_values([window.pps / 1e3 for window in found.of(case)], ROUNDS)
                lines.append(Headline(f"khz.{case.kind}.{tail}", rates, "kHz", about=f"{case.size} B"))
        for case in cases:
            if case.size == largest:
                throughputs = of_values([window.gbps for window in found.of(case)], ROUNDS)
                lines.append(Headline(f"gbps.{case.kind}.{tail}", throughputs, "Gb/s", about=f"{case.size} B"))
    return lines


def throughput_table(found: Found, mtu: int, senders: int) -> Table:
    """Throughput and datagram rate over size, all kinds beside each other."""
    cases = found.groups()[mtu, senders]
    kinds = kinds_of(cases)
    head = ("B", *(f"{kind}\n{unit}" for kind in kinds for unit in ("Gb/s", "kHz")))
    rows = []
    for size in sizes_of(cases):
        cells = [_throughput(found, Case(kind, size, mtu, senders)) for kind in kinds]
        rows.append((str(size), *(cell for pair in cells for cell in pair)))
    about = "B: payload of each datagram. Gb/s: payload received. kHz: datagrams received. Medians of the windows."
    return Table(f"Throughput and datagram rate, {group_words(mtu, senders)}", head, rows, about)


def _throughput(found: Found, case: Case) -> tuple[str, str]:
    values = (found.middle(case, lambda window: window.gbps), found.middle(case, lambda window: window.pps / 1e3))
    return NONE if values[0] is None else number(values[0]), NONE if values[1] is None else number(values[1])


def beside_table(found: Found, mtu: int, senders: int, peer: str) -> Table:
    """Datagram rates as multiples of one kind's in the same round."""
    cases = found.groups()[mtu, senders]
    kinds = [kind for kind in kinds_of(cases) if kind != peer]
    rows = [
        (str(size), *(_ratio(found, Case(kind, size, mtu, senders), peer) for kind in kinds))
        for size in sizes_of(cases)
    ]
    about = "Medians of pairs of windows of one round; in brackets the least and the most."
    title = f"Datagram rate as a multiple of {peer}'s, {group_words(mtu, senders)}"
    return Table(title, ("B", *kinds), rows, about)


def _ratio(found: Found, case: Case, peer: str) -> str:
    ours = [window.pps for window in found.windows if window.case == case]
    theirs = [window.pps for window in found.windows if window.case == replace(case, kind=peer)]
    ratios = [one / other for one, other in zip(ours, theirs, strict=False) if other > 0]
    if not ratios:
        return NONE
    if len(ratios) == 1:
        return number(ratios[0])
    return f"{number(median(ratios))} ({number(min(ratios))}–{number(max(ratios))})"


def cpu_table(found: Found, mtu: int, senders: int) -> Table:
    """CPU load by kind, of each sender's core and the receiver's, a row for each kind and size."""
    measured = found.groups()[mtu, senders]
    cases = sorted(measured, key=lambda case: (kinds_of(measured).index(case.kind), case.size))
    count = min(len(window.cores) for case in cases for window in found.of(case))
    sides = [
        [cpu_time.mean([window.cores[core] for window in found.of(case)]) for case in cases] for core in range(count)
    ]
    names = ["send", *(f"send {number}" for number in range(2, count)), "recv"]
    columns = [[kind for kind in cpu_time.kinds_seen(side) if kind != "idle"] for side in sides]
    head = ["kind", "B"]
    for name, kinds in zip(names, columns, strict=True):
        head += ["\n".join((name, *re.split("[- ]", kind))) for kind in (*kinds, "total")]
    rows = []
    for i, case in enumerate(cases):
        cells = [case.kind if i == 0 or cases[i - 1].kind != case.kind else "", str(case.size)]
        for side, kinds in zip(sides, columns, strict=True):
            by_kind = side[i].by_kind()
            cells += [f"{100 * by_kind[kind]:.0f}" for kind in kinds] + [f"{100 * side[i].total:.0f}"]
        rows.append(cells)
    about = (
        "Percent of the core. A kind that never came has no column. User time of DPDK's ways is a polling loop: busy "
        "with datagrams, or idle."
    )
    return Table(f"CPU load by kind, %, {group_words(mtu, senders)}", head, rows, about)


_STATED: tuple[tuple[int | None, int, Callable[[Window], float]], ...] = (
    (1500, 1, lambda window: window.gbps),
    (9000, 1, lambda window: window.gbps),
    (9000, 2, lambda window: window.gbps),
    (None, 1, lambda window: window.pps / 1e3),
    (None, 2, lambda window: window.pps / 1e3),
)
"""MTU (None: either), senders and figure of each throughput that the slides state, in their order."""


def slides_table(found: Found) -> Table:
    """What the slides state, and the most of each kind here."""
    kinds = list(dict.fromkeys(window.case.kind for window in found.windows))
    stated = [one for one in published.THROUGHPUT if one.source == published.SLIDES]
    rows = []
    for one, (mtu, senders, figure) in zip(stated, _STATED, strict=True):
        cells = [_most(found, kind, mtu, senders, figure) for kind in kinds]
        rows.append((one.what, one.words, *cells))
    about = f"The most of all sizes, medians. Slides: {published.SLIDES.words}; {stated[0].about}; 10 Gb/s Ethernet."
    return Table("Beside the slides", ("", "slides", *kinds), rows, about)


def _most(found: Found, kind: str, mtu: int | None, senders: int, figure: Callable[[Window], float]) -> str:
    cases = dict.fromkeys(window.case for window in found.windows)
    wanted = [case for case in cases if case.kind == kind and case.senders == senders and mtu in (None, case.mtu)]
    return number(max(found.middle(case, figure) or 0.0 for case in wanted)) if wanted else NONE


def loss_table(found: Found) -> Table:
    """Where datagrams were lost, of those cases that lost any."""
    places = list(Losses().by_place())
    rows = []
    for case in dict.fromkeys(window.case for window in found.windows):
        here = found.of(case)
        lost = {place: sum(window.losses.by_place()[place] for window in here) for place in places}
        if any(lost.values()):
            share = sum(window.losses.on_the_way for window in here) / max(1, sum(window.sent for window in here))
            sent = f"{sum(window.sent for window in here):,}"
            counts = (f"{lost[place]:,}" for place in places)
            cells = (case.kind, str(case.size), str(case.mtu), str(case.senders), sent, *counts)
            rows.append((*cells, f"{100 * share:.2g}"))
    about = (
        "Of all windows. Sender: left out or refused there; link: between; port: DPDK's device had no buffer; "
        "ring: the kernel's ring or socket buffer was full; application: came twice or too late. "
        "Cases that are not listed lost nothing."
    )
    return Table("Loss by place, datagrams", ("kind", "B", "MTU", "senders", "sent", *places, "% lost"), rows, about)


def zero_loss_table(found: Found, tolerance: int, seconds: float, resolution: float) -> Table:
    """The highest rates without loss."""
    rows = []
    for case, one in found.searches.items():
        limit = one.limit
        why = "the top rate passed" if limit is None else f"{number(limit.pps / 1e3)} kHz: {limit.why}"
        rate = one.best_pps
        cells = (number(rate / 1e3), number(rate * case.size * 8e-9)) if rate > 0 else (NONE, NONE)
        rows.append((case.kind, str(case.size), *cells, str(len(one.trials)), why))
    about = (
        f"As RFC 2544 searches: trials of {seconds:g} s, at most {tolerance} lost, to {100 * resolution:g} % of the "
        "rate found unpaced. Where a link pushes back (memif) nothing is lost: a rate that was not held failed."
    )
    return Table("Highest rate without loss", ("kind", "B", "kHz", "Gb/s", "trials", "next failed"), rows, about)
