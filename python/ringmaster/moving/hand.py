# SPDX-License-Identifier: Apache-2.0
"""Supplies of the operator, moved as `ringmaster put` does it. Each goes back to where it stood, whatever ends it.

Every step goes through the server's guard.
"""

import math
from collections.abc import Sequence
from time import sleep

from ringmaster.errors import RequestRefused, RequestUnanswered, WorkspaceError
from ringmaster.fabric.workspace import Workspace
from ringmaster.moving.follower import Follower, NotFollowed
from ringmaster.moving.stopping import Pause
from ringmaster.moving.timeout import Timeout

_GO_S = 10.0
"""So long a request is made again that was refused or forgotten: a chain that is lost for a moment, a busy host."""
_PUT_BACK_S = 30.0
"""The same where it is to be put back."""
_TRIES = 3
_NEARER = 0.9
"""Of the way that was left: so a slow slew that is cut into pieces gets there, and one that does not move ends."""
_AGAIN_S = 0.2
_STILL_S = 1.0
"""A supply that does not move for so long, and is not there: its setpoint was forgotten on its way."""


class NotPutBack(RuntimeError):
    """Supplies do not stand where they stood before. The text says which, and how to put them back."""


def refuse_closed_loops(ws: Workspace) -> None:
    """Raises ValueError where the loop of an application is on, or held."""
    loops = [name for name in ws.parameters if name.endswith("/loop") and ws.parameters[name].number != 0]
    if loops:
        name = loops[0].removesuffix("/loop")
        raise ValueError(f"the loop of {name} is on: it would correct what is to be measured; switch it off first")


def refuse_owned(ws: Workspace, supply: str) -> None:
    """Raises ValueError for a supply that is not the operator's."""
    setpoint = ws.supplies[supply].setpoint
    if not setpoint.writable:
        raise ValueError(
            f"{supply} is not the operator's to move: it is {setpoint.description}. Take it out of the `supplies` of "
            f"that application for the measurement"
        )


class Hand:
    """Moves supplies of the operator, and remembers where they stood."""

    def __init__(self, ws: Workspace, supplies: Sequence[str], pause: Pause = sleep) -> None:
        self._ws = ws
        self._pause = pause
        self._follower = Follower(ws, supplies, pause)
        self._stood: dict[str, float] = {}

    def begin(self, name: str, amplitude: float) -> None:
        """Offsets count from where it stands now. Raises NotFollowed where nobody knows that, RequestRefused where the
        guard would refuse to go so far: before anything moves.
        """
        setpoint = self._ws.supplies[name].setpoint
        stands, unit = setpoint.number, setpoint.unit
        if not math.isfinite(stands):
            raise NotFollowed(f"{name}: where it stands is not known; its chain has not answered yet")
        low, high = setpoint.limits.control_low, setpoint.limits.control_high
        if high is not None and stands + amplitude > high:
            raise RequestRefused(f"{name}: {stands + amplitude:g} {unit} is above its upper limit of {high:g} {unit}")
        if low is not None and stands - amplitude < low:
            raise RequestRefused(f"{name}: {stands - amplitude:g} {unit} is below its lower limit of {low:g} {unit}")
        self._follower.begin(name, amplitude)
        self._stood[name] = stands

    def go(self, name: str, offset: float) -> None:
        """To ``offset`` from where it stood, and waits until it is there. Raises RequestRefused, NotFollowed."""
        self._reach(name, offset, _GO_S, self._pause)

    def go_together(self, names: Sequence[str], offset: float) -> None:
        """All of them at once, and waits until all are there. Raises RequestRefused, NotFollowed."""
        targets = {self._ws.supplies[name].setpoint.name: self._stood[name] + offset for name in names}
        self._ws.put_together(targets)
        for name in names:
            self.go(name, offset)

    def ask(self, name: str, offset: float) -> None:
        """For ``offset`` from where it stood, once, and without waiting until it is there. Raises RequestRefused,
        RequestUnanswered.
        """
        self._ws.put(self._ws.supplies[name].setpoint.name, self._stood[name] + offset)

    def put_back(self) -> None:
        """All that were moved. No pause can end this. Raises NotPutBack."""
        failed = {}
        for name, stood in list(self._stood.items()):
            try:
                self._reach(name, 0.0, _PUT_BACK_S, sleep)
            except (RequestRefused, RequestUnanswered, NotFollowed, WorkspaceError) as error:
                failed[name] = (stood, str(error))
            del self._stood[name]
        if failed:
            told = [f"`ringmaster put {name}/setpoint {stood:.9g}` ({why})" for name, (stood, why) in failed.items()]
            raise NotPutBack(f"not back where it stood; put it back by {'; '.join(told)}")

    def _reach(self, name: str, offset: float, timeout_s: float, pause: Pause) -> None:
        """Until setpoint and readback are there. What stands still is asked for again, for so long."""
        setpoint, target = self._ws.supplies[name].setpoint, self._stood[name] + offset
        timeout, nearest, tries = Timeout(self._ws, timeout_s), math.inf, 0
        while True:
            try:
                self._ws.put(setpoint.name, target)
                self._follower.wait_for(name, offset, pause, Timeout(self._ws, _STILL_S, 0.0))
                return
            except (RequestRefused, RequestUnanswered, NotFollowed):
                tries += 1
                left = abs(setpoint.number - target)
                if left < _NEARER * nearest:
                    nearest = left
                    timeout.begin()
                elif tries >= _TRIES and timeout.over():
                    raise
            pause(_AGAIN_S)
