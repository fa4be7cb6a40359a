# SPDX-License-Identifier: Apache-2.0
"""The states that power is measured in, and a window of each.

The load is the one of Elettra at a share of its rate, over memif; its sender, the virtual ring, is on a core of its
own, which takes its part of the energy. So what the governor spares is the difference of two states, not a state.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from time import monotonic, sleep

from ringmaster.bench import cpu_time
from ringmaster.bench.loads import elettra
from ringmaster.bench.power_meter import Meter, Taken
from ringmaster.bench.receivers import Running, alone, running
from ringmaster.bench.setups import TURN_RATE_HZ, Mapping
from ringmaster.bench.windows import RINGMASTER
from ringmaster.fabric.workspace import Workspace
from ringmaster.report.verdicts import number


@dataclass(frozen=True)
class State:
    """Of the machine."""

    name: str
    about: str
    server: bool = True
    loaded: bool = False
    governor: bool = True
    """Adaptive polling as the server has it by default; otherwise it polls without a pause."""

    @property
    def cells(self) -> tuple[str, str]:
        """For tables: what it does, and the governor."""
        return self.name.split(",")[0], ("on" if self.governor else "off") if self.server else "–"


STATES = (
    State("idle", "nothing of ours runs", server=False),
    State("waiting, governor on", "server, no traffic"),
    State("waiting, governor off", "server, no traffic", governor=False),
    State("loaded, governor on", "server and virtual ring", loaded=True),
    State("loaded, governor off", "server and virtual ring", loaded=True, governor=False),
)
TURN_RECORDS = 1 << 16
"""Of each stream: nobody reads them here, and a server with less memory starts sooner."""
NO_GOVERNOR: Mapping = {"target_packets": 0}


@dataclass(frozen=True)
class Window:
    """One state for a while."""

    state: str
    taken: Taken
    """The server's core with its polling split by what the server counts."""
    rate_pps: float
    """Datagrams received."""
    lost: int
    """Of the whole run, also before and after the window; see receivers.faults_of."""
    polls_per_s: float
    busy_share: float
    """Of the server's time: turns of its loop that had packets."""
    waited_share: float
    """Of the server's time: waits on purpose, so that packets gather."""

    @property
    def words(self) -> str:
        """Watts, and how busy the cores were."""
        watts = "" if self.taken.package_w is None else f"{number(self.taken.package_w)} W, "
        busy = ", ".join(f"core {core} {shares.total:.0%} busy" for core, shares in self.taken.shares.items())
        return f"{self.state}: {watts}{busy}"

    @property
    def nanojoules_per_datagram(self) -> float | None:
        """Of the package, the sender's part in it; None where nothing came or there are no watts."""
        if self.taken.package_w is None or self.rate_pps <= 0:
            return None
        return self.taken.package_w / self.rate_pps * 1e9


@contextmanager
def _running(state: State, load: float) -> Iterator[tuple[Running | None, Workspace]]:
    ring = replace(elettra(None if state.governor else NO_GOVERNOR), turn_records=TURN_RECORDS)
    rate_hz = load * TURN_RATE_HZ
    with ExitStack() as stack:
        if state.loaded:
            run = stack.enter_context(running(RINGMASTER, ring, rate_hz))
            assert run.ws is not None
            yield run, run.ws
        else:
            yield None, stack.enter_context(alone(ring, rate_hz))


def _core_counts(ws: Workspace) -> dict[str, int]:
    (counts,) = (dict(block) for name, block in ws.counter_blocks.items() if name.startswith("core/"))
    return counts


def _idle(meter: Meter, seconds: float) -> Taken:
    before = meter.look()
    sleep(seconds)
    return meter.between(before, meter.look())


def measure_window(state: State, load: float, seconds: float, server_core: int, meter: Meter) -> Window:
    """One window; starts what the state needs and ends it. Raises ProgramFailed, NotMeasured."""
    if not state.server:
        return Window(state.name, _idle(meter, seconds), 0.0, 0, 0.0, 0.0, 0.0)
    with _running(state, load) as (run, ws):
        counted, begin = _core_counts(ws), monotonic()
        taken = _idle(meter, seconds)
        grown = {name: value - counted[name] for name, value in _core_counts(ws).items()}
        elapsed = monotonic() - begin
        faults = run.finish()[1] if run else None
    ticks = max(1, grown["busy_ticks"] + grown["idle_ticks"])
    busy_share = grown["busy_ticks"] / ticks
    shares = dict(taken.shares)
    shares[server_core] = cpu_time.polled(shares[server_core], busy_share)
    return Window(
        state=state.name,
        taken=replace(taken, shares=shares),
        rate_pps=grown["packets"] / elapsed,
        lost=sum((faults or {}).values()),
        polls_per_s=grown["loops"] / elapsed,
        busy_share=busy_share,
        waited_share=grown["wait_ticks"] / ticks,
    )
