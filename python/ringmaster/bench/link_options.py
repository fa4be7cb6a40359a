# SPDX-License-Identifier: Apache-2.0
"""Options of measurements over links: made ones, or one's own; and the steady traffic on them."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import click

from ringmaster.bench.links import JUMBO_MTU, KINDS, LEAST_BYTES, largest, way_of
from ringmaster.bench.options import COUNT, Finite, Integers, SomeOf, WrongOptions, option

LINKS_MAX = 4
"""As many as the poster's server had ports."""
MOST_HZ = 10_000_000
MOST_INSTRUMENTS = 4096
"""Of one link: as ringmaster-generator and ringmaster-receiver take them."""
SIZE = click.IntRange(LEAST_BYTES, largest(JUMBO_MTU))
NOT_LIVE = ("workspace",)
"""Beside that option, which looks at a running server, others have no meaning."""


LEFT = "Instead of --kinds: a card of yours, from which is sent; again for each more."
RIGHT = "And the card at the cable's other end."


def kinds_option(default: tuple[str, ...], known: tuple[str, ...] = KINDS) -> Any:
    """Which links to make and to measure."""
    return option(default, "Links to make and measure.", SomeOf(known), metavar="KIND,…", unless=("left", *NOT_LIVE))


def size_option(default: int) -> Any:
    """Of what is sent."""
    return option(default, "Payload, bytes; above 1472 the links are jumbo.", SIZE, unless=NOT_LIVE)


def own_option(about: str) -> Any:
    """One end of links of one's own."""
    return option((), about, multiple=True, metavar="LINK", unless=NOT_LIVE)


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """Links that are made, by their kinds; or one's own."""

    kinds: tuple[str, ...] = kinds_option(KINDS)
    left: tuple[str, ...] = own_option(LEFT)
    right: tuple[str, ...] = own_option(RIGHT)

    def __post_init__(self) -> None:
        """Raises WrongOptions."""
        if len(self.left) != len(self.right):
            raise WrongOptions(f"found {len(self.left)} --left and {len(self.right)} --right, expected a pair of each")

    @property
    def endpoints(self) -> tuple[tuple[str, str], ...]:
        """Links of one's own, left and right; none: the bench makes some."""
        return tuple(zip(self.left, self.right, strict=True))

    @property
    def chosen(self) -> tuple[str, ...]:
        """The kinds that are measured by turns."""
        return tuple(dict.fromkeys(map(way_of, self.left))) or self.kinds

    @property
    def own_count(self) -> int:
        """Of links of one's own there are as many of each kind; 0 of none. Raises WrongOptions."""
        counts = Counter(map(way_of, self.left))
        if len(set(counts.values())) > 1:
            found = ", ".join(f"{count} of {kind}" for kind, count in counts.items())
            raise WrongOptions(f"--left: found {found}, expected as many links of each kind")
        if len(self.left) > LINKS_MAX * len(counts):
            raise WrongOptions(f"--left: found {len(self.left)}, expected up to {LINKS_MAX} of each kind")
        return max(counts.values(), default=0)


def rate_option(default: float, about: str) -> Any:
    """Cycles a second."""
    return option(default, about, Finite(1, MOST_HZ), flag="--rate", metavar="HZ", unless=NOT_LIVE)


def instruments_option(default: int) -> Any:
    """How many there are."""
    range_of_them = click.IntRange(1, LINKS_MAX * MOST_INSTRUMENTS)
    about = "Of all links together: a multiple of the links."
    return option(default, about, range_of_them, metavar="N", unless=NOT_LIVE)


def links_option(default: int) -> Any:
    """How many of each kind."""
    return option(default, "Ports, as it were.", click.IntRange(1, LINKS_MAX), unless=("left", *NOT_LIVE))


@dataclass(frozen=True, kw_only=True)
class SteadyOptions(LinkOptions):
    """A datagram of every instrument in every cycle, at a fixed rate."""

    instruments: int = instruments_option(96)
    rate_hz: float = rate_option(10_000.0, "Cycles a second: a datagram of every instrument in each.")
    links: int = links_option(1)
    seconds: float = option(4.0, "Of each kind in a round.", Finite(0.1, 600))
    rounds: int = option(3, "Of all kinds, by turns.", COUNT, unless=NOT_LIVE)
    size: int = size_option(64)
    cores: tuple[int, ...] = option(
        (),
        "The sender's, then the receivers'.  [default: the first two, or one for each link where there are so many]",
        Integers(0, count=2),
        metavar="N,N,…",
        unless=NOT_LIVE,
    )
    inject_jitter_us: float = option(0.0, "", Finite(0), hidden=True, unless=NOT_LIVE)
    inject_drop_every: int = option(0, "", click.IntRange(0), hidden=True, unless=NOT_LIVE)

    def __post_init__(self) -> None:
        """Raises WrongOptions."""
        super().__post_init__()
        if self.instruments % self.count:
            raise WrongOptions(
                f"--instruments: found {self.instruments}, expected a multiple of the {self.count} links"
            )

    @property
    def count(self) -> int:
        """Of links of each kind."""
        return self.own_count or self.links

    @property
    def group(self) -> int:
        """Datagrams on a link in a cycle."""
        return self.instruments // self.count
