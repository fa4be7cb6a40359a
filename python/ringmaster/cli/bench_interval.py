# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench interval`."""

from pathlib import Path

import click
from click.core import ParameterSource

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

OF_LINKS = (
    *("kinds", "instruments", "rate", "links", "left", "right", "rounds", "size", "cores"),
    *("inject_jitter_us", "inject_drop_every"),
)
"""Options that say nothing of a running server."""


def _refuse_beside_a_workspace(context: click.Context) -> None:
    given = [name for name in OF_LINKS if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise click.UsageError(f"{listed}: found beside --workspace, expected with links that the bench makes")


@click.command(
    epilog=examples(
        "ringmaster bench interval",
        "ringmaster bench interval --instruments 96 --rate 50000 --kinds memif,af_xdp",
        "ringmaster bench interval --workspace demo --report out",
        "ringmaster bench interval --left raw:eth1 --right raw:eth2",
    )
)
@click.option("-w", "--workspace", metavar="NAME", help="Look at the streams of this running server instead.")
@kinds_option(("memif", "udp"))
@instruments_option(7, LINKS_MAX * MOST_INSTRUMENTS)
@rate_option(1_157_407.0, "Turns a second: a datagram of every instrument in each.")
@links_option(1)
@rounds_options(seconds=3.0, rounds=3)
@endpoint_options
@traffic_options
def interval(
    workspace: str | None,
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
    """Measure the inter-packet time of every instrument, nominal beside measured: Figure 11 of the paper.

    Instruments at the turn rate, 864 ns, DPDK beside the kernel's sockets by turns; a kind that cannot hold that rate
    gets one that it can, and that is said. Or, with --workspace, the instruments of a running server, by the stamps
    that it put into its records. Ctrl-C prints what was measured so far.
    """
    if workspace is not None:
        _refuse_beside_a_workspace(click.get_current_context())
        from ringmaster.bench import interval_live as live

        look = live.Options(workspace, seconds)
        show("interval", look.looks, lambda say, step: live.measure(look, say, step), as_json, report)
        return
    endpoints, own_kinds, own_count = own_links(left, right)
    kinds, links = (own_kinds, own_count) if endpoints else (kinds, links)
    require_whole_groups(instruments, links)
    from ringmaster.bench.interval import Options, measure, steps

    options = Options(
        instruments, rate, links, size, seconds, rounds, kinds, cores, inject_jitter_us, inject_drop_every, endpoints
    )
    show("interval", steps(options), lambda say, step: measure(options, say, step), as_json, report)
