# SPDX-License-Identifier: Apache-2.0
"""`ringmaster top`: a workspace, live."""

from dataclasses import asdict
from time import sleep
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, print_json, reads_a_workspace

if TYPE_CHECKING:
    from ringmaster.monitor import Snapshot

ONCE_S = 0.5
"""How long one look measures rates."""


@click.command(
    epilog=examples("ringmaster top", "ringmaster top --once", "ringmaster top --json | jq .streams[0].lost")
)
@reads_a_workspace
@click.option("--once", is_flag=True, help="Look once, print, and end.")
def top(workspace: str | None, dead: bool, as_json: bool, once: bool) -> None:
    """Show a running workspace live: rates, losses, cores, orbit and tune. `q` ends it.

    Lost turns are those passed over, less those that came late. With --json it looks once.
    """
    from ringmaster.workspace import attach

    if once or as_json:
        from ringmaster.monitor import Monitor

        with attach(workspace, dead) as ws:
            monitor = Monitor(ws)
            sleep(ONCE_S)
            _print_once(monitor.look(), as_json)
        return
    from ringmaster.cli.console import Console

    with attach(workspace, dead) as ws:
        Console(ws, dead).run()


def _print_once(snapshot: "Snapshot", as_json: bool) -> None:
    if as_json:
        orbit = snapshot.orbit
        plain = asdict(snapshot)
        plain["orbit"] = orbit and {
            "turn": orbit.turn,
            "turns": orbit.turns,
            "unit": orbit.unit,
            "names": orbit.names,
            "x": orbit.x.tolist(),
            "y": orbit.y.tolist(),
            "rms": orbit.rms,
        }
        print_json(plain)
        return
    import sys

    from rich.console import Console as RichConsole

    from ringmaster.cli import panels

    console = RichConsole(width=None if sys.stdout.isatty() else 120)
    for panel in (panels.summary, panels.streams, panels.ports, panels.cores, panels.senders, panels.orbit):
        console.print(panel(snapshot))
