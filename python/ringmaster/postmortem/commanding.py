# SPDX-License-Identifier: Apache-2.0
"""An event by command: asked of the watch, or made here where none runs."""

from pathlib import Path
from time import monotonic, sleep

from ringmaster.errors import WorkspaceDead
from ringmaster.fabric.workspace import attach
from ringmaster.postmortem.names import ANSWER, COMMAND, OWNER
from ringmaster.postmortem.settings import read_settings
from ringmaster.postmortem.watch import Watch

POLL_S = 0.02


def ask_watch(workspace: str | None, reason: str, timeout_s: float) -> str:
    """Asks the watch of a workspace; returns the ID of the event, once it has its entry. Raises ValueError."""
    with attach(workspace, dead=True) as ws:
        if COMMAND not in ws.parameters or not ws.segments[OWNER].alive:
            raise ValueError(
                f"no watch runs in workspace {ws.name!r}: start one by `ringmaster postmortem watch FILE`, or give the "
                f"recorder's FILE to this command"
            )
        before = ws.parameters[ANSWER].changes
        try:
            ws.put(COMMAND, reason or "a command without a reason")
        except WorkspaceDead:
            raise ValueError(f"the watch of workspace {ws.name!r} has just ended; start it again") from None
        give_up = monotonic() + timeout_s
        while ws.parameters[ANSWER].changes == before:
            if monotonic() > give_up:
                raise ValueError(
                    f"the watch took the command, and made no entry of it in {timeout_s:.0f} s; look at it"
                )
            sleep(POLL_S)
        return str(ws.parameters[ANSWER].value)


def capture_here(file: Path, reason: str) -> str:
    """Makes the event in this process, and waits until it is done. Raises ValueError, OSError."""
    watch = Watch(read_settings(file), triggers=False)
    try:
        watch.ask(reason or "a command without a reason")
        begun = watch.look()
        if not begun:
            raise ValueError(f"{file}: {watch.trouble or 'its workspace has no server'}; no event was made")
        watch.run(lambda: not watch.busy)
        return begun[0].id
    finally:
        watch.close()
