# SPDX-License-Identifier: Apache-2.0
"""What a running workspace does just now, in figures: rates, losses, cores, orbit, tune."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from ringmaster.counters import CounterBlock, lost, refused
from ringmaster.errors import WorkspaceError
from ringmaster.orbit import Orbit, read_orbit
from ringmaster.tune import read_tunes
from ringmaster.workspace import Workspace

Totals = dict[str, dict[str, int]]
"""The values of all counter blocks, by name."""


@dataclass(frozen=True)
class StreamFigures:
    """One instrument. Counts are since the server started."""

    name: str
    rate_hz: float
    """Records that came per second, since the last look."""
    received: int
    """Records that were stored: accepted, and late ones."""
    lost: int
    """Turns that were passed over and did not come late."""
    duplicate: int
    late: int
    refused: int
    """Records whose turn lay outside the accepted window."""


@dataclass(frozen=True)
class PortFigures:
    """One port. Counts are since the server started."""

    name: str
    rate_pps: float
    received: int
    refused: int
    """Packets that were no datagrams of a configured instrument, for whatever reason."""
    kernel_missed: int
    """Dropped before the server saw them, as far as the device tells."""


@dataclass(frozen=True)
class CoreFigures:
    """One core of the engine."""

    name: str
    core: int
    busy_share: float
    """Of the time since the last look, 0–1."""
    longest_gap_us: float
    """Since the server started; the machine's stalls are in it."""


@dataclass(frozen=True)
class SenderFigures:
    """One virtual instrument or replay."""

    name: str
    sent: int
    waits: int
    longest_wait_us: float
    behind_turns: int


@dataclass(frozen=True)
class Snapshot:
    """One look at a workspace."""

    workspace: str
    alive: bool
    turn_rate_hz: float
    """As the turn clock has fitted it; 0 until it is anchored."""
    streams: tuple[StreamFigures, ...]
    ports: tuple[PortFigures, ...]
    cores: tuple[CoreFigures, ...]
    senders: tuple[SenderFigures, ...]
    latency_ns: dict[str, dict[str, float]]
    """Of each histogram: count, p50, p90, p99, p99.9, max."""
    orbit: Orbit | None
    """None until a BPM has sent something."""
    tunes: tuple[float, float] | None
    """Fractional tunes x and y as measured; None until there are enough turns."""
    tunes_simulated: tuple[float, float] | None
    """Those of the virtual ring, where there is one."""


class Monitor:
    """Looks at a workspace again and again, and makes rates out of the differences."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._time = monotonic()
        self._totals = self._count()

    def look(self) -> Snapshot:
        """Figures of now; rates and shares are over the time since the last look, or since this was made."""
        ws = self._ws
        before, self._totals = self._totals, self._count()
        now = monotonic()
        elapsed, self._time = max(now - self._time, 1e-9), now
        clock = ws.clock.read()
        tsc_hz = clock.tsc_hz or float("nan")
        return Snapshot(
            workspace=ws.name,
            alive=ws.alive,
            turn_rate_hz=clock.turn_rate_hz,
            streams=tuple(
                _stream(block.name, before[block.name], self._totals[block.name], elapsed)
                for block in self._blocks("stream")
            ),
            ports=tuple(
                _port(block.name, before[block.name], self._totals[block.name], elapsed)
                for block in self._blocks("port")
            ),
            cores=tuple(
                _core(block.name, before[block.name], self._totals[block.name], tsc_hz)
                for block in self._blocks("core")
            ),
            senders=tuple(_sender(block.name, self._totals[block.name], tsc_hz) for block in self._blocks("sender")),
            latency_ns={name: histogram.read().summary() for name, histogram in ws.histograms.items()},
            orbit=_orbit(ws),
            tunes=_tunes(ws),
            tunes_simulated=_simulated(ws),
        )

    def _count(self) -> Totals:
        return {name: dict(block) for name, block in self._ws.counter_blocks.items()}

    def _blocks(self, set_name: str) -> Iterable[CounterBlock]:
        return (block for block in self._ws.counter_blocks.values() if block.set_name == set_name)


def _own_name(block: str) -> str:
    return block.partition("/")[2]


def _stream(name: str, before: dict[str, int], now: dict[str, int], elapsed: float) -> StreamFigures:
    received = now["accepted"] + now["late"]
    return StreamFigures(
        name=_own_name(name),
        rate_hz=(received - before["accepted"] - before["late"]) / elapsed,
        received=received,
        lost=lost(now),
        duplicate=now["duplicate"],
        late=now["late"],
        refused=refused(now),
    )


def _port(name: str, before: dict[str, int], now: dict[str, int], elapsed: float) -> PortFigures:
    return PortFigures(
        name=_own_name(name),
        rate_pps=(now["received"] - before["received"]) / elapsed,
        received=now["received"],
        refused=now["received"] - now["decoded"],
        kernel_missed=now["kernel_missed"],
    )


def _core(name: str, before: dict[str, int], now: dict[str, int], tsc_hz: float) -> CoreFigures:
    busy = now["busy_ticks"] - before["busy_ticks"]
    idle = now["idle_ticks"] - before["idle_ticks"]
    return CoreFigures(
        name=_own_name(name),
        core=now["core"],
        busy_share=busy / (busy + idle) if busy + idle > 0 else 0.0,
        longest_gap_us=now["longest_gap_ticks"] / tsc_hz * 1e6,
    )


def _sender(name: str, now: dict[str, int], tsc_hz: float) -> SenderFigures:
    return SenderFigures(
        name=_own_name(name),
        sent=now["sent"],
        waits=now["waits"],
        longest_wait_us=now["longest_wait_ticks"] / tsc_hz * 1e6,
        behind_turns=now["behind_turns"],
    )


def _orbit(ws: Workspace) -> Orbit | None:
    try:
        return read_orbit(ws)
    except ValueError:
        return None


def _tunes(ws: Workspace) -> tuple[float, float] | None:
    try:
        return read_tunes(ws)
    except ValueError:
        return None


def _simulated(ws: Workspace) -> tuple[float, float] | None:
    try:
        x, y = (ws.parameters[f"ring/tune_{plane}"].value for plane in "xy")
    except WorkspaceError:
        return None
    return (float(x), float(y)) if isinstance(x, int | float) and isinstance(y, int | float) else None
