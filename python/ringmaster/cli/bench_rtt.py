# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench rtt`."""

from pathlib import Path

import click

from ringmaster.cli.bench_output import report_option, show
from ringmaster.cli.bench_traffic import KINDS, LARGEST, MOST_HZ, SMALLEST
from ringmaster.cli.options import Finite, SomeOf, examples, json_option

LOADS = ("idle", "loaded")
"""As ringmaster.bench.rtt_options has them, which `--help` need not import."""


@click.command(
    epilog=examples(
        "ringmaster bench rtt",
        "ringmaster bench rtt --report out --rounds 5 --seconds 10",
        "ringmaster bench rtt --kinds memif,raw,udp --loads idle --json > rtt.json",
        "ringmaster bench rtt --left pci:0000:03:00.0 --right pci:0000:03:00.1",
        "ringmaster bench rtt --left raw:eth1 --right raw:eth2 --left raw:eth1,wait=spin --right raw:eth2,wait=spin",
    )
)
@click.option(
    "--rate",
    type=Finite(1, MOST_HZ),
    default=5_000.0,
    show_default=True,
    metavar="HZ",
    help="Probes a second, on a schedule.",
)
@click.option("--seconds", type=Finite(0.1), default=2.0, show_default=True, help="Of a round.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Of each way and load.")
@click.option(
    "--size",
    type=click.IntRange(SMALLEST, LARGEST),
    default=SMALLEST,
    show_default=True,
    help="Payload, bytes; above 1472 the links are jumbo.",
)
@click.option(
    "--kinds",
    default=",".join(KINDS),
    type=SomeOf(KINDS),
    metavar="KIND,…",
    help="Links to make and measure, of: " + ", ".join(KINDS),
)
@click.option("--loads", default=",".join(LOADS), type=SomeOf(LOADS), metavar="LOAD,…", help="Of: " + ", ".join(LOADS))
@click.option(
    "--left", multiple=True, metavar="LINK", help="Instead of --kinds: a card of yours, where probes are sent."
)
@click.option("--right", multiple=True, metavar="LINK", help="And the card at the cable's other end.")
@click.option("--delay-us", type=Finite(0), default=0.0, hidden=True)
@click.option("--drop-every", type=click.IntRange(0), default=0, hidden=True)
@report_option
@json_option
def rtt(
    rate: float,
    seconds: float,
    rounds: int,
    size: int,
    kinds: tuple[str, ...],
    loads: tuple[str, ...],
    left: tuple[str, ...],
    right: tuple[str, ...],
    delay_us: float,
    drop_every: int,
    report: Path | None,
    as_json: bool,
) -> None:
    """Measure the round trip time between two processes on two cores: DPDK beside the kernel's sockets.

    A sender sends probes on a schedule, a reflector sends each back; the time is from when a probe was due, so that no
    stall hides those that it delayed. Each way has its turn in every round, idle and under load (stress-ng, top -d0),
    on ordinary and on isolated cores where there are any. Over virtual links that it makes, or between two cards with
    a cable. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.rtt import MOST_PROBES, Options, measure, steps

    if len(left) != len(right):
        raise click.UsageError(f"found {len(left)} --left and {len(right)} --right, expected a pair of each")
    if rate * seconds > MOST_PROBES:
        raise click.UsageError(
            f"--rate {rate:g} for --seconds {seconds:g}: {rate * seconds:,.0f} probes in a round, "
            f"expected up to {MOST_PROBES:,}; more --rounds make more"
        )
    options = Options(
        rate_hz=rate,
        seconds=seconds,
        rounds=rounds,
        size=size,
        kinds=kinds,
        loads=loads,
        endpoints=tuple(zip(left, right, strict=True)),
        delay_us=delay_us,
        drop_every=drop_every,
    )
    show("rtt", steps(options), lambda say, step: measure(options, say, step), as_json, report)
