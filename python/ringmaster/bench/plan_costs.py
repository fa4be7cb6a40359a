# SPDX-License-Identifier: Apache-2.0
"""What work costs on one core of this machine, as `ringmaster plan --costs` reads it."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measure import WHOLE_CORE, Measured, Setup, measure
from ringmaster.bench.printed import printed
from ringmaster.places import find_program
from ringmaster.plan.costs import DEFAULT, Cost, Costs
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import NEAR_NS, core_to_core_ns

INSTRUMENTS = (8, 96, 168)
CHAINS = {"both": "receive_ns", "low_latency": "low_latency_ns"}
TURN_RECORDS = 1 << 14
"""Rings of 168 instruments then take some 0.3 GiB: far larger than any cache all the same."""
COLD = "cold"
TRANSMIT = ("cost", "96", "13")
TIMEOUT_S = 120.0
CPUINFO = Path("/proc/cpuinfo")
MOST_FACTOR = 1.1
"""A cost whose spread is narrower than this, either way, is given so much: two runs differ by more."""


@dataclass(frozen=True)
class Step:
    """One measurement of several."""

    name: str
    run: Callable[[], dict[str, object]]
    """Fields of Costs; those of a table by their key."""


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The model, as the topology names it, too."""
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def widened(low: float, median: float, high: float) -> Cost:
    """A cost whose spread is at least MOST_FACTOR."""
    return Cost(min(low, median / MOST_FACTOR), median, max(high, median * MOST_FACTOR))


def receive_cost(found: Measured) -> Cost:
    """Poll, all that the role does, and free, of buffers that no cache has any more."""
    cold = next((one for one in found.costs if one.name == COLD), None)
    if cold is None:
        raise NotMeasured("ringmaster-measure printed no figure of cold buffers")
    return widened(cold.full_ns.low, cold.full_ns.median, cold.full_ns.high)


def transmit_cost(said: str) -> Cost:
    """Of a datagram to a chain, from what ringmaster-transmit-cost prints: a vector, a cycle, and filling its frame."""
    try:
        read = json.loads(said)
        each = {
            name: (read["vector_ns"][name] + read["cycle_moving_ns"][name]) / read["chains"]
            + read["fill_datagram_ns"][name]
            for name in ("low", "median", "high")
        }
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise NotMeasured(f"ringmaster-transmit-cost printed no figures: {error!r}") from error
    return widened(each["low"], each["median"], each["high"])


def steps(rounds: int) -> Iterator[Step]:
    """All that is measured, some seconds each."""
    for chain, table in CHAINS.items():
        for count in INSTRUMENTS:
            yield Step(f"receive, {count} instruments, {chain}", _receive(count, chain, table, rounds))
    yield Step("transmit", lambda: {"transmit_ns": transmit_cost(_transmit())})
    yield Step("core to core", _ways)


def _receive(count: int, chain: str, table: str, rounds: int) -> Callable[[], dict[str, object]]:
    def run() -> dict[str, object]:
        found = measure(Setup(count, chain, TURN_RECORDS), ("--rounds", str(rounds)))
        if found.core_share < WHOLE_CORE:
            raise NotMeasured(
                f"others had {100 * (1 - found.core_share):.0f} % of the core meanwhile: measure on an idle machine"
            )
        return {table: {count: receive_cost(found)}}

    return run


def _transmit() -> str:
    command = [str(find_program("ringmaster-transmit-cost")), *TRANSMIT]
    return printed("ringmaster-transmit-cost", command, TIMEOUT_S)


def _ways() -> dict[str, object]:
    first, second = cores()
    if first == second:
        raise NotMeasured("this process may use one core alone")
    way = core_to_core_ns(first, second)
    return {"near_ns": way} if way < NEAR_NS else {"far_ns": way}


def put_together(found: Mapping[str, object], missing: list[str], now: datetime | None = None) -> Costs:
    """What was measured, and for the rest the default's, scaled by how much longer a packet takes here."""
    at = (now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
    ratio = 1.0
    table = found.get("receive_ns")
    if isinstance(table, dict):
        shared = sorted(table.keys() & DEFAULT.receive_ns.keys())
        ratios = [table[count].median / DEFAULT.receive_ns[count].median for count in shared]
        ratio = sum(ratios) / len(ratios) if ratios else 1.0
    rest = f"; taken from elsewhere: {', '.join(missing)}" if missing else ""
    base = replace(DEFAULT.scaled(ratio), processor=processor(), measured=f"ringmaster plan costs, {at}{rest}")
    return replace(base, **found)  # type: ignore[arg-type]
