# SPDX-License-Identifier: Apache-2.0
"""A machine that runs: magnets by their supplies, the swing by the application `excite`, readings by their streams."""

from collections.abc import Mapping, Sequence
from time import monotonic, sleep

import numpy as np

from ringmaster.bba.lines import mean_of
from ringmaster.bba.plant import BeamLost, Floats, Readings, Sine, SupplyFailed
from ringmaster.errors import ObjectNotFound, RequestRefused, RequestUnanswered
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.machine.mapping import Mapping as MachineMapping
from ringmaster.moving.follower import NotFollowed
from ringmaster.moving.hand import Hand, refuse_closed_loops
from ringmaster.moving.place import where_to_put
from ringmaster.moving.stopping import Pause

RATES = ("raw", "fast", "turn")
"""Of the BPMs' streams: the first that is there."""
SETTLE_S = 0.12
"""Behind the readbacks, of the machine: the virtual ring looks at strengths every 50 ms."""
RAMP_S = 0.2
LONGEST_S = 3600.0
"""Of a swing."""
NOTHING_S = 60.0
"""A busy host takes a core away for seconds."""
GONE = 0.1
"""Of the sum signals, that is left where the beam is lost."""
_POLL_S = 0.005
_IDLE, _FULL = 0, 2


class LivePlant:
    """Of one workspace. Raises ValueError where a loop is on, or a supply is not to be moved."""

    def __init__(
        self, ws: Workspace, mapping: MachineMapping, supplies: Sequence[str], sines: Sequence[Sine], pause: Pause
    ) -> None:
        """``supplies``: all that will be stepped."""
        refuse_closed_loops(ws)
        self.rows = mapping.rows
        self._ws, self._pause = ws, pause
        self._rate_hz = ws.parameters["server/turn_rate_hz"].number
        self._places = {sine.supply: where_to_put(ws, sine.supply) for sine in sines}
        self._application = self._excitation()
        self._streams = self._find_streams()
        self._clock = next(iter(self._streams.values()))[0]
        self._first_turn = self._turn()
        self._hand = Hand(ws, supplies, pause)
        self._known = set(supplies)
        self._begun: set[str] = set()
        self._begin_turn = self._first_turn
        self._sum: float | None = None
        self._is_swinging = False

    @property
    def machine_s(self) -> float:
        """By the turns."""
        return (self._turn() - self._first_turn) / self._rate_hz

    def swing(self, sines: Sequence[Sine]) -> None:
        """By `excite`."""
        name = self._application
        arrays = {key: np.array(self._ws.parameters[f"{name}/{key}"].value, np.float64) for key in _ARRAYS}
        arrays["amplitude"][:] = 0.0
        for sine in sines:
            index = self._places[sine.supply].index
            arrays["amplitude"][index], arrays["hz"][index] = sine.amplitude, sine.hz
            arrays["phase"][index] = sine.phase_rad
        wanted: dict[str, float | Floats] = {f"{name}/{key}": array for key, array in arrays.items()}
        self._put(wanted | {f"{name}/ramp_s": RAMP_S, f"{name}/seconds": LONGEST_S})
        self._is_swinging = True
        self._put({f"{name}/run": 1})
        self._wait_for_state(_FULL)
        self._begin_turn = int(self._ws.parameters[f"{name}/begin_turn"].number)
        self._wait(SETTLE_S)

    def still(self) -> None:
        """Ends the swing."""
        if self._is_swinging:
            self._put({f"{self._application}/run": 0})
            self._wait_for_state(_IDLE)
            self._is_swinging = False

    def move(self, offsets: Mapping[str, float]) -> None:
        """By the operator's supplies."""
        new = {name: abs(offset) for name, offset in offsets.items() if name not in self._begun}
        try:
            if new:
                self._hand.begin_together(new)
                self._begun |= set(new)
            self._hand.go_together(offsets)
        except (NotFollowed, RequestRefused, RequestUnanswered) as error:
            name = str(error).partition(":")[0]
            raise SupplyFailed(name if name in offsets else next(iter(offsets)), str(error)) from error
        self._wait(SETTLE_S)

    def read(self, seconds: float) -> Readings:
        """From the next record on."""
        period = self._clock.period
        first = self._turn() // period * period + period
        count = max(1, round(seconds * self._rate_hz / period))
        self._wait_for_turn(first + count * period)
        values = np.full((len(self.rows), count), np.nan)
        sums = []
        for stream, lanes in self._streams.values():
            window = stream.read(first, count)
            for row, lane in lanes:
                values[row] = np.where(window.ok, window.values(lane), np.nan)
                if (total := f"sum{lane[1:]}") in self._lanes_of(stream):
                    there = window.values(total)[window.ok]
                    sums.append(float(there.mean()) if len(there) else np.nan)
        self._check_beam(sums)
        turns = first + period * np.arange(count)
        third = np.diff(values, n=3, axis=1)
        noise = np.sqrt(mean_of((third**2).astype(np.complex128), 1).real / 20.0)  # 1 + 9 + 9 + 1, of white noise
        return Readings((turns - self._begin_turn) / self._rate_hz, values, noise)

    def put_back(self) -> None:
        """All of it, whatever becomes of the rest. Raises NotPutBack."""
        self._pause = sleep
        try:
            self.still()
        finally:
            self._hand.put_back()
            self._begun.clear()

    # ---- what is asked

    def _excitation(self) -> str:
        names = {place.parameter.rpartition("/")[0] for place in self._places.values() if place.index is not None}
        direct = [supply for supply, place in self._places.items() if place.index is None]
        if direct or len(names) != 1:
            raise ValueError(
                f"{direct[0] if direct else ', '.join(names)}: the correctors that swing the orbit must be supplies of "
                f"one application of code `excite`, which makes sines: docs/excitation.md"
            )
        return names.pop()

    def _find_streams(self) -> dict[str, tuple[Stream, list[tuple[int, str]]]]:
        found: dict[str, tuple[Stream, list[tuple[int, str]]]] = {}
        for row, name in enumerate(self.rows):
            instrument, _, lane = name.rpartition("/")
            if instrument not in found:
                rates = [rate for rate in RATES if f"{instrument}/{rate}" in self._ws.streams]
                if not rates:
                    raise ObjectNotFound(
                        f"no stream of {instrument!r} in workspace {self._ws.name!r}: the mapping's rows name its BPMs"
                    )
                found[instrument] = self._ws.streams[f"{instrument}/{rates[0]}"], []
            found[instrument][1].append((row, lane))
        return found

    def _lanes_of(self, stream: Stream) -> set[str]:
        return {lane.name for lane in stream.lanes}

    def _check_beam(self, sums: list[float]) -> None:
        some = [one for one in sums if np.isfinite(one)]
        total = float(np.median(some)) if some else np.nan
        if self._sum is None:
            self._sum = total
        if total < GONE * self._sum:
            raise BeamLost(f"the beam was lost: the BPMs' sums are {100 * total / self._sum:.0f} % of what they were")

    # ---- waiting

    def _turn(self) -> int:
        return int(self._clock.head or 0)

    def _wait(self, seconds: float) -> None:
        self._wait_for_turn(self._turn() + round(seconds * self._rate_hz))

    def _wait_for_turn(self, turn: int) -> None:
        last, wall = self._turn(), monotonic()
        while (now := self._turn()) < turn:
            self._ws.check()
            self._pause(_POLL_S)
            if now > last:
                last, wall = now, monotonic()
            elif monotonic() > wall + NOTHING_S:
                raise RuntimeError(f"nothing has come for {NOTHING_S:g} s in {self._clock.name}")

    def _wait_for_state(self, wanted: int) -> None:
        state = self._ws.parameters[f"{self._application}/state"]
        begin = self._turn()
        while state.number != wanted:
            self._wait(0.01)
            if self._turn() > begin + round((10 * RAMP_S + 2.0) * self._rate_hz):
                raise RuntimeError(
                    f"{self._application}/state is {state.number:g}, expected {wanted} within "
                    f"{10 * RAMP_S + 2.0:g} s: is the application granted? `ringmaster get '{self._application}/*'`"
                )

    def _put(self, wanted: Mapping[str, float | Floats]) -> None:
        reasons = [reason for reason in self._ws.put_together(dict(wanted)).values() if reason]
        if reasons:
            raise RequestRefused("; ".join(reasons))


_ARRAYS = ("amplitude", "hz", "phase")


def room_of(ws: Workspace, supply: str) -> tuple[float, float]:
    """How far it may go down and up from where it stands."""
    setpoint = ws.supplies[supply].setpoint
    stands, low, high = setpoint.number, setpoint.limits.control_low, setpoint.limits.control_high
    return (np.inf if low is None else stands - low, np.inf if high is None else high - stands)
