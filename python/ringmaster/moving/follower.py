# SPDX-License-Identifier: Apache-2.0
"""Waits until power supplies have gone where they were sent: by their setpoints, then by their readbacks."""

from collections.abc import Callable, Iterable, Mapping
from time import sleep
from typing import NamedTuple

import numpy as np

from ringmaster.fabric.layout import SupplyState
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.supply import Supply
from ringmaster.fabric.workspace import Workspace
from ringmaster.moving.stopping import Pause
from ringmaster.moving.timeout import Timeout

STILL_S = 10.0
"""A setpoint or a readback that does not move for so long, and is not there, does not follow."""
SHARE = 0.02
"""Of a step, that may be left when a readback counts as being there."""
SETPOINT_SHARE = 1e-3
"""The same of a setpoint that an application makes; one that was put is there to its rounding."""
SIGMAS = 4.0
"""Or so much of its own noise."""
ROUNDING = 1e-6
"""Of a setpoint and a readback: on the wire they are an f32."""
_POLL_S = 0.005
_NOISE_SAMPLES = 20
_NOISE_S = 1.0
_REST_SAMPLES = 5
_REST_S = 0.1


class NotFollowed(RuntimeError):
    """A supply did not go where it was sent. The text says which, where it stands, and what to look at."""


class Follower:
    """Of the supplies of one workspace, with the noise of their readbacks."""

    def __init__(self, ws: Workspace, supplies: Iterable[str], pause: Pause = sleep) -> None:
        """Watches the readbacks for a second."""
        self._ws = ws
        self._pause = pause
        self._supplies = {name: ws.supplies[name] for name in supplies if name in ws.supplies}
        samples = []
        for _ in range(_NOISE_SAMPLES):
            samples.append([readback_of(supply) for supply in self._supplies.values()])
            pause(_NOISE_S / _NOISE_SAMPLES)
        self._noise = dict(zip(self._supplies, np.std(np.array(samples), axis=0), strict=True))
        self._rest: dict[str, _Rest] = {}

    def begin(self, name: str, amplitude: float) -> None:
        """Offsets of this supply, up to an amplitude, count from where it stands now."""
        self.begin_together({name: amplitude})

    def begin_together(self, amplitudes: Mapping[str, float], setpoint_share: float = SETPOINT_SHARE) -> None:
        """The same, of several at once, whose setpoints are there when no more than such a share of it is left."""
        supplies = {name: self._supplies[name] for name in amplitudes if name in self._supplies}
        if not supplies:
            return
        samples = []
        for _ in range(_REST_SAMPLES):
            samples.append([readback_of(supply) for supply in supplies.values()])
            self._pause(_REST_S / _REST_SAMPLES)
        for (name, supply), rest in zip(supplies.items(), np.mean(np.array(samples), axis=0), strict=True):
            amplitude = abs(amplitudes[name])
            near = max(SHARE * amplitude, SIGMAS * self._noise[name])
            self._rest[name] = _Rest(supply.setpoint.number, float(rest), setpoint_share * amplitude, near)

    def wait_for(self, name: str, offset: float, pause: Pause | None = None, timeout: Timeout | None = None) -> None:
        """Until it stands ``offset`` from where it was at ``begin``. Raises NotFollowed."""
        for error in self.wait_for_together({name: offset}, pause, timeout).values():
            raise error

    def wait_for_together(
        self,
        offsets: Mapping[str, float],
        pause: Pause | None = None,
        timeout: Timeout | None = None,
        left: Callable[[int], None] = lambda _: None,
    ) -> dict[str, NotFollowed]:
        """Until each stands that far from where it was at ``begin``, or does not follow: which, and why.

        ``left`` is told how many are not there yet.
        """
        pause, targets = pause or self._pause, []
        for name, offset in offsets.items():
            if name in self._supplies:
                supply, rest = self._supplies[name], self._rest[name]
                target = rest.setpoint + offset
                near = (rest.setpoint_near if offset else 0.0) + ROUNDING * max(abs(rest.setpoint), abs(target))
                targets.append(_Target(supply, supply.setpoint, target, near))
        failed = _wait_until_all(self._ws, targets, pause, timeout, left)
        targets = []
        for name, offset in offsets.items():
            if name not in self._supplies or name in failed:
                continue
            supply, rest = self._supplies[name], self._rest[name]
            if supply.readback is not None and np.isfinite(rest.readback):  # else its chain is taken to obey
                target = rest.readback + offset
                near = rest.readback_near + ROUNDING * max(abs(rest.readback), abs(target))
                targets.append(_Target(supply, supply.readback, target, near))
        return failed | _wait_until_all(self._ws, targets, pause, timeout, left)


class _Rest(NamedTuple):
    """Where a supply stood, and how near to that is there."""

    setpoint: float
    readback: float
    setpoint_near: float
    readback_near: float


class _Target(NamedTuple):
    """Where a setpoint or a readback is to be."""

    supply: Supply
    which: Parameter
    value: float
    near: float


def wait_until(
    ws: Workspace,
    supply: Supply,
    which: Parameter,
    target: float,
    near: float,
    pause: Pause,
    timeout: Timeout | None = None,
) -> None:
    """Until ``which``, its setpoint or readback, is ``near`` the target. Raises NotFollowed when it stands still."""
    for error in _wait_until_all(ws, [_Target(supply, which, target, near)], pause, timeout).values():
        raise error


def _wait_until_all(
    ws: Workspace,
    targets: Iterable[_Target],
    pause: Pause,
    timeout: Timeout | None = None,
    left: Callable[[int], None] = lambda _: None,
) -> dict[str, NotFollowed]:
    """Until all are there, or none of the others moves: which do not follow, and why."""
    waiting = {target.supply.name: target for target in targets}
    last: dict[str, float] = {}
    failed: dict[str, NotFollowed] = {}
    timeout = timeout or Timeout(ws, STILL_S)
    timeout.begin()
    while True:
        for name, target in list(waiting.items()):
            now = target.which.number
            if abs(now - target.value) <= target.near:
                del waiting[name]
            elif SupplyState.TRIPPED in target.supply.state:
                failed[name] = _not_followed(waiting.pop(name), now, "")
            elif not abs(now - last.get(name, float("nan"))) <= target.near:
                last[name] = now
                timeout.begin()
        left(len(waiting))
        if not waiting:
            return failed
        if timeout.over():
            for name, target in waiting.items():
                moved = f"this moved by no more than {target.near:.3g} {target.which.unit}"
                still = f", and {moved} in {timeout.seconds:g} s of cycles"
                failed[name] = _not_followed(target, target.which.number, still)
            return failed
        ws.check()
        pause(_POLL_S)


def _not_followed(target: _Target, now: float, still: str) -> NotFollowed:
    supply, what, unit = target.supply, target.which.name.rpartition("/")[2], target.which.unit
    return NotFollowed(
        f"{supply.name}: its {what} is {now:.6g} {unit}, expected {target.value:.6g} {unit}; the supply is "
        f"{supply.words}{still}"
    )


def readback_of(supply: Supply) -> float:
    """Its current; NaN where its chain does not answer."""
    return float("nan") if supply.readback is None else supply.readback.number
