# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench jitter`."""

from pathlib import Path

import click

from ringmaster.cli.bench_output import show
from ringmaster.cli.bench_traffic import (
    LINKS_MAX,
    MOST_INSTRUMENTS,
    endpoint_options,
    instruments_option,
    kinds_option,
    links_option,
    own_links,
    rate_option,
    require_whole_groups,
    rounds_options,
    traffic_options,
)
from ringmaster.cli.options import examples

MOST_CYCLES = 10_000_000
"""In a round, of all links: so many rows are kept."""


@click.command(
    epilog=examples(
        "ringmaster bench jitter",
        "ringmaster bench jitter --report out --seconds 20 --rounds 5",
        "ringmaster bench jitter --kinds memif,udp --links 1 --instruments 24 --json > jitter.json",
        "ringmaster bench jitter --cores 0,2,3,5,6",
        "ringmaster bench jitter --instruments 24 --left pci:0000:03:00.0 --right pci:0000:03:00.1",
    )
)
@kinds_option(("memif", "af_xdp", "udp", "raw"))
@instruments_option(96, LINKS_MAX * MOST_INSTRUMENTS)
@rate_option(10_000.0, "Cycles a second: a datagram of every instrument in each.")
@links_option(4)
@rounds_options(seconds=4.0, rounds=3)
@endpoint_options
@traffic_options
def jitter(
    kinds: tuple[str, ...],
    instruments: int,
    rate: float,
    links: int,
    seconds: float,
    rounds: int,
    left: tuple[str, ...],
    right: tuple[str, ...],
    size: int,
    cores: tuple[int, ...],
    inject_jitter_us: float,
    inject_drop_every: int,
    report: Path | None,
    as_json: bool,
) -> None:
    """Measure how evenly groups of datagrams arrive: DPDK beside the kernel's sockets, as the poster does.

    Instruments at a fixed rate on up to four links, a group of their datagrams per link and cycle, each stamped. The
    jitter of a cycle is by how much the distance of its group from the one before differs from the period. Beside it
    what the same cores do to a bare loop on the clock, the poster's own figures, and how much a core may carry. A kind
    that cannot take all links' traffic is given fewer links, and that is said. Ctrl-C prints what was measured so far.
    """
    endpoints, own_kinds, own_count = own_links(left, right)
    kinds, links = (own_kinds, own_count) if endpoints else (kinds, links)
    require_whole_groups(instruments, links)
    if rate * seconds * links > MOST_CYCLES:
        raise click.UsageError(
            f"--rate {rate:g} for --seconds {seconds:g} on --links {links}: {rate * seconds * links:,.0f} groups in a "
            f"round, expected up to {MOST_CYCLES:,}; more --rounds make more"
        )
    from ringmaster.bench.jitter import Options, measure, steps

    options = Options(
        instruments, rate, links, size, seconds, rounds, kinds, cores, inject_jitter_us, inject_drop_every, endpoints
    )
    show("jitter", steps(options), lambda say, step: measure(options, say, step), as_json, report)
