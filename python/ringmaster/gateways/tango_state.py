# SPDX-License-Identifier: Apache-2.0
"""Loops as TANGO's devices: the state of an application that has a loop, and what its users ask for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmaster.feedback.names import Loop as Setting
from ringmaster.feedback.names import State as Does
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.tango_names import device_of

COMMANDS = {"On": Setting.ON, "Off": Setting.OFF, "Hold": Setting.HOLD, "Reset": None}
STATES = {Does.OFF: "OFF", Does.READY: "STANDBY", Does.ON: "ON", Does.HOLD: "DISABLE", Does.FAULT: "FAULT"}
"""DevState of what a loop does."""


@dataclass(frozen=True)
class Loop:
    """Names outside of what a loop has."""

    loop: str
    reset: str
    state: str

    def asked(self, word: str, reset: Any) -> tuple[str, float]:
        """Which name is put for a command, and what. ``reset`` is what the setting of that name says: it acts when it
        changes.
        """
        setting = COMMANDS[word]
        if setting is None:
            return self.reset, 1.0 - reset if reset in (0.0, 1.0) else 0.0
        return self.loop, float(setting)


def loops_of(points: Iterable[Point]) -> dict[str, Loop]:
    """Loops by the name of their device, in small letters."""
    by_source = {point.source: point for point in points if point.owner}
    found = {}
    for source, point in by_source.items():
        application, _, short = source.rpartition("/")
        others = [by_source.get(f"{application}/{other}") for other in ("reset", "state")]
        if short != "loop" or not point.writable:
            continue
        reset, state = others
        if reset is not None and state is not None:
            found[device_of(point.name).casefold()] = Loop(point.name, reset.name, state.name)
    return found


def state_of_loop(state: State) -> tuple[str, str]:
    """DevState and status of what a loop's reading ``state`` says."""
    if state.value is None:
        return "UNKNOWN", state.message or "the loop has said nothing yet"
    does = Does(int(np.asarray(state.value)))
    return STATES[does], f"the loop is {does.name.lower()}; `ringmaster feedback why` says why"
