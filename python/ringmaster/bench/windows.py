# SPDX-License-Identifier: Apache-2.0
"""Short windows of two programs on two cores, each with the state of the machine around it, and what pairs of them say.

A window counts when both programs had their cores, and when it was not disturbed: the host may move a core far away and
back between the two probes, which shows in the rate alone. So the rate is looked at ten times a second. Two windows
near each other, ours and testpmd's, are a pair when both count and are of one class (near or far); ratios are of pairs,
so that a machine that changes meanwhile changes both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import monotonic, sleep
from typing import Protocol

from ringmaster.report.headlines import Figure, of_all

RINGMASTER, TESTPMD = "ringmaster", "testpmd"
WHOLE_CORE = 0.95
"""A window counts when sender and receiver both had this share of their cores."""
SUB_WINDOW_S = 0.1
DISTURBED_FACTOR = 2.0
DISTURBED_SHARE = 0.1
"""A window is disturbed when in more than this share of its time the rate was beyond this factor of its own median."""
NEIGHBOURS = (1, -1, 2, -2)
"""Where a window's partner may stand, the nearest first."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """One window of one peer, whichever end of the link it is."""

    peer: str
    """ "ringmaster", "testpmd", …"""
    load: str
    """What it sends or receives: only windows of the same are compared."""
    rate_pps: float
    core_to_core_ns: float
    """The longer of the probes before and after."""
    distance: str
    """The class of the window: near, far, or mixed; see conditions.class_of."""
    sender_share: float
    """Of its core that the sender had, 0–1."""
    receiver_share: float
    lost: int | None = None
    """Sent but never received, or lost, duplicate, late or refused; None where the receiver cannot tell."""
    sub_rates_pps: tuple[float, ...] = ()
    """Of the window's tenths of a second, one after the other."""

    @property
    def whole(self) -> bool:
        """Whether both had their cores to themselves."""
        return min(self.sender_share, self.receiver_share) >= WHOLE_CORE

    @property
    def disturbed(self) -> bool:
        """Whether the machine changed meanwhile, and came back."""
        return is_disturbed(self.sub_rates_pps)

    @property
    def counts(self) -> bool:
        """Whether anything is made of it."""
        return self.whole and not self.disturbed

    @property
    def more_words(self) -> str:
        """What is said of it besides its rate, while it runs."""
        return ""

    @property
    def words(self) -> str:
        """On one line."""
        discarded = "" if self.counts else f"  discarded: {'disturbed' if self.whole else 'no whole core'}"
        return (
            f"{self.load}, {self.peer:10s} {self.rate_pps / 1e6:6.2f} Mpps  {self.distance} "
            f"({self.core_to_core_ns:.0f} ns){self.more_words}{discarded}"
        )


def is_disturbed(rates: Sequence[float]) -> bool:
    """Whether too many rates are beyond DISTURBED_FACTOR of their median, below it or above."""
    if not rates:
        return False
    middle = median(rates)
    beyond = sum(1 for rate in rates if rate < middle / DISTURBED_FACTOR or rate > middle * DISTURBED_FACTOR)
    return beyond > DISTURBED_SHARE * len(rates)


class Counting(Protocol):
    """Something whose sender can be asked what it has sent."""

    def sent(self) -> int:
        """Datagrams so far."""
        ...


def sub_rates(
    run: Counting,
    seconds: float,
    clock: Callable[[], float] = monotonic,
    rest: Callable[[float], None] = sleep,
) -> tuple[float, ...]:
    """Lets so much time pass. The rates of its parts, of SUB_WINDOW_S each; a look that came late ends a longer one."""
    begin = then = clock()
    count = run.sent()
    rates = []
    while then < begin + seconds:
        rest(min(SUB_WINDOW_S, max(0.0, begin + seconds - then)))
        now, more = clock(), run.sent()
        if now > then:
            rates.append((more - count) / (now - then))
        then, count = now, more
    return tuple(rates)


@dataclass(frozen=True)
class Pair:
    """Two windows of one class near each other; ours was without loss."""

    peer: str
    load: str
    distance: str
    ratio: float
    """Our rate to testpmd's."""


def pairs_of(windows: Sequence[Window]) -> list[Pair]:
    """Of windows in the order of their time: each of ours with the nearest of testpmd's."""
    found = []
    for i, ours in enumerate(windows):
        near = (windows[i + step] for step in NEIGHBOURS if 0 <= i + step < len(windows))
        other = next((other for other in near if _comparable(ours, other)), None)
        if other is not None:
            found.append(Pair(ours.peer, ours.load, ours.distance, ours.rate_pps / other.rate_pps))
    return found


def _comparable(ours: Window, other: Window) -> bool:
    same = ours.load == other.load and ours.distance == other.distance != "mixed"
    good = ours.counts and other.counts and not ours.lost and not other.lost
    return ours.peer != TESTPMD == other.peer and same and good


def ratios_of(windows: Sequence[Window], load: str, peer: str = RINGMASTER) -> list[float]:
    """Of a load's near pairs, where testpmd is at its best; of far ones where there is no near one."""
    pairs = [pair for pair in pairs_of(windows) if (pair.load, pair.peer) == (load, peer)]
    for distance in ("near", "far"):
        if found := [pair.ratio for pair in pairs if pair.distance == distance]:
            return found
    return []


@dataclass(frozen=True)
class Comparison:
    """One load in one class, the peers beside each other."""

    load: str
    distance: str
    """near, far, or "all": of either."""
    figures: dict[str, dict[str, Figure | None]]
    """Of windows that count and lost nothing, by peer: what was asked for, and "ratio" to testpmd's, of pairs."""
    lossy: int
    """Windows of ours that counted and lost something: in none of the figures."""
    disturbed: dict[str, int]
    """Windows that were left out because the machine changed meanwhile, by peer."""
    starved: int
    """Windows that were left out because a program had not its core."""

    def figure(self, peer: str, name: str) -> Figure | None:
        """None of a peer that has none."""
        return self.figures.get(peer, {}).get(name)


def compare(windows: Sequence[Window], names: Sequence[str]) -> list[Comparison]:
    """By load, then near, far, and all of them together. The figures are of members of the windows."""
    loads = dict.fromkeys(window.load for window in windows)
    rows = [_compare(windows, names, load, distance) for load in loads for distance in ("near", "far", "all")]
    return [row for row in rows if row.figures or row.lossy or row.starved or any(row.disturbed.values())]


def _compare(windows: Sequence[Window], names: Sequence[str], load: str, distance: str) -> Comparison:
    wanted = ("near", "far") if distance == "all" else (distance,)
    here = [window for window in windows if window.load == load and window.distance in wanted]
    good = [window for window in here if window.counts]
    pairs = [pair for pair in pairs_of(windows) if pair.load == load and pair.distance in wanted]

    def figures(peer: str) -> dict[str, Figure | None]:
        own = [window for window in good if window.peer == peer and not window.lost]
        made = {name: of_all([getattr(window, name) for window in own], "windows") for name in names}
        return {**made, "ratio": of_all([pair.ratio for pair in pairs if pair.peer == peer], "pairs")}

    peers = dict.fromkeys(window.peer for window in here)
    return Comparison(
        load=load,
        distance=distance,
        figures={peer: figures(peer) for peer in dict.fromkeys(window.peer for window in good if not window.lost)},
        lossy=sum(1 for window in good if window.lost),
        disturbed={peer: sum(one.peer == peer and one.whole and one.disturbed for one in here) for peer in peers},
        starved=sum(not window.whole for window in here),
    )
