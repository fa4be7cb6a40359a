# SPDX-License-Identifier: Apache-2.0
"""Roles of a running server move between cores, as its configuration now has them.

    for move in reload(Path("ring.yaml")):
        print(move.role, move.kind, move.before, move.after, move.stood_ns)

The server reads the file itself, and refuses it where it differs from its own in more than roles' cores and order.
"""

from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ringmaster.fabric.commands import CommandRefused, Commands
from ringmaster.fabric.config_file import read_text, split
from ringmaster.fabric.workspace import Workspace, directory_of

ROLES = "server/roles"
"""The parameter with a line for each role: role, kind, core, moves, ns that it stood still."""


@dataclass(frozen=True)
class Move:
    """A role that has moved, or is to move."""

    role: int
    """Of the configuration's roles; those that its file leaves out come last."""
    kind: str
    before: int
    """The core that it left."""
    after: int
    stood_ns: int | None
    """For how long no core ran it; None: it has not moved yet."""


@dataclass(frozen=True)
class Placed:
    """Where a role runs."""

    role: int
    kind: str
    core: int
    moves: int
    stood_ns: int
    """For how long no core ran it when it moved last."""


def reload(config: Path, check: bool = False) -> list[Move]:
    """Moves the roles of the server whose configuration FILE, or FILE@NAME, is; with ``check`` says what would move.

    Returns when they run on their new cores. Raises CommandRefused where nothing has moved, with the server's reason,
    WorkspaceError where there is no server, and OSError or ValueError for a file that is none.
    """
    with Commands(directory_of(_workspace(config))) as commands:
        return [_move(line) for line in commands.run(f"reload {'check ' if check else ''}{_word(config)}")]


def placement(ws: Workspace) -> list[Placed]:
    """Where the roles of a running server are, in the order in which those of one core take turns."""
    lines = (line.split() for line in str(ws.parameters[ROLES].value).splitlines())
    return [Placed(int(role), kind, *map(int, rest)) for role, kind, *rest in lines]


def _workspace(config: Path) -> str:
    """The name of the server's workspace, by its file."""
    try:
        server = YAML(typ="safe").load(read_text(config))
    except YAMLError as error:
        raise ValueError(f"{config}: {' '.join(str(error).split())}") from None
    name = server.get("workspace") if isinstance(server, dict) else None
    if not isinstance(name, str):
        raise ValueError(f"{config}: workspace: found no name, expected that of the server's workspace")
    return name


def _word(config: Path) -> str:
    """The file's whole path as a word of a command: the server may stand in another folder."""
    file, name = split(config)
    path = f"{file.resolve()}{'' if name is None else f'@{name}'}"
    if '"' in path or "\n" in path:
        raise CommandRefused(f"{path}: no server reads a file whose path has quotes or lines, expected another name")
    return f'"{path}"'


def _move(line: str) -> Move:
    role, kind, before, after, stood_ns = line.split()
    return Move(int(role), kind, int(before), int(after), None if stood_ns == "-" else int(stood_ns))
