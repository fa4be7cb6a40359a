# SPDX-License-Identifier: Apache-2.0
"""The plots of the slides: throughput and datagram rate over size, and CPU load by kind."""

from collections.abc import Callable, Sequence

from ringmaster.bench import cpu_time
from ringmaster.bench.cpu_time import Shares
from ringmaster.bench.throughput_cases import Case
from ringmaster.bench.throughput_section import Found, group_words, kinds_of, sizes_of
from ringmaster.bench.throughput_window import Window
from ringmaster.report.section import Bars, Chart, Lines

SIZE = "payload of a datagram, B"


def charts(found: Found) -> list[Chart]:
    """Of each MTU and number of senders: two plots over size, and the load of the sender's core and the receiver's."""
    made: list[Chart] = []
    for (mtu, senders), cases in found.groups().items():
        words = group_words(mtu, senders)
        if len(sizes_of(cases)) > 1:
            made.append(_lines(found, cases, f"Throughput, {words}", "Gb/s", lambda window: window.gbps))
            made.append(_lines(found, cases, f"Datagram rate, {words}", "kHz", lambda window: window.pps / 1e3))
        made.append(_bars(found, cases, f"CPU load of the sender's core, {words}", lambda window: window.sender))
        made.append(_bars(found, cases, f"CPU load of the receiver's core, {words}", lambda window: window.receiver))
    return made


def _lines(found: Found, cases: Sequence[Case], title: str, y: str, figure: Callable[[Window], float]) -> Lines:
    series: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds_of(cases)}
    for case in sorted(cases, key=lambda case: case.size):
        if (value := found.middle(case, figure)) is not None:
            series[case.kind].append((float(case.size), value))
    return Lines(title, SIZE, y, series, x_logarithmic=True, y_logarithmic=True)


def _bars(found: Found, cases: Sequence[Case], title: str, side: Callable[[Window], Shares]) -> Bars:
    """Of the smallest datagrams and the largest."""
    endpoints = dict.fromkeys((sizes_of(cases)[0], sizes_of(cases)[-1]))
    shown = [
        case
        for kind in kinds_of(cases)
        for size in endpoints
        for case in cases
        if (case.kind, case.size) == (kind, size)
    ]
    means = [cpu_time.mean([side(window) for window in found.of(case)]) for case in shown]
    series = {
        kind: [100 * mean.by_kind()[kind] for mean in means] for kind in cpu_time.kinds_seen(means) if kind != "idle"
    }
    return Bars(title, "% of the core", [f"{case.kind} {case.size}" for case in shown], series, stacked=True)
