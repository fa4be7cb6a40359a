# SPDX-License-Identifier: Apache-2.0
"""Both servers side by side: each by its own workspace where that is on this host, else as its peer's link tells."""

from dataclasses import dataclass

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.config_file import split
from ringmaster.fabric.layout import StandbyRole
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.standby.figures import StandbyFigures, need_standby
from ringmaster.standby.file import find_server, is_file, read_pair


@dataclass(frozen=True)
class Side:
    """One of the two servers."""

    server: str
    role: StandbyRole | None
    """None where it is not known."""
    term: int | None
    told_by: str
    """Who says so: "told by workspace ring-a", "told by the link of a"; or why nobody does."""
    figures: StandbyFigures | None
    """All that its own workspace tells; None where that is not on this host, or does not live."""


def workspaces_of(word: str | None) -> list[str | None]:
    """The workspaces that a word on the command line means: a file's two, a server's own, one by its name."""
    if word is None or not is_file(word):
        return [word]
    file, name = split(word)
    return [find_server(word).workspace] if name else [one.workspace for one in read_pair(file)]


def find_active(word: str | None) -> Workspace:
    """The workspace of the server that sends, attached; of a single one that is meant, that one, whatever it does.

    Raises what the first could not be attached for, where none of a file's two servers lives here.
    """
    errors: list[WorkspaceError] = []
    found: list[Workspace] = []
    for name in workspaces_of(word):
        try:
            found.append(attach(name))
        except WorkspaceError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    chosen = next((ws for ws in found if _sends(ws)), found[0])
    for ws in found:
        if ws is not chosen:
            ws.close()
    return chosen


def _sends(ws: Workspace) -> bool:
    try:
        return need_standby(ws).sends
    except WorkspaceError:
        return False


def look(word: str | None) -> tuple[Side, Side]:
    """Both, in the order of the file. Raises a WorkspaceError where no server of the pair lives here."""
    errors: list[WorkspaceError] = []
    found: list[Side] = []
    for name in workspaces_of(word):
        try:
            with attach(name) as ws:
                found.append(_own(ws, need_standby(ws)))
        except WorkspaceError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    first = found[0] if len(found) == 1 else None
    if first is not None:
        found.append(_as_told(first, str(errors[0]) if errors else ""))
    a, b = sorted(found, key=lambda side: side.server)
    return a, b


def _own(ws: Workspace, figures: StandbyFigures) -> Side:
    return Side(figures.server, figures.role, figures.term, f"told by workspace {ws.name}", figures)


def _as_told(side: Side, error: str) -> Side:
    figures = side.figures
    assert figures is not None
    link = figures.link
    nobody = error or "told by nobody: its peer does not hear it"
    told = nobody if link.peer_role is None else f"told by the link of {side.server}"
    return Side(figures.peer, link.peer_role, link.peer_term or None, told, None)
