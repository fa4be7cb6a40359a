# SPDX-License-Identifier: Apache-2.0
"""Puts of a gateway's clients: one after the other to each owner, so none is lost, and none waits for another owner."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

from ringmaster.errors import OwnerBusy, RequestRefused, RequestUnanswered, WorkspaceError
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.request import Requester, Wanted, packed
from ringmaster.fabric.workspace import ANSWER_TIMEOUT_S

QUEUED_MAX = 4096
"""Puts that wait for one owner. A requester has 16 places; what is more waits here, and beyond this is refused."""
FAULTS = (RequestRefused, RequestUnanswered, OwnerBusy, WorkspaceError, ValueError, OSError)

Done = Callable[[str], None]
"""Is told why it was refused; "" when it is done."""


@dataclass(frozen=True)
class Put:
    """One of them."""

    parameter: Parameter
    value: Wanted
    done: Done


class _Lane:
    """The puts to one owner, and the thread that asks it."""

    def __init__(self, path: Path, owner: str) -> None:
        self._path = path
        self._requester: Requester | None = None
        self.queue: SimpleQueue[Put | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, name=f"puts-{owner}", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while (put := self.queue.get()) is not None:
            with suppress(RuntimeError):  # the client that asked may be gone
                put.done(self._reason(put))
        if self._requester is not None:
            self._requester.close()

    def _reason(self, put: Put) -> str:
        try:
            values = packed(put.parameter, put.value)
            try:
                self._ask().put(put.parameter, values, 0, ANSWER_TIMEOUT_S)
            except WorkspaceError:  # attached before the owner's restart
                self._forget()
                self._ask().put(put.parameter, values, 0, ANSWER_TIMEOUT_S)
        except FAULTS as error:
            return " ".join(str(error).split()) or type(error).__name__
        return ""

    def _ask(self) -> Requester:
        if self._requester is None:
            self._requester = Requester(self._path, "gateway")
        return self._requester

    def _forget(self) -> None:
        if self._requester is not None:
            self._requester.close()
            self._requester = None

    def close(self) -> None:
        """What waits is answered first."""
        self.queue.put(None)
        self._thread.join(ANSWER_TIMEOUT_S)


class Puts:
    """The queues, one for each owner that was ever asked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lanes: dict[str, _Lane] = {}
        self._lock = Lock()

    def put(self, put: Put) -> None:
        """Queues it; ``put.done`` is called from another thread, once."""
        with self._lock:
            owner = put.parameter.owner
            if owner not in self._lanes:
                self._lanes[owner] = _Lane(self._path, owner)
            queue = self._lanes[owner].queue
            if queue.qsize() < QUEUED_MAX:
                queue.put(put)
                return
        put.done(f"{put.parameter.name}: {QUEUED_MAX} puts wait for {owner} already; try again later")

    def close(self) -> None:
        """Ends the threads."""
        for lane in self._lanes.values():
            lane.close()
