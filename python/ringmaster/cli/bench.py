# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench`: measure what this machine can do, each figure beside a peer."""

from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.bench.ingest import Report


@click.group(epilog=examples("ringmaster bench ingest", "ringmaster bench ingest --json > ingest.json"))
def bench() -> None:
    """Measure what this machine can do."""


@bench.command(epilog=examples("ringmaster bench ingest", "ringmaster bench ingest --windows 10 --seconds 1 --json"))
@click.option("--windows", default=5, show_default=True, help="Pairs of windows, ours and the peer's alternating.")
@click.option("--seconds", default=1.0, show_default=True, help="Length of a window.")
@json_option
def ingest(windows: int, seconds: float, as_json: bool) -> None:
    """Measure what one receive core takes in over memif, beside dpdk-testpmd behind the same sender.

    Uses two cores: a sender on the first, the receiver on the second. The shipped server runs with all its counters on.
    """
    from ringmaster.bench.ingest import measure

    report = measure(windows, seconds, lambda line: click.echo(line, err=True))
    if as_json:
        print_json(report.as_json())
    else:
        _print(report)


def _print(report: "Report") -> None:
    for title, spreads, scale, unit in (
        ("zero-loss rate", report.zero_loss_pps, 1e6, "Mpps"),
        ("testpmd rxonly", report.testpmd_pps, 1e6, "Mpps"),
        ("busy time per packet", report.busy_ns_per_packet, 1.0, "ns"),
    ):
        for distance, spread in spreads.items():
            click.echo(
                f"{title:22s}{distance:6s}{spread.median / scale:8.2f} {unit:5s}"
                f"({spread.lowest / scale:.2f} to {spread.highest / scale:.2f}, {spread.count} windows)"
            )
    for distance, ratio in sorted(report.ratio_to_testpmd.items()):
        click.echo(f"{'ratio to testpmd':22s}{distance:6s}{ratio:8.2f}")
    if report.core_to_core_ns is not None:
        click.echo(f"{'core to core':22s}{'':6s}{report.core_to_core_ns.median:8.0f} ns")
    if report.latency_ns is not None:
        parts = ", ".join(f"{key} {value / 1e3:.2f}" for key, value in report.latency_ns.items() if key != "count")
        click.echo(f"{'arrival to visible':28s}{parts} µs at the turn rate")
    click.echo(f"{'lost or wrong':28s}{report.lost}")
