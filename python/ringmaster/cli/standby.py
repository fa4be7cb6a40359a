# SPDX-License-Identifier: Apache-2.0
"""`ringmaster standby`: two servers of one machine, on the command line."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, print_json
from ringmaster.cli.programs import become
from ringmaster.cli.standby_status import server_argument, status, why

if TYPE_CHECKING:
    from ringmaster.fabric.workspace import Workspace
    from ringmaster.standby.terms import Reset


@click.group(
    epilog=examples(
        "ringmaster standby run pair.yaml@a",
        "ringmaster standby status pair.yaml",
        "ringmaster standby why",
        "ringmaster standby switch pair.yaml",
        "ringmaster standby hold pair.yaml@b",
    ),
    no_args_is_help=True,
)
def standby() -> None:
    """Two servers, one machine: who sends, who stands by, and how they change places (docs/standby.md)."""


for command in (status, why):
    standby.add_command(command)


@standby.command(epilog=examples("ringmaster standby run configs/standby.yaml@a"))
@click.argument("config", metavar="FILE@NAME")
def run(config: str) -> None:
    """Run the link of server NAME of the pair in FILE, beside that server, until it is stopped.

    Without it a server that is one of two still decides by its chains; but its peer learns nothing of it, and is not
    READY.
    """
    become("ringmaster-standby", config)


@standby.command(
    epilog=examples(
        "ringmaster standby switch",
        "ringmaster standby switch configs/standby.yaml",
        "ringmaster standby switch ring-a --turn 1200000000 --json",
    )
)
@server_argument
@click.option("--turn", type=click.IntRange(min=2), metavar="T", help="At this turn; without it in half a second.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait until the peer sends.",
)
@json_option
def switch(server: str | None, turn: int | None, timeout_s: float, as_json: bool) -> None:
    """Let the active server hand over to its standby, and say at which turn it did.

    SERVER is the active one; of a FILE it is whichever is active on this host. Refused while the standby is not READY.
    Prints how many of the cycles around that turn no chain has answered to, and how many one has answered to twice;
    exits 1 where it is any.
    """
    from ringmaster.errors import RequestRefused, RequestUnanswered
    from ringmaster.standby.sides import find_active
    from ringmaster.standby.switch import NotSwitched
    from ringmaster.standby.switch import switch as hand_over

    with find_active(server) as ws:
        try:
            done = hand_over(ws, turn, timeout_s)
        except (RequestRefused, RequestUnanswered, NotSwitched) as error:
            raise click.ClickException(str(error)) from None
    if as_json:
        print_json(asdict(done))
    else:
        click.echo(f"{done.server} sends from turn {done.turn} on")
        click.echo(f"of {done.cycles} cycles around it {done.missing_cycles} missing, {done.duplicate_cycles} doubled")
    if done.missing_cycles or done.duplicate_cycles:
        sys.exit(1)


def _put(server: str | None, name: str, value: int) -> str:
    """Asks the process of the one server that is meant; returns the server's name."""
    from ringmaster.fabric.workspace import attach
    from ringmaster.standby.sides import workspaces_of

    chosen = workspaces_of(server)
    if len(chosen) > 1:
        raise click.UsageError(f"{server} is of two servers: say which one, as {server}@NAME")
    with attach(chosen[0]) as ws:
        return _ask(ws, name, value)


def _ask(ws: "Workspace", name: str, value: int) -> str:
    """Asks the process of its link; returns the server's name."""
    from ringmaster.errors import RequestRefused, RequestUnanswered
    from ringmaster.standby.figures import need_standby
    from ringmaster.standby.names import OWNER

    name_of_server = need_standby(ws).server
    ws.check(OWNER)
    try:
        ws.put(name, value)
    except (RequestRefused, RequestUnanswered) as error:
        raise click.ClickException(str(error)) from None
    return name_of_server


@standby.command(epilog=examples("ringmaster standby hold configs/standby.yaml@b"))
@server_argument
def hold(server: str | None) -> None:
    """Hold SERVER: it neither sends nor takes over, until `release`.

    Its role is MAINTENANCE then. An active server hands over first. Where no standby is READY that is refused: stop the
    server instead.
    """
    from ringmaster.standby.names import HOLD

    _hand_over(server)
    click.echo(f"{_put(server, HOLD, 1)} is held: it neither sends nor takes over until `ringmaster standby release`")


def _hand_over(server: str | None) -> None:
    """Where it is active."""
    from ringmaster.errors import RequestRefused, RequestUnanswered
    from ringmaster.fabric.workspace import attach
    from ringmaster.standby.figures import need_standby
    from ringmaster.standby.sides import workspaces_of
    from ringmaster.standby.switch import NotSwitched
    from ringmaster.standby.switch import switch as hand_over

    chosen = workspaces_of(server)
    with attach(chosen[0]) as ws:
        if len(chosen) > 1 or not need_standby(ws).sends:
            return
        try:
            done = hand_over(ws)
        except (RequestRefused, RequestUnanswered, NotSwitched) as error:
            raise click.ClickException(f"it is active, and cannot hand over: {error}") from None
    click.echo(f"{done.server} sends from turn {done.turn} on")


@standby.command(epilog=examples("ringmaster standby release configs/standby.yaml@b"))
@server_argument
def release(server: str | None) -> None:
    """End the hold of SERVER: it joins again."""
    from ringmaster.standby.names import HOLD

    click.echo(f"{_put(server, HOLD, 0)} is released, and joins")


@standby.command(epilog=examples("ringmaster standby acknowledge", "ringmaster standby acknowledge pair.yaml"))
@server_argument
def acknowledge(server: str | None) -> None:
    """Acknowledge an automatic take-over, so that the next one may happen by itself.

    SERVER is either of the two: the link tells the other one. Look first what the cause was: a fault that both servers
    have would make them take over from each other for ever.
    """
    from ringmaster.standby.names import ACKNOWLEDGE
    from ringmaster.standby.sides import find_active

    with find_active(server) as ws:
        click.echo(f"{_ask(ws, ACKNOWLEDGE, 1)}: acknowledged; the next take-over may happen by itself")


@standby.command(
    epilog=examples("ringmaster standby reset configs/standby.yaml", "ringmaster standby reset pair.yaml --yes")
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-y", "--yes", is_flag=True, help="Do it; without this it is only said what would be done.")
def reset(file: Path, yes: bool) -> None:
    """Make the servers of FILE on this host forget their terms, when these come to their end.

    Without beam. Both servers must have ended, on both hosts, and this is run on both; then every chain is switched off
    and on, because it remembers its term as long as it has power. A chain that was forgotten tells the old term, and
    the servers go on from there: nothing is worse than before, and the reset is made again.
    """
    from ringmaster.programs.remains import StillOwned
    from ringmaster.standby import terms

    try:
        found = terms.find(file)
        _say(found, yes)
        if yes:
            terms.carry_out(found)
    except (terms.StillRuns, StillOwned) as error:
        raise click.ClickException(str(error)) from None


def _say(found: "Reset", yes: bool) -> None:
    word = "removed" if yes else "would be removed"
    for path in found.remains:
        click.echo(f"{word}: {path}")
    if not found.remains:
        click.echo("nothing on this host remembers a term")
    click.echo("then, before a server starts:")
    click.echo("  the same on the other host, if the servers have one each")
    click.echo(f"  switch {len(found.chains)} chains off and on: {', '.join(found.chains)}")
