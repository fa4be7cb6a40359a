# SPDX-License-Identifier: Apache-2.0
"""The segment of the watch: what it tells in the workspace, and the command that it takes."""

from contextlib import suppress
from pathlib import Path

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.owner import Owner, Request
from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.names import ANSWER, COMMAND, DIRECTORY, EVENTS, LAST, OWNER, TO_REVIEW

REASON_BYTES, ID_BYTES, PATH_BYTES = 160, 64, 1024


class OwnSegment:
    """Open from the start; raises OwnerBusy where another watch has it."""

    def __init__(self, workspace: str, catalogue: Catalogue) -> None:
        self._owner = Owner(OWNER, workspace)
        own = self._owner.parameter
        self._events = own(EVENTS, 0, description="Events in the catalogue")
        self._to_review = own(TO_REVIEW, 0, description="Of these, those that no person has reviewed")
        self._last = own(LAST, "", description="ID of the newest event", room=ID_BYTES)
        self._directory = own(DIRECTORY, "", description="Where the events are", room=PATH_BYTES)
        self._answer = own(ANSWER, "", description="ID of the event that the last command belongs to", room=ID_BYTES)
        words = "Put a reason here to make an event of now"
        self._trigger = own(COMMAND, "", description=words, writable=True, room=REASON_BYTES)
        self._reasons: list[str] = []
        self._owner.open()
        self.path: Path = self._owner.path
        self._directory.value = str(catalogue.directory.resolve())
        self.tell(catalogue)

    def tell(self, catalogue: Catalogue) -> None:
        """Publishes what there is."""
        events = catalogue.events()
        self._events.value = len(events)
        self._to_review.value = sum(event.reviewed is None for event in events)
        self._last.value = events[-1].id if events else ""

    def serve(self, timeout_s: float) -> None:
        """Answers requests; waits so long for one."""
        with suppress(WorkspaceError):
            self._reasons += [_text(request) for request in self._owner.serve(timeout_s)]

    def reasons(self) -> list[str]:
        """Why events were asked for since the last time."""
        reasons, self._reasons = self._reasons, []
        return reasons

    def answer(self, id_: str) -> None:
        """Tells which event a command came to belong to."""
        self._answer.value = id_

    def close(self) -> None:
        """Closes in good order."""
        self._owner.close()


def _text(request: Request) -> str:
    words = request.values.tobytes().split(b"\0", 1)[0].decode(errors="replace").strip()
    return words or "a command without a reason"
