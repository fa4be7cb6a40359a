# SPDX-License-Identifier: Apache-2.0
"""What the jitter measurement has to say: the poster's table, beside it the poster's figures and the bare clock's."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import mean

from ringmaster.bench.bins import MOST, quantile, share_words, shares, tail
from ringmaster.bench.carried import Carried, common_words
from ringmaster.bench.groups import Floats
from ringmaster.bench.jitter_run import Measured, Options, Report, pooled
from ringmaster.bench.links import about
from ringmaster.report import published
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.published import JITTER_DPDK_PERCENT, JITTER_ROWS
from ringmaster.report.section import Quantiles, Section, Table
from ringmaster.report.verdicts import Headline, number

MEASURED = """\
A group of datagrams per link and cycle, one of each instrument, at a fixed rate; each datagram stamped as it is taken \
from the link. A group counts when its last datagram is there, for nobody can work with a cycle before. Jitter of a \
cycle: by how much the distance from the group before differs from the period. A cycle with a loss in it or in the one \
before has no jitter and is counted apart."""
FLOOR = """\
“clock”: what the machine does without any of this software. A loop that only looks at the clock notes when it did not \
have its core, and a group that was due meanwhile counts as seen at the end of that gap; “clock r” on the receiver's \
core, with a sender without fault; “clock s+r” on the sender's core too. “left”: the groups as they left the sender. \
What a column has beyond these is the software's and the link's."""


def section(report: Report) -> Section:
    """All of it."""
    options = report.options
    return Section(
        name="jitter",
        title="Jitter",
        about=MEASURED,
        command=command(options),
        headlines=headlines(report),
        tables=_tables(report),
        charts=[_chart(report)],
        conditions=report.conditions,
        notes=report.notes,
        interrupted=report.interrupted,
        data={
            "options": asdict(options),
            "cores": asdict(report.cores),
            "jitter": _in_numbers(report),
            "turns": [_said(kind, turn.run) for kind in report.kinds for turn in kind.turns],
            "flat_out": [_said(kind, kind.flat_out) for kind in report.kinds],
        },
    )


def _in_numbers(report: Report) -> dict[str, object]:
    """The tables' figures, for scripts."""
    clocks = {name: _numbers(report.bare_jitter_us(cores)) for name, cores in _clocks(report).items()}
    return {**{kind.kind: _numbers(kind.jitter_us()) | _counted(kind) for kind in report.kinds if kind.turns}, **clocks}


def _clocks(report: Report) -> dict[str, tuple[int, ...]]:
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


def _said(kind: Measured, run: Carried) -> dict[str, object]:
    """Without the instruments' histograms, which are of other questions."""
    links = [{name: value for name, value in link.items() if name != "instruments"} for link in run.received["links"]]
    return {"kind": kind.kind, "sent": run.sent, "received": {**run.received, "links": links}}


def command(options: Options) -> str:
    """That makes these figures again."""
    return f"ringmaster bench jitter {common_words(asdict(options))}"


def headlines(report: Report) -> list[Headline]:
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


def _of_bare(report: Report) -> Figure | None:
    cores = (report.cores.sender, report.cores.receivers[0])
    return _figure([quantile(look.jitter_us(report.options.rate_hz, cores), MOST) for look in report.bare])


def _figure(values: Sequence[float | None]) -> Figure | None:
    return of_values([value for value in values if value is not None], "rounds")


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


def _tables(report: Report) -> list[Table]:
    by_link = [_by_link(kind, report) for kind in report.kinds if kind.links > 1 and kind.turns]
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


def _side_by_side(report: Report) -> Table:
    kinds = [kind for kind in report.kinds if kind.turns]
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


def _by_link(kind: Measured, report: Report) -> Table:
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
        f"one "
        "port each.",
    )


def _figures(report: Report) -> Table:
    rows = [_row(kind) for kind in report.kinds if kind.turns]
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


def _throughput(report: Report) -> Table:
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


def _chart(report: Report) -> Quantiles:
    cores = (report.cores.sender, report.cores.receivers[0])
    series = {kind.kind: tail(kind.jitter_us()) for kind in report.kinds if kind.turns}
    return Quantiles(
        "Jitter per cycle",
        "µs",
        {**series, "bare clock, both cores": tail(report.bare_jitter_us(cores))},
        about="Share of the cycles whose jitter is larger.",
    )
