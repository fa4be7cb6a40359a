# SPDX-License-Identifier: Apache-2.0
"""What turns of the jitter measurement come to: the poster's table, beside it the poster's figures and the clock's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from ringmaster.bench.bins import MOST, quantile, share_words, shares
from ringmaster.bench.carried import Carried
from ringmaster.bench.distribution import beyond
from ringmaster.bench.groups import Floats, Groups
from ringmaster.bench.links import about
from ringmaster.report import published
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.published import JITTER_DPDK_PERCENT, JITTER_ROWS
from ringmaster.report.section import Quantiles, Table
from ringmaster.report.verdicts import Headline, number

if TYPE_CHECKING:
    from ringmaster.bench.jitter import Jitter

FLOOR = """\
“clock”: what the machine does without any of this software. A loop that only looks at the clock notes when it did not \
have its core, and a group that was due meanwhile counts as seen at the end of that gap; “clock r” on the receiver's \
core, with a sender without fault; “clock s+r” on the sender's core too. “left”: the groups as they left the sender. \
What a column has beyond these is the software's and the link's."""


@dataclass(frozen=True)
class Turn:
    """One kind in one round; by link."""

    groups: tuple[Groups, ...]
    sender: tuple[Groups, ...]
    """The same of the groups as they left."""
    took_us: tuple[Floats, ...]
    """From the sending of a whole group's first datagram to its last one's being there."""
    not_sent: int
    """Cycles that the sender left out, of all links."""
    run: Carried

    @property
    def lost(self) -> int:
        """Datagrams that were sent and did not come."""
        return self.run.total("lost") - self.not_sent * self.run.traffic.instruments

    @property
    def words(self) -> str:
        """On one line."""
        jitter = pooled([one.jitter_us for one in self.groups])
        most, worst = quantile(jitter, MOST), quantile(jitter, 1.0)
        if most is None or worst is None:
            return f"{self.run.pair.kind}: no two cycles came whole"
        came = f"99.95 % of {len(jitter):,} cycles within {most:.1f} µs, worst {worst:.1f} µs"
        return f"{self.run.pair.kind}: {came}, {self.lost:,} lost"


@dataclass
class Measured:
    """One kind, all of it."""

    kind: str
    links: int
    """That it was given."""
    flat_out: Carried
    turns: list[Turn] = field(default_factory=list)

    @property
    def carried(self) -> list[Carried]:
        """Of all turns."""
        return [turn.run for turn in self.turns]

    def jitter_us(self, link: int | None = None) -> Floats:
        """Of all turns; of one link or of all."""
        return pooled([groups.jitter_us for turn in self.turns for groups in _some(turn.groups, link)])

    def sender_jitter_us(self) -> Floats:
        """As the groups left."""
        return pooled([groups.jitter_us for turn in self.turns for groups in turn.sender])

    def took_us(self) -> Floats:
        """Of all groups that came whole."""
        return pooled([took for turn in self.turns for took in turn.took_us])


def _some(of_links: Sequence[Groups], link: int | None) -> Sequence[Groups]:
    return of_links if link is None else of_links[link : link + 1]


def pooled(parts: Sequence[Floats]) -> Floats:
    """All of them."""
    return np.concatenate(parts) if parts else np.empty(0)


def in_numbers(report: "Jitter") -> dict[str, object]:
    """The tables' figures, for scripts."""
    clocks = {name: _numbers(report.bare_jitter_us(cores)) for name, cores in _clocks(report).items()}
    return {**{kind.kind: _numbers(kind.jitter_us()) | _counted(kind) for kind in report.measured}, **clocks}


def _clocks(report: "Jitter") -> dict[str, tuple[int, ...]]:
    """The bare loops that stand beside all kinds: on which cores, one behind the other."""
    sender, receiver = report.cores.sender, report.cores.receivers[0]
    return {"clock r": (receiver,), "clock s+r": (sender, receiver)}


def _numbers(jitter_us: Floats) -> dict[str, object]:
    named = {"median_us": 0.5, "p99_us": 0.99, "p99_95_us": MOST, "worst_us": 1.0}
    return {**{name: quantile(jitter_us, share) for name, share in named.items()}, "shares": shares(jitter_us)}


def _counted(kind: Measured) -> dict[str, object]:
    """Of all turns and links."""
    groups = [one for turn in kind.turns for one in turn.groups]
    return {
        "cycles": sum(one.cycles for one in groups),
        "apart": sum(one.apart for one in groups),
        "lost": sum(turn.lost for turn in kind.turns),
        "not_sent": sum(turn.not_sent for turn in kind.turns),
        "rate_hz": mean(turn.run.received_pps / kind.links / turn.run.traffic.instruments for turn in kind.turns),
    }


def said(kind: Measured, run: Carried) -> dict[str, object]:
    """Without the instruments' histograms, which are of other questions."""
    links = [{name: value for name, value in link.items() if name != "instruments"} for link in run.received["links"]]
    return {"kind": kind.kind, "sent": run.sent, "received": {**run.received, "links": links}}


def headlines(report: "Jitter") -> list[Headline]:
    """Of each kind: what nearly all cycles keep within, and what one core may carry."""
    rows, keep = [], "jitter that 99.95 % of cycles keep"
    for kind in report.kinds:
        most = [quantile(pooled([one.jitter_us for one in turn.groups]), MOST) for turn in kind.turns]
        rows.append(Headline(f"{kind.kind}.p99_95_us", _figure(most), "µs", about=keep))
    rows.append(Headline("bare_clock.p99_95_us", _of_bare(report), "µs", about="the same of bare loops, both cores"))
    for kind in report.kinds:
        mpps = _figure([estimate / 1e6 for turn in kind.turns for estimate in estimated_pps(turn.run)])
        rows.append(Headline(f"{kind.kind}.estimated_mpps", mpps, "Mpps", about="a core, by its busy share"))
    return rows


def _of_bare(report: "Jitter") -> Figure | None:
    cores = (report.cores.sender, report.cores.receivers[0])
    return _figure([quantile(look.jitter_us(report.options.rate_hz, cores), MOST) for look in report.bare])


def _figure(values: Iterable[float | None]) -> Figure | None:
    return of_values(values, "rounds")


def estimated_pps(run: Carried) -> list[float]:
    """For each receiving core: datagrams a second over the share of its time that they took, as the poster estimates.

    A core that sleeps until something comes is busy while the kernel has it running; one that polls, in the loops that
    found something.
    """
    found = []
    for core in run.received["cores"]:
        received = sum(int(link["received"]) for link in run.received["links"] if link["core"] == core["core"])
        busy = core["share"] if run.sleeps else core["busy_share"]
        if busy > 0 and run.seconds > 0:
            found.append(received / run.seconds / busy)
    return found


def tables(report: "Jitter") -> list[Table]:
    """The poster's first."""
    by_link = [_by_link(kind, report) for kind in report.measured if kind.links > 1]
    return [_side_by_side(report), _figures(report), *by_link, _throughput(report), _published()]


def _published() -> Table:
    stated = (*published.JITTER, published.MOST_PER_CORE_MPPS, published.MOST_MPPS)
    how = f"{published.POSTER.words}: " + "; ".join(dict.fromkeys(one.about for one in stated))
    return Table("Published by the poster", ("", "figure"), [(one.what, one.words) for one in stated], about=how)


def _columns(values: Sequence[Floats], texts: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows of the poster: shares of measured values, then texts."""
    found = [[share_words(share) for share in shares(column)] if len(column) else ["–"] * 10 for column in values]
    rows = zip(JITTER_ROWS, *found, *texts, strict=True)
    return [tuple(row) for row in rows]


def _side_by_side(report: "Jitter") -> Table:
    kinds = report.measured
    values = [kind.jitter_us() for kind in kinds]
    values += [kinds[0].sender_jitter_us()] if kinds else []
    values += [report.bare_jitter_us(cores) for cores in _clocks(report).values()]
    left = [f"left, {kinds[0].kind}"] if kinds else []
    head = ("jitter", *(kind.kind for kind in kinds), *left, *_clocks(report), "poster, DPDK")
    poster = [_range(list(row)) for row in zip(*JITTER_DPDK_PERCENT.values(), strict=True)]
    return Table("Jitter per cycle: share of the cycles, all links", head, _columns(values, [poster]), about=FLOOR)


def _range(percents: Sequence[float]) -> str:
    low, high = min(percents), max(percents)
    return f"{low:g}%" if low == high else f"{low:g}–{high:g}%"


def _by_link(kind: Measured, report: "Jitter") -> Table:
    cores = report.cores.first(kind.links)
    values = [kind.jitter_us(link) for link in range(kind.links)]
    names = [f"{link} on {core}" for link, core in enumerate(cores.of_link)]
    floors = [report.bare_jitter_us((core,)) for core in cores.receivers]
    clocks = [f"clock {core}" for core in cores.receivers]
    poster = [[f"{percent:g}%" for percent in column] for column in JITTER_DPDK_PERCENT.values()]
    head = ("jitter", *names, *clocks, *(f"poster {core.removeprefix('core ')}" for core in JITTER_DPDK_PERCENT))
    return Table(
        f"{kind.kind}: jitter per cycle, by link and the core that polls it",
        head,
        _columns([*values, *floors], poster),
        about=f"{about(kind.kind, report.options.endpoints)}. “clock”: a bare loop on that core; “poster”: its cores, "
        "one port each.",
    )


def _figures(report: "Jitter") -> Table:
    rows = [_row(kind) for kind in report.measured]
    for name, cores in _clocks(report).items():
        rows.append((name, *_quantiles(report.bare_jitter_us(cores)), *["–"] * 6))
    rows.append(("poster, DPDK", "–", "–", "< 3", "< 40", *["–"] * 6))
    rows.append(("poster, socket", "–", "–", "–", "12,100", *["–"] * 6))
    head = ("µs", "median", "99 %", "99.95 %", "worst", "took", "took 99.95 %", "cycles", "apart", "lost", "not sent")
    return Table(
        "Jitter in figures, all links",
        head,
        rows,
        about="“took”: from the sending of a group's first datagram to its last one's being there, median and 99.95 %. "
        "“apart”: cycles without a jitter, for something was lost. “not sent”: cycles that the sender left out.",
    )


def _row(kind: Measured) -> tuple[str, ...]:
    took = kind.took_us()
    counted = _counted(kind)
    times = (*_quantiles(kind.jitter_us()), _cell(quantile(took, 0.5)), _cell(quantile(took, MOST)))
    return (kind.kind, *times, *(f"{counted[name]:,}" for name in ("cycles", "apart", "lost", "not_sent")))


def _quantiles(values: Floats) -> tuple[str, ...]:
    return tuple(_cell(quantile(values, share)) for share in (0.5, 0.99, MOST, 1.0))


def _cell(value: float | None) -> str:
    return "–" if value is None else number(value)


def _throughput(report: "Jitter") -> Table:
    rows = []
    for kind in report.kinds:
        estimates = _figure([estimate / 1e6 for turn in kind.turns for estimate in estimated_pps(turn.run)])
        busy = _figure([_busy(turn.run) for turn in kind.turns])
        carried = _figure([turn.run.received_pps / 1e6 for turn in kind.turns])
        rows.append(
            (
                kind.kind,
                str(kind.links),
                *(_cell(figure.median if figure else None) for figure in (carried, busy, estimates)),
                number(kind.flat_out.received_pps / len(kind.flat_out.received["cores"]) / 1e6),
                f"{kind.flat_out.total('lost'):,}",
            )
        )
    stated = published.MOST_PER_CORE_MPPS
    rows.append(("poster, DPDK", "4", "0.96", "–", f"{stated.value:g}", "–", "–"))
    return Table(
        "How much one receiving core may carry, Mpps",
        ("", "links", "carried", "busy %", "estimated", "flat out", "lost then"),
        rows,
        about="Estimated: what was carried over the busy share of the core's time. Flat out: received in a second "
        "from a sender that sends as fast as the link takes it, over all links.",
    )


def _busy(run: Carried) -> float:
    """Percent; the mean of the receiving cores."""
    return 100 * mean(float(core["share" if run.sleeps else "busy_share"]) for core in run.received["cores"])


def chart(report: "Jitter") -> Quantiles:
    """The tails of all."""
    cores = (report.cores.sender, report.cores.receivers[0])
    series = {kind.kind: beyond(kind.jitter_us(), 0) for kind in report.measured}
    return Quantiles(
        "Jitter per cycle",
        "µs",
        {**series, "bare clock, both cores": beyond(report.bare_jitter_us(cores), 0)},
        about="Share of the cycles whose jitter is larger.",
    )
