# SPDX-License-Identifier: Apache-2.0
"""The demonstration of two servers without a terminal: one is killed, the orbit stays, the killed one joins again."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from time import monotonic, sleep

import numpy as np

from ringmaster.fabric.layout import StandbyReason
from ringmaster.feedback.names import State
from ringmaster.standby.switch import NotSwitched, Switched, switch
from ringmaster.virtual.pair import VIOLATIONS, PairServer
from ringmaster.virtual.pair_loop import PairLoop

SETTLES_S = 3.0
"""From the loop closed until its integrals have what they need."""
LOOKS_CYCLES = 400
"""Before the kill, and from it on: two seconds."""
HOLDS_S = 20.0
"""So long it may hold after a take-over, on a host that is late."""
STAYS = 3.0
"""An orbit stays whose largest RMS after the kill is below this many times the largest before it."""
FLOOR_UM = 1.0
"""Below this an orbit is said to stay, whatever it was."""

Planes = dict[str, float]


@dataclass(frozen=True)
class PairReport:
    """What came of it; the JSON has these names under "pair"."""

    killed: str
    took_over: str
    swap_cycles: int | None
    """From the last setpoint of the one to the first of the other, as the chains tell."""
    missed_cycles: int
    """After so many the standby may ask."""
    feedback: str
    """State of the loop after the take-over; where it is not on, with its reasons."""
    orbit_rms_um_before: Planes
    """Median over the cycles before."""
    orbit_rms_um_largest_before: Planes
    orbit_rms_um_largest_after: Planes
    joined: bool
    """The killed one, started again, was READY."""
    join_s: float
    switched: Switched | None
    """The planned switch back; None where it did not come."""
    trouble: str
    """Why it did not; empty."""
    chains: dict[str, float]
    """What the chains' judge saw of both servers."""

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words."""
        wrong = [] if self.feedback == "on" else [f"the loop is {self.feedback} after the take-over, not on"]
        for plane in "xy":
            before, after = self.orbit_rms_um_largest_before[plane], self.orbit_rms_um_largest_after[plane]
            if not after <= max(STAYS * before, FLOOR_UM):
                wrong.append(f"the orbit moved in {plane}: from {before:.3g} µm to {after:.3g} µm RMS")
        if not self.joined:
            wrong.append(f"server {self.killed} did not join again: {self.trouble}")
        elif self.switched is None:
            wrong.append(f"the planned switch did not come: {self.trouble}")
        elif self.switched.missing_cycles or self.switched.duplicate_cycles:
            wrong.append(
                f"the planned switch at turn {self.switched.turn} missed {self.switched.missing_cycles} cycles and "
                f"doubled {self.switched.duplicate_cycles}"
            )
        return wrong + [f"{count} {what.replace('_', ' ')}" for what, count in violations(self.chains).items() if count]

    def as_json(self) -> dict[str, object]:
        """Plain dictionaries and numbers."""
        return asdict(self)


def violations(chains: dict[str, float]) -> dict[str, int]:
    """What the judge counted that must not be, by its name."""
    return {name: int(chains.get(name, 0)) for name in VIOLATIONS}


def demonstrate(loop: PairLoop, say: Callable[[str], None]) -> PairReport:
    """Closes the loop, kills the server that sends, starts it again, and switches back as planned."""
    close(loop)
    killed, _ = loop.active()
    heir = loop.pair.other(killed)
    first, mark = _second_before(loop, heir)
    say(f"kill -9 to server {killed.name}, which sends")
    killed.kill()
    figures = loop.pair.wait_active(heir)
    loop.wait_turn(heir, mark + LOOKS_CYCLES * figures.period_turns)
    before, after = loop.rms_um(heir, first, mark), loop.rms_um(heir, mark, loop.turn(heir))
    say(f"server {heir.name} took over after {figures.swap_cycles} cycles without setpoints")
    state = _state(loop)
    joined, join_s, trouble = _join(loop, killed)
    say(f"server {killed.name} was started again and joined in {join_s:.1f} s" if joined else trouble)
    switched, trouble = _switch(heir) if joined else (None, trouble)
    if switched is not None:
        say(
            f"planned switch at turn {switched.turn}: server {switched.server} sends; of {switched.cycles} cycles "
            f"{switched.missing_cycles} missing, {switched.duplicate_cycles} doubled"
        )
    return PairReport(
        killed=killed.name,
        took_over=heir.name if figures.reason == StandbyReason.TOOK_OVER else "",
        swap_cycles=figures.swap_cycles,
        missed_cycles=figures.missed_cycles,
        feedback=state,
        orbit_rms_um_before={plane: float(np.median(of)) for plane, of in before.items()},
        orbit_rms_um_largest_before={plane: max(of, default=float("nan")) for plane, of in before.items()},
        orbit_rms_um_largest_after={plane: max(of, default=float("nan")) for plane, of in after.items()},
        joined=joined,
        join_s=join_s,
        switched=switched,
        trouble=trouble,
        chains=loop.pair.judged(),
    )


def close(loop: PairLoop) -> None:
    """Takes the orbit that there is as the wanted one, and closes the loop; the standby is READY then."""
    loop.take_golden()
    loop.put("loop", 1.0)
    loop.wait_on()
    sleep(SETTLES_S)
    loop.pair.wait_whole()


def _second_before(loop: PairLoop, heir: PairServer) -> tuple[int, int]:
    """Turns from which and up to which the orbit before the kill is looked at, as the standby sees it."""
    begin = loop.turn(heir)
    figures = heir.figures()
    period = figures.period_turns if figures is not None else 1
    loop.wait_turn(heir, begin + LOOKS_CYCLES * period)
    return begin, loop.turn(heir)


def _state(loop: PairLoop) -> str:
    """Of the feedback, as soon as it is on again: it holds while setpoints do not come to the supplies."""
    from ringmaster.programs.program import ProgramFailed

    with suppress(ProgramFailed):
        loop.wait_on(HOLDS_S)
    figures = loop.figures()
    if figures is None:
        return ""
    reasons = [figures.withdrawn, *figures.missing] if figures.state != State.ON else []
    return ": ".join(filter(None, (figures.state.name.lower(), "; ".join(filter(None, reasons)))))


def _join(loop: PairLoop, killed: PairServer) -> tuple[bool, float, str]:
    """Whether it joined, in how many seconds, and why it did not."""
    from ringmaster.programs.program import ProgramFailed

    begin = monotonic()
    try:
        killed.start()
        loop.pair.wait_whole()
    except ProgramFailed as error:
        return False, monotonic() - begin, str(error)
    return True, monotonic() - begin, ""


def _switch(active: PairServer) -> tuple[Switched | None, str]:
    from ringmaster.errors import RequestRefused, RequestUnanswered, WorkspaceError

    ws = active.attached()
    try:
        return (None, f"{active.name} is gone") if ws is None else (switch(ws), "")
    except (NotSwitched, RequestRefused, RequestUnanswered, WorkspaceError) as error:
        return None, str(error)
