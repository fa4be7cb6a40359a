# SPDX-License-Identifier: Apache-2.0
"""Waits until a power supply has gone where it was sent: by its setpoint, then by its readback."""

from collections.abc import Iterable
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
SIGMAS = 4.0
"""Or so much of its own noise."""
ROUNDING = 1e-6
"""Of a setpoint: on the wire it is an f32."""
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
        if name not in self._supplies:
            return
        supply, samples = self._supplies[name], []
        for _ in range(_REST_SAMPLES):
            samples.append(readback_of(supply))
            self._pause(_REST_S / _REST_SAMPLES)
        near = max(SHARE * amplitude, SIGMAS * self._noise[name])
        self._rest[name] = _Rest(supply.setpoint.number, float(np.mean(samples)), 1e-3 * amplitude, near)

    def wait_for(self, name: str, offset: float, pause: Pause | None = None, timeout: Timeout | None = None) -> None:
        """Until it stands ``offset`` from where it was at ``begin``. Raises NotFollowed."""
        if name not in self._supplies:
            return
        supply, rest, pause = self._supplies[name], self._rest[name], pause or self._pause
        near = (rest.setpoint_near if offset else 0.0) + ROUNDING * abs(rest.setpoint)
        wait_until(self._ws, supply, supply.setpoint, rest.setpoint + offset, near, pause, timeout)
        if supply.readback is not None and np.isfinite(rest.readback):  # else its chain is taken to obey
            target = rest.readback + offset
            wait_until(self._ws, supply, supply.readback, target, rest.readback_near, pause, timeout)


class _Rest(NamedTuple):
    """Where a supply stood, and how near to that is there."""

    setpoint: float
    readback: float
    setpoint_near: float
    readback_near: float


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
    last = float("nan")
    timeout = timeout or Timeout(ws, STILL_S)
    timeout.begin()
    while True:
        now = which.number
        if abs(now - target) <= near:
            return
        if not abs(now - last) <= near:
            last = now
            timeout.begin()
        has_tripped = SupplyState.TRIPPED in supply.state
        if has_tripped or timeout.over():
            what, unit = which.name.rpartition("/")[2], which.unit
            still = f", and this moved by no more than {near:.3g} {unit} in {timeout.seconds:g} s of cycles"
            why = f"the supply is {supply.words}" + ("" if has_tripped else still)
            raise NotFollowed(f"{supply.name}: its {what} is {now:.6g} {unit}, expected {target:.6g} {unit}; {why}")
        ws.check()
        pause(_POLL_S)


def readback_of(supply: Supply) -> float:
    """Its current; NaN where its chain does not answer."""
    return float("nan") if supply.readback is None else supply.readback.number
