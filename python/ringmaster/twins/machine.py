# SPDX-License-Identifier: Apache-2.0
"""The running machine as a model sees it: what supplies stand at, and its orbit, at a turn. It writes nothing."""

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound, WorkspaceError
from ringmaster.fabric.batch import Means, Numbers
from ringmaster.fabric.workspace import SUPPLY_NAMES, Workspace, attach
from ringmaster.feedback.golden import rate_of
from ringmaster.machine.mapping import Mapping
from ringmaster.machine.server_file import names_of_server, of_workspace

Floats = NDArray[np.float64]
MOST_AVERAGED = 1024
"""Records of a stream that one comparison takes."""
CHECK_S = 0.2
"""How often the server is looked at while a turn does not come."""


class Machine:
    """Supplies and BPMs of one mapping in one workspace."""

    def __init__(self, ws: Workspace, mapping: Mapping, source: str, rate: str | None, hz: float) -> None:
        """Raises ObjectNotFound for a BPM or a supply that the workspace has not, and names it."""
        self.ws = ws
        rate = rate or rate_of(ws, mapping.rows)
        names = [f"{row.rpartition('/')[0]}/{rate}" for row in mapping.rows]
        unique = list(dict.fromkeys(names))
        self._streams = [ws.streams[name] for name in unique]
        at = {name: i for i, name in enumerate(unique)}
        lanes = [(at[name], row.rpartition("/")[2]) for name, row in zip(names, mapping.rows, strict=True)]
        for i, lane in lanes:
            if lane not in [it.name for it in self._streams[i].lanes]:
                raise ObjectNotFound(f"the stream {unique[i]!r} of workspace {ws.name!r} has no lane {lane!r}")
        self.turn_rate_hz = ws.parameters["server/turn_rate_hz"].number
        if not self.turn_rate_hz > 0:
            raise ObjectNotFound(f"the server of workspace {ws.name!r} publishes no turn rate yet")
        longest = max(it.period for it in self._streams)
        self.period_turns = max(1, round(self.turn_rate_hz / hz / longest)) * longest
        """From one update to the next: whole records of the slowest BPM."""
        self._numbers = Numbers([ws.parameters[f"{name}/{source}"] for name in mapping.supplies])
        self._orbit = Means(self._streams, lanes, self.period_turns, MOST_AVERAGED)
        self._last = np.zeros(len(self._numbers))

    def now(self) -> int:
        """Newest turn of all BPMs; -1 while nothing has come. One that is silent does not hold up the others."""
        return max((it.head if it.head is not None else -1) for it in self._streams)

    def wait(self, turn: int, timeout_s: float) -> bool:
        """Until some BPM is there; False when the time is over."""
        ahead = max(self._streams, key=lambda it: -1 if it.head is None else it.head)
        return ahead.wait(turn, timeout_s) or self.now() >= turn

    def currents(self) -> tuple[Floats, int]:
        """What all supplies stand at, and of how many that is not known: they keep their last, at first 0."""
        read = self._numbers.read()
        known = np.isfinite(read)
        self._last = np.where(known, read, self._last)
        return self._last.copy(), int(np.count_nonzero(~known))

    def orbit_um(self, turn: int) -> Floats:
        """(BPMs, 2), mean over the update that ends there; NaN of what sent nothing."""
        return self._orbit.read(turn).reshape(-1, 2) * 1e-3


def names_of(ws: Workspace) -> tuple[list[str], list[str]]:
    """Readings and supplies of the server, for patterns of a mapping."""
    known = ws.texts[SUPPLY_NAMES].split() if SUPPLY_NAMES in ws.texts else []
    config = of_workspace(ws)
    return (names_of_server(config)[0] if "instruments" in config else []), known


def attach_again(workspace: str) -> Workspace | None:
    """The workspace, where its server lives now."""
    try:
        return attach(workspace)
    except WorkspaceError:
        return None
