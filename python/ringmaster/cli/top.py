# SPDX-License-Identifier: Apache-2.0
"""`ringmaster top`: a workspace, live."""

from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, print_json, reads_a_workspace

if TYPE_CHECKING:
    from ringmaster.console.watch import Frame, Wanted, Watch

ONCE_S = 0.5
"""How long one look measures rates."""
SPECTRUM_S = 10.0
"""So long at most one look waits for a spectrum: it takes some two seconds of a loop that stays as it is."""
ONCE_WIDTH = 120
"""Columns of a page that goes into a file or a pipe."""
PAGE_NAMES = (
    "overview",
    "ports",
    "streams",
    "cores",
    "links",
    "faults",
    "orbit",
    "tune",
    "supplies",
    "applications",
    "feedback",
    "standby",
)


@click.command(
    epilog=examples(
        "ringmaster top",
        "ringmaster top --page faults",
        "ringmaster top --once --page ports",
        "ringmaster top --once --json | jq .streams[0].lost",
    )
)
@reads_a_workspace
@click.option("--page", type=click.Choice(PAGE_NAMES), default="overview", help="The page to begin with.")
@click.option(
    "--rate", type=click.FloatRange(0.2, 20), default=4.0, metavar="HZ", help="Looks per second. [default: 4]"
)
@click.option("--once", is_flag=True, help="Look once, print the page, and end.")
def top(workspace: str | None, dead: bool, as_json: bool, page: str, rate: float, once: bool) -> None:
    """Show a running workspace live: rates, losses, cores, links, faults, orbit and tune. `?` shows the keys, `q` ends.

    It only reads shared memory, so the server notices nothing. It keeps off the server's cores where the machine has
    another one, and attaches anew when the server was restarted. With --json it looks once: docs/console.md says what
    stands in it.
    """
    from ringmaster.fabric.workspace import attach

    if not once and not as_json:
        from ringmaster.cli.console import Console

        console = Console(attach(workspace, dead), dead, page, rate)
        console.run()
        raise SystemExit(console.return_code)
    from ringmaster.console.watch import Watch

    with attach(workspace, dead) as ws:
        watch = Watch(ws, dead)
        sleep(ONCE_S)
        if as_json:
            from ringmaster.console.report import as_json as report

            print_json(report(watch.look().snapshot))
        else:
            _print(watch, page)


def _look(watch: "Watch", wanted: "Wanted") -> "Frame":
    """One look; at a feedback as long as it takes until its spectrum is one of the loop as it is."""
    begun = monotonic()
    while True:
        frame = watch.look(wanted)
        seen, waited_s = frame.motions, monotonic() - begun
        if wanted.page != "feedback" or not seen.now or seen.open or seen.closed or waited_s > SPECTRUM_S:
            return frame
        sleep(ONCE_S)


def _print(watch: "Watch", page: str) -> None:
    """A page as text, as long as it is; in colour where it goes to a terminal. It is of now: a host that was slow has
    let a second or two pass, and their plots would take the room of columns.
    """
    import sys
    from dataclasses import replace

    from rich.console import Console as RichConsole
    from rich.text import Text

    from ringmaster.console.history import History
    from ringmaster.console.lines import STYLES, line
    from ringmaster.console.pages import page_named
    from ringmaster.console.screen import state
    from ringmaster.console.view import View
    from ringmaster.console.watch import Wanted

    console = RichConsole(width=None if sys.stdout.isatty() else ONCE_WIDTH, highlight=False)
    frame, view = replace(_look(watch, Wanted(page)), history=History()), View(page)
    lines = page_named(page).draw(frame, view, console.width, None)
    for spans in [state(frame, view, console.width), line(), *lines]:
        text = Text.assemble(*((span.text, STYLES[span.style]) for span in spans))
        text.rstrip()
        console.print(text, soft_wrap=True)
