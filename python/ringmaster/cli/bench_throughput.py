# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench throughput`."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ringmaster.cli.bench_output import report_option, show
from ringmaster.cli.bench_traffic import endpoint_options, own_links
from ringmaster.cli.options import Finite, SomeOf, examples, json_option

KINDS = ("memif", "af_xdp", "af_packet", "raw", "udp", "udp-32")
SIZES = "18,64,106,256,512,1024,1472,2048,4096,8192,8972"
"""As ringmaster.bench.throughput_cases has them, which `--help` need not import."""
MEANINGS = """\b
Kinds:
  memif      DPDK: memory shared by the two processes
  af_xdp     DPDK over AF_XDP, on a veth pair
  af_packet  DPDK over AF_PACKET rings, on a veth pair
  raw        kernel's packet socket, one system call per frame
  udp        kernel's UDP socket, one system call per datagram
  udp-32     kernel's UDP socket, 32 datagrams per system call

"""

Numbers = tuple[int, ...]


def _numbers(least: int) -> Callable[[click.Context, click.Parameter, str | None], Numbers]:
    """Takes whole numbers with commas between."""

    def chosen(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Numbers:
        try:
            found = tuple(int(part) for part in value.split(",")) if value else ()
        except ValueError:
            found = (least - 1,)
        if any(number < least for number in found):
            raise click.BadParameter(f"found {value!r}, expected whole numbers from {least} with commas between")
        return tuple(dict.fromkeys(found))

    return chosen


def _chosen_cores(senders: Numbers, receiver: int | None) -> tuple[Numbers, int]:
    """Those asked for; else the second that we may use receives, and the first and what there is more send."""
    allowed = sorted(os.sched_getaffinity(0))
    asked = set(senders) | ({receiver} if receiver is not None else set())
    if not asked <= set(allowed):
        raise click.BadParameter(f"found cores {sorted(asked)}, expected some of {allowed}")
    if len(allowed) < 2:
        raise click.ClickException("throughput: needs two cores, one to send and one to receive; there is one")
    chosen = receiver if receiver is not None else next(core for core in allowed[1::-1] if core not in senders[:1])
    return senders or tuple(core for core in allowed if core != chosen)[:2], chosen


def _require_a_link_each(senders: Numbers, links: int) -> None:
    if max(senders, default=0) > links:
        raise click.UsageError(
            f"--senders: found {max(senders)}, expected up to {links}, for so many --left there are of each kind"
        )


@click.command(
    epilog=MEANINGS
    + examples(
        "ringmaster bench throughput",
        "ringmaster bench throughput --kinds memif,udp --sizes 64,1472 --mtu 1500 --senders 1",
        "ringmaster bench throughput --zero-loss 64,1472 --senders 1 --rounds 1 --report throughput",
        "ringmaster bench throughput --senders 1 --mtu 1500 --left pci:0000:03:00.0 --right pci:0000:03:00.1",
    )
)
@click.option("--sizes", default=SIZES, show_default=True, callback=_numbers(1), metavar="B,…", help="Payloads.")
@click.option("--kinds", default=",".join(KINDS), type=SomeOf(KINDS), metavar="KIND,…", help="Of: " + ", ".join(KINDS))
@endpoint_options
@click.option(
    "--senders",
    default="1,2",
    show_default=True,
    callback=_numbers(1),
    metavar="N,…",
    help="Numbers of senders; more than one at the smallest and the largest size of each MTU.",
)
@click.option(
    "--mtu",
    type=click.Choice(("1500", "9000", "both")),
    default="both",
    show_default=True,
    help="Of the link; with both, what fits 1500 is sent with 1500.",
)
@click.option("--seconds", type=Finite(0.1), default=0.5, show_default=True, help="Length of a window.")
@click.option("--rounds", type=click.IntRange(min=1), default=2, show_default=True, help="Windows of each, by turns.")
@click.option(
    "--sender-cores", callback=_numbers(0), metavar="CORE,…", help="One for each sender.  [default: the first]"
)
@click.option("--receiver-core", type=click.IntRange(min=0), metavar="CORE", help="[default: the second]")
@click.option(
    "--zero-loss", callback=_numbers(1), metavar="B,…", help="Search the highest rate without loss for these sizes."
)
@click.option(
    "--tolerance",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Datagrams that a trial may lose.",
)
@click.option("--trial-seconds", type=Finite(0.1), default=1.0, show_default=True, help="Of each trial.")
@click.option(
    "--resolution",
    type=Finite(0.001, 0.5),
    default=0.02,
    show_default=True,
    help="Of the search, as share of the rate found unpaced.",
)
@click.option("--drop-every", type=click.IntRange(min=2), default=None, hidden=True)
@report_option
@json_option
def throughput(
    sender_cores: Numbers,
    receiver_core: int | None,
    drop_every: int | None,
    left: tuple[str, ...],
    right: tuple[str, ...],
    report: Path | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Measure throughput, datagram rate and CPU load by kind over the size of the datagrams.

    DPDK beside the kernel's sockets, by turns in one run; standard and jumbo frames; one and two senders; and where
    datagrams were lost. Uses two cores: sender and receiver. Over virtual links that it makes, or between two cards
    with a cable. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.log import NotMeasured
    from ringmaster.bench.throughput import Options, measure, steps
    from ringmaster.bench.throughput_window import Cores

    cores = Cores(*_chosen_cores(sender_cores, receiver_core))
    endpoints, kinds, links = own_links(left, right)
    if endpoints:
        _require_a_link_each(chosen["senders"], links)
        chosen["kinds"] = kinds
    options = Options(cores=cores, endpoints=endpoints, drop_every=drop_every or 0, **chosen)
    try:
        total = steps(options)
    except NotMeasured as error:
        raise click.ClickException(str(error)) from error
    show("throughput", total, lambda say, step: measure(options, say, step), as_json, report)
