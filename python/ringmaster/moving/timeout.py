# SPDX-License-Identifier: Apache-2.0
"""A timeout that counts the server's own cycles: a host that takes its core away for seconds costs time, no error."""

from time import monotonic

from ringmaster.fabric.workspace import Workspace

HANG_S = 60.0
"""A server that lives and has sent no cycle for so long hangs."""


class Timeout:
    """Over when the server has sent cycles for so many seconds, or when ``hang_s`` more have passed without."""

    def __init__(self, ws: Workspace, seconds: float, hang_s: float = HANG_S) -> None:
        self.seconds = seconds
        self._cycles = ws.counters("transmit")
        turn_rate_hz = ws.parameters["server/turn_rate_hz"].number
        self._wanted = seconds * turn_rate_hz / ws.grants["operator"].period_turns
        self._most_s = seconds + hang_s
        self.begin()

    def begin(self) -> None:
        """Anew."""
        self._first = self._cycles["cycles"]
        self._give_up = monotonic() + self._most_s

    def over(self) -> bool:
        """Whether it is."""
        return self._cycles["cycles"] > self._first + self._wanted or monotonic() > self._give_up
