# SPDX-License-Identifier: Apache-2.0
"""Tables and charts of inter-packet times: averages of instruments as Figure 11 shows them, and single intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.bench.intervals import Counted, Instrument, together
from ringmaster.report.headlines import of_values
from ringmaster.report.published import INTER_PACKET_NS
from ringmaster.report.section import Bars, Chart, Quantiles, Table
from ringmaster.report.verdicts import Headline, cell, number

BINS = 15
SHARES = (0.5, 0.99, 0.999, 1.0)
SHOWN = 16
"""Instruments of which each has a row."""


@dataclass(frozen=True)
class Observed:
    """Instruments of one sort, seen several times."""

    name: str
    nominal_ns: float
    looks: Sequence[Sequence[Instrument]]

    @property
    def instruments(self) -> list[Instrument]:
        """Of all looks."""
        return [one for look in self.looks for one in look]

    @property
    def means_ns(self) -> list[float]:
        """An average for each instrument and look."""
        return [one.mean_ns for one in self.instruments]

    @property
    def single(self) -> Counted:
        """All intervals."""
        return together(one.single for one in self.instruments)

    @property
    def lost(self) -> int:
        """Of all."""
        return sum(one.lost for one in self.instruments)


def headlines(observed: Observed) -> list[Headline]:
    """The average, and how far it is from nominal."""
    off = [ppm(mean, observed.nominal_ns) for mean in observed.means_ns]
    key, of = observed.name.replace(" ", "_"), "averages"
    nominal = f"nominal {observed.nominal_ns:,.6g}"
    return [
        Headline(f"{key}.average_ns", of_values(observed.means_ns, of), "ns", about=nominal),
        Headline(f"{key}.off_ppm", of_values(off, of), "ppm", about="that average, from nominal"),
    ]


def ppm(mean_ns: float, nominal_ns: float) -> float:
    """By which an average is longer than nominal, 1e-6."""
    return 1e6 * (mean_ns / nominal_ns - 1)


def averages_table(all_observed: Sequence[Observed]) -> Table:
    """Figure 11 in figures."""
    rows = []
    for one in all_observed:
        means = one.means_ns
        figures = (one.nominal_ns, np.median(means), min(means), max(means)) if means else ()
        off = _off(float(np.median(means)), one.nominal_ns) if means else "–"
        count = max((len(look) for look in one.looks), default=0)
        rows.append((one.name, str(count), str(len(one.looks)), *_all(figures, 4), off, f"{one.lost:,}"))
    rows.append(("paper, Figure 11", "–", "–", _exact(INTER_PACKET_NS.value), *["–"] * 5))
    head = ("", "instruments", "looks", "nominal ns", "median ns", "least ns", "most ns", "off, ppm", "lost")
    return Table(
        "Average inter-packet time, one for each instrument and look",
        head,
        rows,
        about="Averages are of datagrams that follow each other, for what is lost is told as lost. The paper shows the "
        "distribution of its BPMs' averages in a plot alone.",
    )


def singles_table(all_observed: Sequence[Observed]) -> Table:
    """Of all intervals of all instruments."""
    rows = []
    for one in all_observed:
        single = one.single
        least = min((each.least_ns for each in one.instruments), default=None)
        figures = [least, *(single.quantile_ns(share) for share in SHARES)]
        rows.append((one.name, f"{single.total:,}", number(one.nominal_ns), *map(cell, figures)))
    head = ("", "intervals", "nominal ns", "least ns", "median ns", "99 % ns", "99.9 % ns", "most ns")
    return Table("Single intervals, all instruments", head, rows)


def by_instrument(one: Observed) -> Table:
    """Each of them, the first SHOWN; the last look's single intervals in figures."""
    rows = []
    names = list(dict.fromkeys(each.name for each in one.instruments))
    for name in names[:SHOWN]:
        own = [each for each in one.instruments if each.name == name]
        mean, single = float(np.median([each.mean_ns for each in own])), together(each.single for each in own)
        quantiles = [number(single.quantile_ns(share) or 0.0) for share in SHARES]
        lost = sum(each.lost for each in own)
        rows.append((name, _exact(mean), _off(mean, one.nominal_ns), *quantiles, f"{lost:,}"))
    head = ("instrument", "average ns", "off, ppm", "median ns", "99 % ns", "99.9 % ns", "most ns", "lost")
    more = f" The first {SHOWN} of {len(names)}." if len(names) > SHOWN else ""
    about = f"Nominal: {_exact(one.nominal_ns)} ns. The average is the median of all looks.{more}"
    return Table(f"{one.name}: each instrument", head, rows, about=about)


def charts(all_observed: Sequence[Observed]) -> list[Chart]:
    """A chart of averages for each, as Figure 11; one of all single intervals."""
    some = [one for one in all_observed if one.means_ns]
    singles = Quantiles(
        "Single inter-packet times",
        "ns",
        {one.name: one.single.tail() for one in some},
        about="Share of the intervals that are longer.",
    )
    return [*map(_averages, some), singles]


def _averages(one: Observed) -> Bars:
    labels, counts = bins(one.means_ns)
    return Bars(
        f"{one.name}: average inter-packet times",
        "averages (one for each instrument and look)",
        labels,
        {one.name: counts},
        about=f"By their length in ns; nominal is {_exact(one.nominal_ns)} ns. As Figure 11 of the paper.",
    )


def bins(means_ns: Sequence[float]) -> tuple[list[str], list[int]]:
    """Equal bins from the least to the greatest, by their middles; and how many there are in each."""
    low, high = min(means_ns), max(means_ns)
    width = max((high - low) / BINS, 1e-4)
    count, edges = np.histogram(means_ns, bins=BINS, range=(low, low + BINS * width))
    digits = max(0, int(np.ceil(-np.log10(width))) + 1)
    return [f"{middle:.{digits}f}" for middle in (edges[1:] + edges[:-1]) / 2], [int(many) for many in count]


def _off(mean_ns: float, nominal_ns: float) -> str:
    """In 1e-6."""
    off = ppm(mean_ns, nominal_ns)
    return f"{off:+,.0f}" if abs(off) >= 100 else f"{off:+.3g}"


def _all(values: Sequence[float], count: int) -> list[str]:
    return [_exact(float(value)) for value in values] or ["–"] * count


def _exact(value: float) -> str:
    """Averages are alike to the last digits."""
    return f"{value:,.3f}" if value < 10_000 else f"{value:,.1f}"
