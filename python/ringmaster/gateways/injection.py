# SPDX-License-Identifier: Apache-2.0
"""The turns after an injection, as commissioning looks at them.

``injection/mode`` 3 is the closed orbit: injection/x and injection/y are the newest turns of all BPMs. When it is put
to 1, an owner is asked to inject, and they are the turns from that injection on: until the mode is 3 again, or the next
injection.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ringmaster.beam.bpm import OWN_RATES, bpm_streams, common_turn
from ringmaster.errors import WorkspaceError
from ringmaster.fabric import layout
from ringmaster.fabric.request import Wanted
from ringmaster.fabric.workspace import Workspace
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.settings import InjectionRule
from ringmaster.gateways.streams import NOTHING, Shown, image_point, picture, time_of

AFTER_INJECTION, CLOSED_ORBIT = 1, 3
MODE = "injection/mode"


class Injection:
    """What the last one came to."""

    def __init__(self, rule: InjectionRule, records: int) -> None:
        self._rule, self._records = rule, records
        self._mode = CLOSED_ORBIT
        self._before = -1
        """Changes of the turn's parameter before it was asked for."""
        self._turns: list[npt.NDArray[np.float64]] = []
        """Of x and of y, once all of them have come."""
        self._first = 0

    def shown(self, ws: Workspace) -> Iterator[Shown]:
        """Mode and turns; none where the workspace has no such parameters, or no BPM."""
        streams = bpm_streams(ws, *OWN_RATES)
        if not streams or not {self._rule.put, self._rule.turn} <= set(ws.parameters):
            return
        words = "1: the turns after an injection, which is asked for; 3: the newest turns"
        mode = Point(MODE, MODE, np.dtype(np.int32), description=words, writable=True, owner="server")
        yield Shown(mode, lambda _: State(self._mode), ask=self._ask, done=self._done)
        for plane in (0, 1):
            point = image_point(ws, f"injection/{'xy'[plane]}", self._records, "turns of all BPMs: a row for each")
            yield Shown(point, lambda ws, plane=plane: self._picture(ws, plane))  # type: ignore[misc]

    def _ask(self, ws: Workspace, wanted: Wanted) -> tuple[str, Wanted] | None:
        """What is asked for where the mode is put: nothing for the closed orbit. Raises ValueError for another one."""
        if wanted not in (AFTER_INJECTION, CLOSED_ORBIT):
            raise ValueError(f"{MODE}: {wanted}, expected 1 (turns after an injection) or 3 (closed orbit)")
        if wanted == CLOSED_ORBIT:
            return None
        self._before = ws.parameters[self._rule.turn].changes
        return self._rule.put, self._rule.value

    def _done(self, wanted: Wanted) -> None:
        self._mode, self._turns = int(np.asarray(wanted)), []

    def look(self, ws: Workspace) -> None:
        """Keeps the turns as soon as all of them have come: a BPM holds them for a quarter of a second alone."""
        if self._mode != AFTER_INJECTION or self._turns:
            return
        try:
            parameter = ws.parameters[self._rule.turn]
            reading = parameter.read()
            first = int(np.asarray(reading.value).ravel()[0]) if reading.changes != self._before else layout.TURN_NONE
            last = common_turn(bpm_streams(ws, *OWN_RATES), self._records)
        except (WorkspaceError, ValueError):
            return
        if first == layout.TURN_NONE or last is None or last < first + self._records - 1:
            return
        self._first = first
        self._turns = [picture(ws, first + self._records - 1, self._records, plane) for plane in (0, 1)]

    def _picture(self, ws: Workspace, plane: int) -> State:
        if self._mode == AFTER_INJECTION:
            self.look(ws)
            if not self._turns:
                return NOTHING
            return State(self._turns[plane], utc_ns=time_of(ws, self._first), turn=self._first)
        last = common_turn(bpm_streams(ws, *OWN_RATES), self._records)
        if last is None:
            return NOTHING
        return State(picture(ws, last, self._records, plane), utc_ns=time_of(ws, last), turn=last)
