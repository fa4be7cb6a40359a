# SPDX-License-Identifier: Apache-2.0
"""How a server grows over cores: one receive role and one memif port per core, each behind a sender on a core of its
own, fifteen instruments at the turn rate each. Seven pairs of cores are the whole of a machine of 105 instruments, 121
million datagrams a second.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from ringmaster.bench.load import IN_TIME
from ringmaster.bench.loads import Link, Replayed
from ringmaster.bench.receivers import SETTLE_S, Sent, faults_of, missing, parse_sent
from ringmaster.bench.setups import LANES, TURN_RATE_HZ, Mapping, buffers, lanes_of
from ringmaster.bench.workspace import own_workspace
from ringmaster.fabric.workspace import Workspace
from ringmaster.monitor.monitor import RECEIVE_LATENCY, Totals
from ringmaster.programs.cores import allowed_cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import release_workspace, scratch_folder

INSTRUMENTS = 15
"""Of each receive core: 100 instruments of the turn rate are seven cores."""


@dataclass(frozen=True)
class Scaled:
    """So many receive cores, for a while."""

    receive_cores: int
    instruments: int
    load_pps: float
    """As set."""
    rate_pps: float
    """As really sent, over all senders."""
    in_time: bool
    """Whether each sender kept its pace."""
    lost: int
    """Sent but not received, lost, duplicate, late or refused."""
    faults: dict[str, int]
    """The same by counter."""
    busy_shares: tuple[float, ...]
    """Of each receive core."""
    busy_ns_per_packet: float
    latency_ns: dict[str, float] | None
    """Arrival of a burst to its records being visible, over all cores."""
    longest_sender_wait_us: float

    @property
    def words(self) -> str:
        """On one line."""
        lost = "".join(f"  {count} {name}" for name, count in self.faults.items())
        late = "" if self.in_time else ", a sender was late"
        busy = f"busy {min(self.busy_shares):.2f} to {max(self.busy_shares):.2f}"
        cores = f"{self.receive_cores} receive {'core' if self.receive_cores == 1 else 'cores'}"
        return f"{cores}: {self.rate_pps / 1e6:.1f} of {self.load_pps / 1e6:.1f} Mpps, {busy}{lost}{late}"


def counts() -> list[int]:
    """Of receive cores: 1, 2, 4 … and as many as there are pairs, a core being left for the rest."""
    most = max(1, (len(allowed_cores()) - 1) // 2)
    return sorted({count for count in (1, 2, 4, 8, 16, 32) if count < most} | {most})


@dataclass(frozen=True)
class _Cores:
    senders: tuple[int, ...]
    receivers: tuple[int, ...]
    rest: int


def _cores(count: int) -> _Cores:
    """Of the allowed ones; on a machine of two, the receiver's core has the rest to do, too."""
    allowed = allowed_cores()
    last = len(allowed) - 1
    senders = tuple(allowed[min(2 * i, last)] for i in range(count))
    return _Cores(senders, tuple(allowed[min(2 * i + 1, last)] for i in range(count)), allowed[last])


def _links(directory: Path, workspace: str, cores: _Cores) -> list[Link]:
    made = []
    for i, (sender, receiver) in enumerate(zip(cores.senders, cores.receivers, strict=True)):
        (folder := directory / f"{i}").mkdir()
        made.append(Link(folder, f"{workspace}-{i}", sender, receiver))
    return made


def _server_file(workspace: str, links: list[Link], rest: int) -> str:
    """Each port has instruments of the same addresses: an address is looked up port by port."""
    ports: list[Mapping] = [{**link.port, "name": f"ring{i}"} for i, link in enumerate(links)]
    instruments: list[Mapping] = [
        {"name": f"bpm{i}x", "kind": "bpm", "id": 1, "count": INSTRUMENTS, "port": f"ring{i}"}
        | {"source": "10.20.0.1", "lanes": lanes_of(LANES)}
        for i in range(len(links))
    ]
    roles: list[Mapping] = [
        {"role": "receive", "core": link.receiver_core, "ports": [f"ring{i}"]} for i, link in enumerate(links)
    ]
    whole: Mapping = {"workspace": workspace, "turn_rate_hz": TURN_RATE_HZ, "ports": ports, "instruments": instruments}
    whole |= {"roles": [*roles, {"role": "housekeeping", "core": rest}], "buffers": buffers(1 << 16)}
    return json.dumps(whole, indent=1)


@contextmanager
def _running(cores: _Cores) -> Iterator[tuple[Workspace, list[Program]]]:
    """A server, and its senders."""
    load = Replayed(INSTRUMENTS, LANES)
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        directory = Path(stack.enter_context(scratch_folder("bench")))
        links = _links(directory, workspace, cores)
        config = directory / "server.yaml"
        config.write_text(_server_file(workspace, links, cores.rest))
        server = stack.enter_context(Program("ringmaster-server", "run", config))
        ws = stack.enter_context(attach_to(workspace, server))
        senders = []
        for link in links:
            stack.callback(release_workspace, link.sender_workspace)
            senders.append(stack.enter_context(Program("ringmaster-instruments", *load.sender(link, TURN_RATE_HZ))))
        yield ws, senders


def _totals(ws: Workspace) -> Totals:
    return {name: dict(block) for name, block in ws.counter_blocks.items()}


def _finish(senders: list[Program]) -> list[Sent]:
    for sender in senders:
        sender.check()
    for sender in senders:
        sender.stop()
    return [parse_sent(sender.words) for sender in senders]


def _busy(before: Totals, after: Totals, cores: tuple[int, ...]) -> tuple[tuple[float, ...], float]:
    """Busy share of each core, and busy ticks per packet of all."""
    shares, busy, packets = [], 0, 0
    for name in (f"core/{core}" for core in sorted(set(cores))):
        gone = {key: after[name][key] - before[name][key] for key in after[name]}
        shares.append(gone["busy_ticks"] / max(1, gone["busy_ticks"] + gone["idle_ticks"]))
        busy, packets = busy + gone["busy_ticks"], packets + gone["packets"]
    return tuple(shares), busy / max(1, packets)


def measure(count: int, seconds: float, tsc_hz: float) -> Scaled:
    """Starts a server of so many receive cores and their senders, looks on, and ends them."""
    cores = _cores(count)
    with _running(cores) as (ws, senders):
        sleep(SETTLE_S)
        before, early = _totals(ws), ws.histograms[RECEIVE_LATENCY].read()
        sleep(seconds)
        after, later = _totals(ws), ws.histograms[RECEIVE_LATENCY].read()
        sent = _finish(senders)
        faults = faults_of(_totals(ws), missing(ws, sum(each.datagrams for each in sent)))
    shares, ticks = _busy(before, after, cores.receivers)
    return Scaled(
        receive_cores=count,
        instruments=count * INSTRUMENTS,
        load_pps=count * INSTRUMENTS * TURN_RATE_HZ,
        rate_pps=sum(each.rate_pps for each in sent),
        in_time=all(each.turn_rate_hz >= IN_TIME * TURN_RATE_HZ for each in sent),
        lost=sum(faults.values()),
        faults=faults,
        busy_shares=shares,
        busy_ns_per_packet=ticks / tsc_hz * 1e9,
        latency_ns=later.since(early).summary(),
        longest_sender_wait_us=max(each.longest_wait_us for each in sent),
    )
