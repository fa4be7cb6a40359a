# SPDX-License-Identifier: Apache-2.0
"""Supplies of the operator, moved as `ringmaster put` does it, and those of the application `excite`, by its positions.
Each goes back to where it stood, whatever ends it.

Every step goes through the server's guard.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from time import sleep

import numpy as np

from ringmaster.errors import RequestRefused, RequestUnanswered, WorkspaceError
from ringmaster.fabric.request import Wanted
from ringmaster.fabric.workspace import ANSWER_TIMEOUT_S, Workspace
from ringmaster.moving.follower import Follower, NotFollowed
from ringmaster.moving.place import Place, places_of, where_to_put
from ringmaster.moving.stopping import Pause
from ringmaster.moving.timeout import Timeout

_GO_S = 10.0
"""So long a request is made again that was refused or forgotten: a chain that is lost for a moment, a busy host."""
_PUT_BACK_S = 30.0
"""The same where it is to be put back."""
_EACH_S = 0.25
"""More for each of several answers: on a busy host they come one by one."""
_NAMED = 5
"""Supplies that an error names; of more it says how many."""
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
    """Raises ValueError for a supply that this may not move."""
    where_to_put(ws, supply)


def refuse_outside(name: str, target: float, unit: str, low: float | None, high: float | None) -> None:
    """Raises RequestRefused for a target outside of limits."""
    if high is not None and target > high:
        raise RequestRefused(f"{name}: {target:g} {unit} is above its upper limit of {high:g} {unit}")
    if low is not None and target < low:
        raise RequestRefused(f"{name}: {target:g} {unit} is below its lower limit of {low:g} {unit}")


class Hand:
    """Moves supplies, and remembers where they stood."""

    def __init__(self, ws: Workspace, supplies: Sequence[str], pause: Pause = sleep) -> None:
        """Raises ValueError for a supply of an application that does not set what it is asked for."""
        self._ws = ws
        self._pause = pause
        self._place = places_of(ws, supplies)
        self._follower = Follower(ws, supplies, pause)
        self._stood: dict[str, float] = {}

    def begin(self, name: str, amplitude: float) -> None:
        """Offsets count from where it stands now. Raises NotFollowed where nobody knows that, RequestRefused where the
        guard would refuse to go so far, ValueError while an excitation runs: before anything moves.
        """
        self.begin_together({name: amplitude})

    def begin_together(self, offsets: Mapping[str, float], both_ways: bool = True) -> None:
        """The same, of several at once; without ``both_ways`` they go to the side of the offsets alone."""
        stands = {name: self._checked(name, offset, both_ways) for name, offset in offsets.items()}
        self._follower.begin_together(offsets, setpoint_share=0.0)
        self._stood |= stands

    def _checked(self, name: str, offset: float, both_ways: bool) -> float:
        """Where it stands, if it may go so far."""
        setpoint, stands = self._ws.supplies[name].setpoint, self._place[name].stands(self._ws)
        self._place[name].check(self._ws)
        if not math.isfinite(stands):
            raise NotFollowed(f"{name}: where it stands is not known; its chain has not answered yet")
        limits = setpoint.limits
        for target in (stands + offset, stands - offset)[: 2 if both_ways else 1]:
            refuse_outside(name, target, setpoint.unit, limits.control_low, limits.control_high)
        return stands

    def go(self, name: str, offset: float) -> None:
        """To ``offset`` from where it stood, and waits until it is there. Raises RequestRefused, NotFollowed."""
        self.go_together({name: offset})

    def go_together(self, offsets: Mapping[str, float], left: Callable[[int], None] = lambda _: None) -> None:
        """All of them at once, and waits until all are there; ``left`` is told how many are not yet. Raises
        RequestRefused, NotFollowed.
        """
        for error in self._reach(offsets, _GO_S, self._pause, left).values():
            raise error

    def ask(self, name: str, offset: float) -> None:
        """For ``offset`` from where it stood, once, and without waiting until it is there. Raises RequestRefused,
        RequestUnanswered.
        """
        if reason := self._put({name: offset})[name]:
            raise RequestRefused(reason)

    def stay(self) -> None:
        """Where they are now is where they stay: ``put_back`` leaves them there."""
        self._stood.clear()

    def put_back(self) -> None:
        """All that were moved. No pause can end this. Raises NotPutBack."""
        stood = dict(self._stood)
        try:
            failed = self._reach(dict.fromkeys(stood, 0.0), _PUT_BACK_S, sleep)
        except WorkspaceError as error:
            failed = dict.fromkeys(stood, error)
        self._stood.clear()
        if failed:
            told = [f"`ringmaster put {self._place[name]} {stood[name]:.9g}` ({why})" for name, why in failed.items()]
            more = f"; and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
            raise NotPutBack(f"not back where it stood; put it back by {'; '.join(told[:_NAMED])}{more}")

    def _put(self, offsets: Mapping[str, float]) -> dict[str, str]:
        """Asks for all at once: why each was refused, "" where it was not. Raises RequestUnanswered."""
        values: dict[str, Wanted] = {}
        for name, offset in offsets.items():
            place, target = self._place[name], self._stood[name] + offset
            values[place.parameter] = (
                target if place.index is None else _with(self._ws, place, target, values.get(place.parameter))
            )
        reasons = self._ws.put_together(values, ANSWER_TIMEOUT_S + _EACH_S * len(values))
        return {name: reasons[self._place[name].parameter] for name in offsets}

    def _reach(
        self,
        offsets: Mapping[str, float],
        timeout_s: float,
        pause: Pause,
        left: Callable[[int], None] = lambda _: None,
    ) -> dict[str, Exception]:
        """Until setpoints and readbacks are there. What stands still is asked for again, for so long; what is not there
        then, and why.
        """
        timeout, nearest, tries = Timeout(self._ws, timeout_s), dict.fromkeys(offsets, math.inf), 0
        wanted = dict(offsets)
        while wanted:
            failed = self._once(wanted, pause, left)
            tries += 1
            if not failed:
                break
            away = {
                name: abs(self._ws.supplies[name].setpoint.number - self._stood[name] - offsets[name])
                for name in failed
            }
            nearer = {name: far for name, far in away.items() if far < _NEARER * nearest[name]}
            if nearer:
                nearest |= nearer
                timeout.begin()
            elif tries >= _TRIES and timeout.over():
                return failed
            wanted = {name: offsets[name] for name in failed}
            pause(_AGAIN_S)
        return {}

    def _once(self, offsets: Mapping[str, float], pause: Pause, left: Callable[[int], None]) -> dict[str, Exception]:
        """Asks, and waits for those that were not refused."""
        try:
            reasons = self._put(offsets)
        except RequestUnanswered as error:
            return dict.fromkeys(offsets, error)
        refused: dict[str, Exception] = {name: RequestRefused(reason) for name, reason in reasons.items() if reason}
        asked = {name: offset for name, offset in offsets.items() if name not in refused}
        return refused | self._follower.wait_for_together(asked, pause, Timeout(self._ws, _STILL_S, 0.0), left)


def _with(ws: Workspace, place: Place, target: float, values: Wanted | None) -> Wanted:
    """An array with one element more that is to be changed: what it is now, and what was changed before."""
    array = np.array(ws.parameters[place.parameter].value if values is None else values, np.float64)
    assert place.index is not None
    array[place.index] = target
    return array
