# SPDX-License-Identifier: Apache-2.0
"""Options of the benches that send datagrams at a fixed rate."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from ringmaster.cli.bench_output import report_option
from ringmaster.cli.options import Finite, SomeOf, json_option

Command = TypeVar("Command", bound=Callable[..., Any])

KINDS = ("memif", "af_xdp", "af_packet", "raw", "udp", "raw-spin", "udp-spin")
"""As ringmaster.bench.links has them, which `--help` need not import."""
SMALLEST, LARGEST = 18, 8972
"""Payloads, bytes: of the shortest Ethernet frame, and of a jumbo one."""
LINKS_MAX = 4
"""As many as the poster's server had ports."""
MOST_HZ = 10_000_000
MOST_INSTRUMENTS = 4096
"""Of one link: as ringmaster-generator and ringmaster-receiver take them."""


def kinds_option(default: tuple[str, ...]) -> Callable[[Command], Command]:
    """Which links to make and to measure."""
    return click.option(
        "--kinds",
        default=",".join(default),
        show_default=True,
        type=SomeOf(KINDS),
        metavar="KIND,…",
        help="Links to make and measure, of: " + ", ".join(KINDS),
    )


def links_option(default: int) -> Callable[[Command], Command]:
    """How many of each kind."""
    return click.option(
        "--links", type=click.IntRange(1, LINKS_MAX), default=default, show_default=True, help="Ports, as it were."
    )


def endpoint_options(command: Command) -> Command:
    """Links of one's own instead of made ones."""
    for name, about in (
        ("--right", "And the card at the cable's other end, where they arrive."),
        ("--left", "Instead of --kinds: a card of yours, where datagrams are sent; again for each more."),
    ):
        command = click.option(name, multiple=True, metavar="LINK", help=about)(command)
    return command


def own_links(left: Sequence[str], right: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], int]:
    """Pairs of them, their kinds, and how many there are of each kind, which is the same of all."""
    from ringmaster.bench.links import way_of

    if len(left) != len(right):
        raise click.UsageError(f"found {len(left)} --left and {len(right)} --right, expected a pair of each")
    counts = Counter(map(way_of, left))
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{count} of {kind}" for kind, count in counts.items())
        raise click.UsageError(f"--left: found {found}, expected as many links of each kind")
    if len(left) > LINKS_MAX * len(counts):
        raise click.UsageError(f"--left: found {len(left)}, expected up to {LINKS_MAX} of each kind")
    return tuple(zip(left, right, strict=True)), tuple(counts), max(counts.values(), default=0)


def rate_option(default: float, about: str) -> Callable[[Command], Command]:
    """Cycles a second."""
    return click.option("--rate", type=Finite(1, MOST_HZ), default=default, show_default=True, metavar="HZ", help=about)


def instruments_option(default: int, most: int) -> Callable[[Command], Command]:
    """How many there are."""
    return click.option(
        "--instruments",
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        metavar="N",
        help="Of all links together: a multiple of the links.",
    )


def require_whole_groups(instruments: int, links: int) -> None:
    """Every link has as many."""
    if instruments % links:
        raise click.BadParameter(
            f"found {instruments}, expected a multiple of the {links} links", param_hint="--instruments"
        )


def rounds_options(seconds: float, rounds: int) -> Callable[[Command], Command]:
    """How long, and how often."""

    def with_them(command: Command) -> Command:
        command = click.option(
            "--rounds", type=click.IntRange(1), default=rounds, show_default=True, help="Of all kinds, by turns."
        )(command)
        return click.option(
            "--seconds",
            type=Finite(0.1, 600),
            default=seconds,
            show_default=True,
            help="Of each kind in a round.",
        )(command)

    return with_them


def traffic_options(command: Command) -> Command:
    """Sizes, cores, known faults, and where the result goes."""
    for option in (
        json_option,
        report_option,
        click.option("--inject-drop-every", type=click.IntRange(0), default=0, hidden=True),
        click.option("--inject-jitter-us", type=Finite(0), default=0.0, hidden=True),
        click.option(
            "--cores",
            default="",
            callback=_cores,
            metavar="N,N,…",
            help="The sender's, then the receivers'. Default: the first two, or one for each link where there are "
            "so many.",
        ),
        click.option(
            "--size",
            type=click.IntRange(SMALLEST, LARGEST),
            default=64,
            show_default=True,
            help="Payload, bytes; above 1472 the links are jumbo.",
        ),
    ):
        command = option(command)
    return command


def _cores(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    if not value:
        return ()
    try:
        cores = tuple(int(core) for core in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"found {value!r}, expected numbers of cores with commas between: 0,1") from error
    if len(cores) < 2:
        raise click.BadParameter(f"found {value!r}, expected two or more: the sender's, then the receivers'")
    return cores
