# SPDX-License-Identifier: Apache-2.0
"""`ringmaster standby status` and `why`: both servers side by side, and what keeps the standby from READY."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.standby.figures import StandbyFigures
    from ringmaster.standby.sides import Side

Command = TypeVar("Command", bound=Callable[..., Any])
LABEL, COLUMN = 16, 34
NONE = "–"
NOT_ACTIVE = 10
"""Exit code of `status --quiet` where the server is alive and does not send."""

server_argument = click.argument("server", required=False, metavar="[SERVER]")


@click.command(
    epilog=examples(
        "ringmaster standby status",
        "ringmaster standby status configs/standby.yaml",
        "ringmaster standby status ring-a --json",
        "ringmaster standby status ring-a --quiet && echo it sends",
    )
)
@server_argument
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; exit 0 where SERVER sends, else with another code.")
def status(server: str | None, as_json: bool, quiet: bool) -> None:
    """Show both servers side by side: roles, terms, who sends, how far the standby is, the last take-over.

    SERVER is a workspace, FILE@NAME, or a FILE of a pair; without it, the only workspace that runs. A server on another
    host is shown as the link tells.

    With --quiet, for scripts such as keepalived's: 0 where SERVER is the active one, 10 where it lives and is not, and
    the codes of `ringmaster --help` where it does not live, is stopped, or is no part of a pair.
    """
    from ringmaster.standby.sides import look

    if quiet:
        sys.exit(0 if _sends(server) else NOT_ACTIVE)
    sides = look(server)
    if as_json:
        print_json(_as_json(sides))
        return
    for line in table(sides):
        click.echo(line)


def _sends(server: str | None) -> bool:
    from ringmaster.fabric.workspace import attach
    from ringmaster.standby.figures import need_standby
    from ringmaster.standby.sides import workspaces_of

    chosen = workspaces_of(server)
    if len(chosen) > 1:
        raise click.UsageError(f"{server} is of two servers: say which one, as {server}@NAME")
    with attach(chosen[0]) as ws:
        return need_standby(ws).sends


def _as_json(sides: "tuple[Side, Side]") -> dict[str, Any]:
    from ringmaster.fabric.layout import StandbyRole

    roles = [side.role for side in sides]
    active = [side.server for side in sides if side.role == StandbyRole.ACTIVE]
    return {
        "active": active[0] if len(active) == 1 else None,
        "ready": StandbyRole.READY in roles and len(active) == 1,
        "servers": {side.server: _side_as_json(side) for side in sides},
    }


def _side_as_json(side: "Side") -> dict[str, Any]:
    from ringmaster.standby.figures import as_json

    own = as_json(side.figures) if side.figures is not None else {}
    return {**own, "role": None if side.role is None else side.role.name.lower(), "term": side.term, "by": side.told_by}


def table(sides: "tuple[Side, Side]") -> list[str]:
    """A line for each figure, a column for each server."""
    rows = [("", [side.server for side in sides])]
    rows += [(label, [tell(side) for side in sides]) for label, tell in ROWS]
    lines = [f"{label:<{LABEL}}" + "".join(f"{cell:<{COLUMN}}" for cell in cells) for label, cells in rows]
    notes = [f"{side.server}: {side.told_by}" for side in sides]
    return [*(line.rstrip() for line in lines), "", *notes]


def _role(side: "Side") -> str:
    from ringmaster.standby.names import role_name

    return role_name(side.role)


def _own(tell: "Callable[[StandbyFigures], str]") -> "Callable[[Side], str]":
    """Of what only a server's own workspace tells."""
    return lambda side: NONE if side.figures is None else tell(side.figures)


def _since(it: "StandbyFigures") -> str:
    from ringmaster.values.time_format import clock_time

    return f"{clock_time(it.since_tai_ns).partition('.')[0]}, turn {it.since_turn}"


def _reason(it: "StandbyFigures") -> str:
    return it.reason.name.lower().replace("_", " ")


def _sending(it: "StandbyFigures") -> str:
    return f"yes, {it.with_us} of {it.chains} chains with it" if it.sends else "no"


def _lag(it: "StandbyFigures") -> str:
    return NONE if it.sends or not it.link.runs else f"{it.link.lag_cycles} cycles"


def _differences(it: "StandbyFigures") -> str:
    return str(it.link.differences) if it.link.runs else NONE


def _swap(it: "StandbyFigures") -> str:
    return NONE if it.swap_cycles is None else f"{it.swap_cycles} cycles"


def _switch(it: "StandbyFigures") -> str:
    return NONE if it.switch_turn is None else f"at turn {it.switch_turn}"


ROWS: "tuple[tuple[str, Callable[[Side], str]], ...]" = (
    ("role", _role),
    ("since", _own(_since)),
    ("because", _own(_reason)),
    ("term", lambda side: NONE if side.term is None else str(side.term)),
    ("sends", _own(_sending)),
    ("lag", _own(_lag)),
    ("differences", _own(_differences)),
    ("last swap", _own(_swap)),
    ("acknowledged", _own(lambda it: "no: the next one waits" if it.unacknowledged else "yes")),
    ("switch", _own(_switch)),
)
"""What stands in each row."""


@click.command(epilog=examples("ringmaster standby why", "ringmaster standby why configs/standby.yaml"))
@server_argument
def why(server: str | None) -> None:
    """Say in words what keeps the standby from READY, and what to do about it; exits 1 where anything does.

    SERVER is a workspace, FILE@NAME, or a FILE: then the one that is active on this host is asked.
    """
    from ringmaster.standby.figures import need_standby
    from ringmaster.standby.names import role_name
    from ringmaster.standby.sides import find_active
    from ringmaster.standby.why import read_sentences

    with find_active(server) as ws:
        figures = need_standby(ws)
        found = read_sentences(ws, figures)
    click.echo(f"{figures.server} is {figures.role.name}, {figures.peer} is {role_name(figures.link.peer_role)}")
    for sentence in found:
        click.echo(f"  {sentence}")
    if found:
        sys.exit(1)
    click.echo("  nothing is missing: the standby can go on in the active server's place")
