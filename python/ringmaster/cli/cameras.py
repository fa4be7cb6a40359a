# SPDX-License-Identifier: Apache-2.0
"""`ringmaster cameras`: frames of cameras, received and watched."""

from dataclasses import asdict
from time import sleep
from typing import TYPE_CHECKING

import click

from ringmaster.cli.cameras_control import control
from ringmaster.cli.cameras_virtual import virtual
from ringmaster.cli.options import examples, json_option, print_json
from ringmaster.cli.programs import become

if TYPE_CHECKING:
    from rich.table import Table

    from ringmaster.cameras.status import CameraStatus

ONCE_S = 0.5
"""How long one look measures rates."""
WIDTH = 140
"""Columns of a table that goes into a file or a pipe."""
COLUMNS = ("camera", "pixels", "fps", "MB/s", "whole", "incomplete", "lost", "resent", "refused", "latency", "leased")


@click.group(
    epilog=examples(
        "ringmaster cameras run configs/cameras.yaml",
        "ringmaster cameras list",
        "ringmaster cameras virtual configs/cameras.yaml",
        "ringmaster cameras list cameras --json | jq '.cameras[].fps'",
    ),
    no_args_is_help=True,
)
def cameras() -> None:
    """Receive frames of cameras into shared memory, where any number of programs read them without a copy."""


cameras.add_command(control)
cameras.add_command(virtual)


@cameras.command(epilog=examples("ringmaster cameras run configs/cameras.yaml"))
@click.argument("file", type=click.Path())
def run(file: str) -> None:
    """Receive the cameras of FILE, which its key `cameras` lists, until it is stopped."""
    become("ringmaster-cameras", file)


@cameras.command(
    "list",
    epilog=examples(
        "ringmaster cameras list", "ringmaster cameras list cameras --once", "ringmaster cameras list --json"
    ),
)
@click.argument("workspace", required=False)
@click.option("--once", is_flag=True, help="Look once, for half a second, and end.")
@json_option
def list_(workspace: str | None, once: bool, as_json: bool) -> None:
    """Show what the cameras of WORKSPACE do, live: frames and bytes per second, losses, latency, leases of readers.

    Counts are since the receiver's start. `lost` are frames that nobody was given. The latency is that from a frame's
    last fragment to the frame in readers' hands: the median, and the longest, of those that lie there. It only reads.
    """
    from ringmaster.cameras.status import CameraWatch
    from ringmaster.fabric.workspace import CAMERAS, directory_of

    directory = directory_of(workspace, CAMERAS)
    watch = CameraWatch(directory)
    sleep(ONCE_S)
    if as_json:
        print_json({"workspace": directory.name, "cameras": [asdict(status) for status in watch.look()]})
        return
    from rich.console import Console
    from rich.live import Live

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    if once or not console.is_terminal:
        console.print(_table(watch.look()))
        return
    with Live(_table(watch.look()), console=console, auto_refresh=False) as live:
        while True:
            sleep(ONCE_S)
            live.update(_table(watch.look()), refresh=True)


def _table(statuses: "list[CameraStatus]") -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in ("camera", "pixels") else "right")
    for status in statuses:
        table.add_row(*_cells(status))
    return table


def _cells(status: "CameraStatus") -> tuple[str, ...]:
    pixels = f"{status.width}x{status.height}, {status.bits} bit" if status.width else "-"
    latency = "-" if status.latency_us is None else f"{status.latency_us:.0f} ≤ {status.latency_most_us:.0f} µs"
    leased = "?" if status.leased is None else str(status.leased)
    counts = (status.whole, status.incomplete, status.lost, status.resent_packets, status.refused)
    rates = (f"{status.fps:.1f}", f"{status.bytes_per_s / 1e6:.1f}")
    return (status.name, pixels, *rates, *map(str, counts), latency, f"{leased}/{status.leases}")
