# SPDX-License-Identifier: Apache-2.0
"""Swaps of a real pair on this host: servers that are killed and stopped, and planned switches, as the chains tell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ringmaster.fabric.layout import StandbyReason
from ringmaster.feedback.server_file import read_yaml
from ringmaster.places import CONFIGS
from ringmaster.programs.program import ProgramFailed
from ringmaster.programs.remains import scratch_folder
from ringmaster.standby import names
from ringmaster.standby.switch import switch
from ringmaster.virtual import pair
from ringmaster.virtual.pair import Pair, PairServer
from ringmaster.virtual.pair_file import Timing, free_links, write_pair

CONFIG, OVERLAY = "standby.yaml", "standby-ring.yaml"
TURN_RATE_HZ = 20_000
"""Cycles of 6 ms, which two shared cores carry."""
TIMEOUT_S = 0.1
BEGIN_S = 3.0


@dataclass(frozen=True)
class PairSwaps:
    """What it came to."""

    swap_cycles: tuple[int, ...]
    """Of each unplanned one: from the last setpoints of the one to the first of the other."""
    begun: int
    """Times that the standby did not take over, as the host kept it from its own cycles; it began in the end."""
    planned: int
    planned_missing_cycles: int
    """In all planned ones; those that a server itself came too late for are the host's."""
    planned_duplicate_cycles: int
    judge: Mapping[str, float]
    """What the virtual chains obeyed (instruments/chain_judge.h)."""

    @property
    def violations(self) -> int:
        """Setpoints beyond limits or slew, and chains that were divided."""
        return sum(int(self.judge[name]) for name in ("over_limit", "over_slew", "divided"))

    @property
    def two_masters(self) -> int:
        """Datagrams of a second master that a chain obeyed."""
        return sum(int(self.judge[name]) for name in ("two_masters", "two_instances"))

    @property
    def words(self) -> str:
        """On one line."""
        longest = max(self.swap_cycles, default=0)
        return (
            f"real: {len(self.swap_cycles)} swaps within {longest} cycles, {self.begun} begun anew; {self.planned} "
            f"planned, {self.planned_missing_cycles} cycles missing; {self.violations} violations, "
            f"{self.two_masters} two masters"
        )


def measure(swaps: int, switches: int, missed_cycles: int) -> PairSwaps:
    """Ends the active server so often, by `kill -9` and by SIGSTOP in turn; then switches as planned.

    Raises ProgramFailed where a pair does not come to rest again.
    """
    with scratch_folder("bench") as name:
        server, ring = (read_yaml(CONFIGS / file) for file in (CONFIG, OVERLAY))
        server = {**server, "turn_rate_hz": TURN_RATE_HZ, "workspace": "bench-pair"}
        timing = Timing(missed_cycles, TIMEOUT_S, BEGIN_S)
        config, overlay = write_pair(Path(name), server, ring, free_links(), timing)
        with pair.start(config, overlay) as running:
            found = [_swap(running, PairServer.freeze if i % 2 else PairServer.kill) for i in range(swaps)]
            done = [_switch(running) for _ in range(switches)]
            judge = running.judged()
    cycles = tuple(one for one in found if one is not None)
    missing, doubled = (sum(one[i] for one in done) for i in (0, 1))
    return PairSwaps(cycles, len(found) - len(cycles), len(done), missing, doubled, judge)


def settle(running: Pair) -> PairServer:
    """Both run, one sends, the other one is READY, and the next take-over waits for nobody; returns the active one."""
    for server in running.servers:
        server.start()
    while True:
        active = running.wait_whole()
        told = [figures for one in running.servers if (figures := one.figures()) is not None]
        if len(told) == len(running.servers) and not any(figures.unacknowledged for figures in told):
            return active
        ws = active.attached()
        if ws is not None:
            ws.put(names.ACKNOWLEDGE, 1)


def _swap(running: Pair, end: Callable[[PairServer], None]) -> int | None:
    active = settle(running)
    heir = running.other(active)
    end(active)
    figures = running.wait_active(heir)
    active.thaw()
    return figures.swap_cycles if figures.reason == StandbyReason.TOOK_OVER else None


def _switch(running: Pair) -> tuple[int, int]:
    ws = settle(running).attached()
    if ws is None:
        raise ProgramFailed(f"the active server is gone: {running.told()}")
    done = switch(ws)
    return done.missing_cycles, done.duplicate_cycles
