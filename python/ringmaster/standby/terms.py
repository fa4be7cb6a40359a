# SPDX-License-Identifier: Apache-2.0
"""The operator's reset of terms: when they come to their end, both servers and all chains must forget them together.

A chain forgets its term with its power. A server knows its own from its file and from what its last life left in shared
memory. As long as one of them remembers, its term is taken up again: a reset that forgot one has done nothing.
"""

from dataclasses import dataclass
from pathlib import Path

from ringmaster.fabric.segment import owner_lives
from ringmaster.fabric.workspace import SERVER, directory_of
from ringmaster.machine.server_file import chains, read_yaml
from ringmaster.programs.remains import remove_workspace
from ringmaster.standby.file import FileServer, read_pair
from ringmaster.standby.names import OWNER


class StillRuns(RuntimeError):
    """A program of the pair lives. The text says which."""


@dataclass(frozen=True)
class Reset:
    """What is to be forgotten on this host, and by which chains."""

    remains: tuple[Path, ...]
    """Files of terms, and workspaces that ended servers left."""
    chains: tuple[str, ...]
    """To be switched off and on."""


def find(file: Path) -> Reset:
    """What a reset would remove. Raises StillRuns while a program of either server lives on this host."""
    servers = read_pair(file)
    for server in servers:
        _check_ended(server)
    places = [path for server in servers for path in (server.terms, directory_of(server.workspace)) if path is not None]
    return Reset(tuple(path for path in places if path.exists()), tuple(chains(read_yaml(file))))


def _check_ended(server: FileServer) -> None:
    directory = directory_of(server.workspace)
    for owner, command in ((SERVER, "ringmaster run"), (OWNER, "ringmaster standby run")):
        if owner_lives(directory, owner):
            raise StillRuns(
                f"`{command} {server.config}` runs (workspace {server.workspace}): stop both servers first, also on "
                f"the other host; nothing was reset"
            )


def carry_out(reset: Reset) -> None:
    """Removes what ``find`` found. Raises StillOwned where a program has begun meanwhile, OSError."""
    for path in reset.remains:
        if path.is_dir():
            remove_workspace(path)
        else:
            path.unlink(missing_ok=True)
