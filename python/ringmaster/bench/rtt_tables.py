# SPDX-License-Identifier: Apache-2.0
"""Tables and charts of the round trip test: the paper's own, the distributions, and what to doubt about them."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ringmaster.bench.distribution import LEVELS, Distribution, beyond, histogram, probes_needed, reported_by
from ringmaster.bench.rtt_run import LOADS, Round, Variant
from ringmaster.bench.windows import WHOLE_CORE
from ringmaster.report import published
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Chart, Columns, Lines, Quantiles, Table
from ringmaster.report.verdicts import Headline, cell, number

if TYPE_CHECKING:
    from ringmaster.bench.rtt import RoundTrips

SLEEPING = ("raw", "udp")
"""Ways that leave their cores while they wait."""
SENT_LATE = 0.01
"""Share of the probes; more are sent late where others had the core, or where the rate is too high."""


def sleeps(way: str) -> bool:
    """Whether its programs leave their cores while they wait; also of "raw 2", the second pair of cards by that way."""
    return way.partition(" ")[0] in SLEEPING


def undisturbed(one: Round) -> bool:
    """Whether nobody but a load took a core away: from who polls at all, from who sleeps when it was to send."""
    if one.variant.load == "loaded":
        return True
    if sleeps(one.variant.way):
        return float(one.said["sent_late"]) <= SENT_LATE * float(one.said["probes"])
    return min(one.sender_share, one.reflector_share) >= WHOLE_CORE


class Pooled:
    """All rounds of one variant."""

    def __init__(self, variant: Variant, rounds: Sequence[Round], name: str) -> None:
        self.variant = variant
        self.rounds = rounds
        self.way = name
        """Without the load."""
        self.name = f"{name}, {variant.load}"
        self.due_us = np.concatenate([one.due_us for one in rounds])
        self.sent_us = np.concatenate([one.sent_us for one in rounds])
        self.lost = sum(one.lost for one in rounds)

    @cached_property
    def due(self) -> Distribution | None:
        """Round trips from when probes were due, µs."""
        return Distribution.of(self.due_us, self.lost)

    @cached_property
    def sent(self) -> Distribution | None:
        """Round trips from when probes were sent, µs."""
        return Distribution.of(self.sent_us, self.lost)

    @property
    def undisturbed(self) -> list[Round]:
        """Rounds in which nobody but a load took a core away."""
        return [one for one in self.rounds if undisturbed(one)]

    def of_rounds(self, figure: Callable[[Distribution], float]) -> Figure | None:
        """Of each undisturbed round by itself, or of all where there is none: their median and spread."""
        each = [Distribution.of(one.due_us, one.lost) for one in self.undisturbed or self.rounds]
        values = [figure(one) for one in each if one is not None]
        return of_values([value for value in values if math.isfinite(value)], "rounds")

    @property
    def probes(self) -> int:
        """Sent."""
        return len(self.due_us) + self.lost

    @property
    def least_shares(self) -> tuple[float, float]:
        """Of their cores that sender and reflector had, in any round."""
        return min(one.sender_share for one in self.rounds), min(one.reflector_share for one in self.rounds)

    def most(self, name: str) -> float:
        """The most that any round's sender said of something."""
        return max(float(one.said.get(name, 0)) for one in self.rounds)

    def summed(self, name: str) -> int:
        """The same of all rounds."""
        return sum(int(one.said.get(name, 0)) for one in self.rounds)


def pool(rounds: Sequence[Round]) -> list[Pooled]:
    """By variant; idle and loaded side by side."""
    variants = list(dict.fromkeys(one.variant for one in rounds))
    ways = list(dict.fromkeys((variant.way, variant.placement) for variant in variants))
    one_placement = len({placement for _, placement in ways}) == 1
    pooled = []
    for way, placement in ways:
        name = way if one_placement else f"{way}, {placement.name}"
        for load in LOADS:
            of_it = [one for one in rounds if one.variant == Variant(way, placement, load)]
            if of_it:
                pooled.append(Pooled(of_it[0].variant, of_it, name))
    return pooled


def headlines(report: "RoundTrips") -> list[Headline]:
    """Median and tail of each variant."""
    rows, pooled = [], report.pooled
    for name, about, figure in (
        ("rtt_us", "median round trip", lambda one: one.quantiles["median"]),
        ("rtt_p99_us", "99 % are back by then", lambda one: one.quantiles.get("p99", math.inf)),
    ):
        for one in pooled:
            key = ".".join(part.replace(" ", "_") for part in (name, *one.name.replace("'", "").split(", ")))
            doubt = "" if one.undisturbed else ", disturbed"
            rows.append(Headline(key, one.of_rounds(figure), "µs", about=about + doubt))
    return rows


def _cell(value: float | None) -> str:
    return "lost" if value is not None and not math.isfinite(value) else cell(value)


def paper_table(pooled: Sequence[Pooled]) -> Table:
    """Mean and one-way as the paper gives them, idle and loaded beside each other, the published ones below."""
    rows = []
    for way in dict.fromkeys(one.way for one in pooled):
        cells = []
        for load in LOADS:
            one = next((one.due for one in pooled if one.way == way and one.variant.load == load), None)
            cells += [_cell(one.mean if one else None), _cell(one.one_way if one else None)]
        rows.append((way, *cells))
    for stated in published.RTT:
        rows.append((f"{stated.source.kind}: {stated.what}", "–", "–", _cell(stated.value), _cell(stated.value / 2)))
    return Table(
        "Mean round trip time and one-way latency, µs",
        ("", "idle: RTT", "one-way", "loaded: RTT", "one-way"),
        rows,
        about=f"One-way is half of the mean. The paper, {published.PAPER.words}: "
        + "; ".join(dict.fromkeys(stated.about for stated in published.RTT if stated.about))
        + ".",
    )


def distribution_table(pooled: Sequence[Pooled]) -> Table:
    """Of all rounds together."""
    told = reported_by([one.due for one in pooled if one.due])
    shown = ("min", "mean", *told, "max")
    rows = []
    for one in pooled:
        figures = _figures(one.due)
        rows.append((one.name, f"{one.probes:,}", f"{one.lost:,}", *(_cell(figures[name]) for name in shown)))
    head = ("", "probes", "lost", *shown)
    return Table(
        "Round trip time from when each probe was due, µs, all rounds", head, rows, about=_needed(pooled, told)
    )


def _needed(pooled: Sequence[Pooled], told: Sequence[str]) -> str:
    text = "“lost”: so many were lost that the quantile is one of them. " if any(one.lost for one in pooled) else ""
    missing = [f"{name} needs {probes_needed(name):,} probes" for name in LEVELS if name not in told]
    return text + ("Ten must lie beyond a quantile: " + ", ".join(missing) + "." if missing else "")


def _figures(one: Distribution | None) -> dict[str, float | None]:
    """By the name in a table; None where there is none."""
    found = {} if one is None else {**one.quantiles, "min": one.least, "mean": one.mean, "max": one.most}
    return {name: found.get(name) for name in ("min", "mean", *LEVELS, "max")}


def sending_table(pooled: Sequence[Pooled]) -> Table:
    """From when a probe was due beside from when it was sent: what a schedule-less sender would have hidden."""
    told = reported_by([one.due for one in pooled if one.due])
    shown = [name for name in ("median", "p99", "p99.9") if name in told] + ["max"]
    rows = []
    for one in pooled:
        due, sent = _figures(one.due), _figures(one.sent)
        cells = [_cell(figures[name]) for name in shown for figures in (due, sent)]
        rows.append((one.name, *cells, f"{one.summed('sent_late'):,}"))
    head = ("", *(word for name in shown for word in (f"{name}: due", "sent")), "sent late")
    return Table(
        "From when it was due, and from when it was sent, µs",
        head,
        rows,
        about="A sender that waits for itself before it looks at the clock shows the second only. Late: by more than "
        "one period.",
    )


def _medians(one: Pooled) -> str:
    medians = one.of_rounds(lambda each: each.quantiles["median"])
    return f"{number(medians.low)}–{number(medians.high)}" if medians else "–"


ROUNDS: Columns = {
    "": lambda one: one.name,
    "undisturbed": lambda one: f"{len(one.undisturbed)} of {len(one.rounds)}",
    "medians": _medians,
    "cores": lambda one: ", ".join(
        f"{count} {name}" for name, count in Counter(each.distance for each in one.rounds).items()
    ),
    "had": lambda one: " / ".join(f"{share:.0%}" for share in one.least_shares),
    "longest gap": lambda one: one.most("longest_gap_us"),
    "gaps > 10 µs": lambda one: one.most("gaps_over_10us"),
}


def rounds_table(pooled: Sequence[Pooled]) -> Table:
    """What each variant's rounds were like."""
    about = (
        "Undisturbed: nothing but the load took a core away; the headlines are of those, where there are any. Had: "
        "sender and reflector of their cores, the least of any round; who sleeps needs little. Gaps: of the sender's "
        "own loop, between two looks at the clock, the worst round."
    )
    return Table.of("Rounds; times in µs", pooled, ROUNDS, about)


def charts(report: "RoundTrips") -> list[Chart]:
    """One of all variants; and for each load a histogram, as the paper's Figures 2 and 3."""
    pooled = report.pooled
    series = {one.name: beyond(one.due_us, one.lost) for one in pooled}
    made: list[Chart] = [Quantiles("Round trip time", "µs", series, about="From when each probe was due, all rounds.")]
    if not pooled:
        return []
    for load in LOADS:
        bins = {one.way: histogram(one.due_us, one.lost) for one in pooled if one.variant.load == load}
        if bins:
            made.append(
                Lines(
                    f"Histogram of the round trip time, {load}",
                    "round trip time, µs",
                    "share of the probes",
                    bins,
                    x_logarithmic=True,
                    y_logarithmic=True,
                    about="Bins of an eighth of an octave, as the paper's Figures 2 and 3 show theirs.",
                )
            )
    return made


def tables(report: "RoundTrips") -> list[Table]:
    """All of them, the paper's first: the distributions, and what to doubt about them."""
    made = (paper_table, distribution_table, sending_table, rounds_table)
    return [make(report.pooled) for make in made] if report.rows else []
