# SPDX-License-Identifier: Apache-2.0
"""How long this host's running server and its applications were kept from their cores, and what that means for the
watchdog of each application. Measured by the server itself while it works: a test of the doctor's own would disturb it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ringmaster.doctor.check import HINT, Answer, Check, Look, absent, bad, good, unknown

SPARE = 2.0
"""A longer stall than the longest so far will come: the watchdog that is proposed outlasts one of twice its length."""


@dataclass(frozen=True)
class Watched:
    """One application of the configuration, as its watchdog sees it."""

    name: str
    watchdog_cycles: int
    period_s: float
    """From one step to the next."""
    stalled_s: float | None = None
    """The longest that its core, or one of the server's, was away; None where no server of this configuration runs."""

    @property
    def waits_s(self) -> float:
        """What the watchdog outlasts."""
        return self.watchdog_cycles * self.period_s

    @property
    def proposed_cycles(self) -> int:
        """What would outlast a stall of SPARE times the longest."""
        return math.ceil(SPARE * (self.stalled_s or 0.0) / self.period_s)


def measure(workspace: str, watched: Sequence[Watched]) -> tuple[Watched, ...]:
    """Asks the running server. Without one, or before its first turns, they stay as they are."""
    from ringmaster.errors import WorkspaceError
    from ringmaster.fabric.workspace import attach

    try:
        with attach(workspace) as ws:
            tsc_hz = ws.clock.read().tsc_hz
            if not tsc_hz:
                return tuple(watched)
            cores = [block for name, block in ws.counter_blocks.items() if name.startswith("core/")]
            server_s = max((block["longest_gap_ticks"] / tsc_hz for block in cores), default=0.0)
            ages = {name.removeprefix("age/"): ws.histograms[name].read() for name in ws.histograms if "age/" in name}
            return tuple(
                replace(one, stalled_s=max(server_s, ages[one.name].largest_ns * 1e-9 if one.name in ages else 0.0))
                for one in watched
            )
    except (WorkspaceError, OSError):
        return tuple(watched)


def watchdog_cycles(look: Look) -> Answer:
    """Would a stall of the host end an application?"""
    if not look.watched:
        return absent("no applications in the configuration, or --config names none")
    seen = [one for one in look.watched if one.stalled_s is not None]
    if not seen:
        return unknown("no server of this configuration works: start it and its instruments, and ask again")
    short = [one for one in seen if (one.stalled_s or 0.0) > one.waits_s]
    longest_s = max(one.stalled_s or 0.0 for one in seen)
    told = f"longest stall {longest_s * 1e3:.3g} ms"
    if not short:
        return good(f"{told}; all watchdogs wait for longer")
    waits = ", ".join(f"{one.name}: {one.watchdog_cycles} cycles are {one.waits_s * 1e3:.3g} ms" for one in short)
    should = ", ".join(f"{one.name}: watchdog_cycles {one.proposed_cycles}" for one in short)
    return bad(
        f"{told}; {waits}",
        f"cores of their own, or {should}",
        by_hand="A longer watchdog lets the supplies stand for so much longer when the application has really stopped: "
        "first give server and applications cores of their own.",
    )


CHECKS = (
    Check(
        "watchdog-cycles",
        watchdog_cycles,
        HINT,
        "Where the host takes a core away for longer than an application's watchdog waits, the application counts as "
        "stalled though nothing is wrong with it. Twice the longest stall so far is proposed; a person decides.",
    ),
)
