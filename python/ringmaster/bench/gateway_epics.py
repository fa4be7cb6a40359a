# SPDX-License-Identifier: Apache-2.0
"""The EPICS part of `ringmaster bench gateway`: PV Access of our gateway beside pvxs' IOC of as many PVs, by turns.

The owner of the parameters changes all of them ten times a second, as the IOC's records do (SCAN ".1 second"). The
client is p4p's; it counts what it is given. All run on loopback, on ports of their own.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import monotonic

from ringmaster.bench.gateway_peers import GATEWAY, cpu_s, loopback, running
from ringmaster.bench.printed import Times, figures, printed
from ringmaster.bench.pva_clients import PUT, PV
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Columns
from ringmaster.report.verdicts import Headline

RATIO = 0.8
"""Target: updates of the gateway to those of the IOC."""
HZ = 10.0
"""Of each PV: the fastest scan that an IOC has by itself."""
EVERY_MS = 20
"""So often the gateway looks: a change every 100 ms is not missed."""
NEEDED = ("p4p", "caproto", "pvxslibs")
CLIENTS = "ringmaster.bench.pva_clients"
IOC = "plain IOC"


@dataclass(frozen=True)
class Turn:
    """What a client had of one of them."""

    peer: str
    updates_per_s: float
    offered_per_s: float
    server_cores: float
    """Of one core that the gateway or the IOC took, 1 being all of it."""
    client_cores: float
    put: Times
    """Nanoseconds, from the call to the server's answer."""

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"EPICS, {self.peer}: {self.updates_per_s:.0f} of {self.offered_per_s:.0f} updates/s with "
            f"{self.server_cores:.2f} of a core, put {self.put.median / 1e3:.0f} µs (p99 {self.put.p99 / 1e3:.0f} µs)"
        )


def take(peer: str, pvs: int, seconds: float) -> Turn:
    """One of them, started for it and ended after it. Raises NotMeasured."""
    with scratch_folder("epics", "/dev/shm") as folder:
        environment = loopback() | {"RINGMASTER_WORKSPACES": folder}
        serve = _gateway if peer == GATEWAY else _ioc
        with serve(Path(folder), pvs, environment) as pid:
            begin, before = monotonic(), cpu_s(pid)
            monitored = client("monitor", environment, seconds, f"{seconds:g}", str(pvs))
            cores = (cpu_s(pid) - before) / (monotonic() - begin)
            updates = figures(CLIENTS, monitored, lambda said: (said["updates_per_s"], said["client_cores"]))
            put = client("put", environment, seconds, f"{seconds / 2:g}")
            times = figures(CLIENTS, put, lambda said: Times(**said))
            return Turn(peer, updates[0], pvs * HZ, cores, updates[1], times)


def client(what: str, environment: Mapping[str, str], seconds: float, *arguments: str) -> str:
    """What the client prints. Raises NotMeasured."""
    command = [sys.executable, "-m", CLIENTS, what, *arguments]
    return printed(f"PVAccess {what}", command, seconds + 120, None, environment)


@contextmanager
def owner(root: Path, pvs: int, environment: Mapping[str, str]) -> Iterator[Path]:
    """Owns so many parameters that change, and one to put, in a workspace of its own."""
    workspace = root / "bench"
    workspace.mkdir()
    command = [sys.executable, "-m", CLIENTS, "own", str(workspace), str(pvs), f"{HZ:g}"]
    with running(command, environment, "ready", root / "owner.log"):
        yield workspace


@contextmanager
def _gateway(root: Path, pvs: int, environment: Mapping[str, str]) -> Iterator[int]:
    with owner(root, pvs, environment) as workspace, epics_gateway(root, str(workspace), environment) as pid:
        yield pid


@contextmanager
def epics_gateway(root: Path, workspace: str, environment: Mapping[str, str]) -> Iterator[int]:
    """Our gateway, of this workspace."""
    file = root / "epics.yaml"
    file.write_text(f'every_ms: {EVERY_MS}\nputs: [{{to: "*"}}]\n')
    command = [sys.executable, "-m", "ringmaster", "gateway", "epics", str(file), "-w", workspace]
    with running(command, environment, "PVs of", root / "gateway.log") as pid:
        yield pid


@contextmanager
def _ioc(root: Path, pvs: int, environment: Mapping[str, str]) -> Iterator[int]:
    records = [
        f'record(calc, "{PV.format(i)}") {{ field(SCAN, ".1 second") field(CALC, "VAL+1") field(EGU, "A") }}'
        for i in range(pvs)
    ]
    file = root / "bench.db"
    file.write_text("\n".join([*records, f'record(ao, "{PUT}") {{ field(EGU, "A") }}\n']))
    command = [sys.executable, "-m", "pvxslibs.ioc", "-d", str(file)]
    with running(command, environment, "", root / "ioc.log") as pid:
        yield pid  # it may not be ready yet: the client waits for its PVs


def ratios(rows: Sequence[Turn]) -> list[float]:
    """Of the gateway's updates to the IOC's in the turn after it."""
    return [
        ours.updates_per_s / theirs.updates_per_s
        for ours, theirs in pairwise(rows)
        if (ours.peer, theirs.peer) == (GATEWAY, IOC) and theirs.updates_per_s
    ]


def headlines(rows: Sequence[Turn]) -> list[Headline]:
    """Delivered updates first."""

    def of(name: str, peer: str, value: str, unit: str, about: str) -> Headline:
        values = (getattr(row, value) for row in rows if row.peer == peer)
        return Headline(name, of_values(values, "rounds"), unit, about=about)

    return [
        Headline("ratio_to_pvxs_ioc", of_values(ratios(rows), "rounds"), "×", RATIO, at_most=False, about="updates"),
        of("pva_updates_per_s", GATEWAY, "updates_per_s", "1/s", "delivered by the EPICS gateway"),
        of("ioc_updates_per_s", IOC, "updates_per_s", "1/s", "delivered by pvxs' IOC"),
        of("epics_gateway_cores", GATEWAY, "server_cores", "cores", "that the EPICS gateway took"),
        of("ioc_cores", IOC, "server_cores", "cores", "that the IOC took"),
    ]


COLUMNS: Columns = {
    "": lambda row: row.peer,
    "updates/s": lambda row: row.updates_per_s,
    "offered/s": lambda row: row.offered_per_s,
    "cores": lambda row: row.server_cores,
    "client's cores": lambda row: row.client_cores,
    "put p50 µs": lambda row: row.put.median / 1e3,
    "put p99 µs": lambda row: row.put.p99 / 1e3,
}
