# SPDX-License-Identifier: Apache-2.0
"""What a counter, a histogram or a busy share is called in Prometheus.

By its conventions: base units (seconds), the unit in the name, `_total` at the end of what only grows.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ringmaster.fabric._counters import COUNTERS, Counter

PREFIX = "ringmaster"
WORKSPACE = "workspace"
LABELS: dict[str, tuple[str, ...]] = {
    "port": ("port",),
    "stream": ("instrument",),
    "path": ("instrument", "port"),
    "core": ("core",),
    "clock": ("role",),
    "sender": ("instrument",),
    "guard": ("application",),
    "chain": ("chain",),
    "transmit": (),
    "application": ("application",),
    "supply": ("chain",),
    "recorder": ("log",),
    "camera": ("camera",),
    "generator": ("port",),
    "forward": ("port", "role"),
    "router": (),
    "standby": (),
    "link": (),
    "follow": ("application",),
}
"""What the parts of a block's name are, by its set: counters/path/NAME/PORT."""
SECONDS = {"ticks": "seconds", "ns": "seconds"}
"""Units that are told in another one."""
RENAMED = {"core/wait_ns": "settled_wait_ns"}
"""Counters whose name in base units another one has."""
NO_UNIT = ("number", "times")
"""Units that say nothing in a name."""
BUSY = f"{PREFIX}_core_busy_ratio"
UP = f"{PREFIX}_up"
TURN_RATE = f"{PREFIX}_turn_rate_hertz"
DURATION = f"{PREFIX}_duration_seconds"
OF = "of"
"""Label of a duration: the histogram's name, "latency/receive/0"."""
EDGES_S = tuple(digit * 10.0**power for power in range(-8, 1) for digit in (1, 2, 5))
"""Upper edges of a histogram's buckets: 10 ns to 5 s."""


class Metric(NamedTuple):
    """One of them."""

    name: str
    kind: str
    """ "counter", "gauge", "histogram"."""
    text: str
    labels: tuple[str, ...]


def of_counter(set_name: str, counter: Counter) -> Metric:
    """The metric of one counter of a set."""
    unit = "" if counter.unit in NO_UNIT else SECONDS.get(counter.unit, counter.unit)
    given = RENAMED.get(f"{set_name}/{counter.name}", counter.name)
    words = [word for word in given.split("_") if word not in SECONDS]
    if unit and unit not in words:
        words.append(unit)
    name = "_".join((PREFIX, set_name, *words))
    kind = "gauge" if counter.kind == "gauge" else "counter"
    words_of_help = counter.text.replace("TSC ticks", "time")
    text = words_of_help[0].upper() + words_of_help[1:] + "."
    return Metric(f"{name}_total" if kind == "counter" else name, kind, text, labels_of(set_name))


def labels_of(set_name: str) -> tuple[str, ...]:
    """All of a set's."""
    return (WORKSPACE, *LABELS[set_name])


def label_values(set_name: str, block: str) -> tuple[str, ...]:
    """Of a block "path/bpm01/east", but for the workspace. An instrument's name has no slash."""
    parts = block.split("/", 1)[1:] if len(LABELS[set_name]) == 1 else block.split("/")[1:]
    return tuple(parts) if len(parts) == len(LABELS[set_name]) else ("/".join(parts),) * len(LABELS[set_name])


def counters() -> Iterator[tuple[str, Counter, Metric]]:
    """Every counter there can be, with its set."""
    for set_name, counters_of_set in COUNTERS.items():
        for counter in counters_of_set:
            yield set_name, counter, of_counter(set_name, counter)


def others() -> tuple[Metric, Metric, Metric, Metric]:
    """What is no counter."""
    return (
        Metric(UP, "gauge", "Whether the server lives.", (WORKSPACE,)),
        Metric(TURN_RATE, "gauge", "Turns per second by the turn clock.", (WORKSPACE,)),
        Metric(DURATION, "histogram", "Durations, by the histogram that they are in.", (WORKSPACE, OF)),
        Metric(BUSY, "gauge", "Share of a core's time in which it had work, since the look before.", labels_of("core")),
    )
