# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench epics`: PV Access of our gateway beside an IOC of as many PVs, with the same client, by turns.

The owner of the parameters changes all of them ten times a second, as the IOC's records do (SCAN ".1 second"). The
client is p4p's; it counts what it is given. All run on loopback, on ports of their own.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, Finite, option
from ringmaster.bench.printed import Times, figures, printed
from ringmaster.bench.pva_clients import PUT, PV
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

RATIO = 0.8
"""Target: updates of the gateway to those of the IOC."""
HZ = 10.0
"""Of each PV: the fastest scan that an IOC has by itself."""
EVERY_MS = 20
"""So often the gateway looks: a change every 100 ms is not missed."""
START_S = 60.0
NEEDED = ("p4p", "caproto", "pvxslibs")
CLIENTS = "ringmaster.bench.pva_clients"
GATEWAY, IOC = "gateway", "IOC"


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(4, "Of each peer, by turns.", COUNT)
    seconds: float = option(4.0, "Of each turn's monitors; of its puts half of it.", Finite(0.5))
    pvs: int = option(1000, "That the client monitors.", COUNT)


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
            f"{self.peer}: {self.updates_per_s:.0f} of {self.offered_per_s:.0f} updates/s with {self.server_cores:.2f} "
            f"of a core, put {self.put.median / 1e3:.0f} µs (p99 {self.put.p99 / 1e3:.0f} µs)"
        )


class Epics(Measurement[Options, Turn]):
    """Measure PV Access of `ringmaster gateway epics` beside pvxs' IOC of as many PVs, with the same client.

    Each PV changes ten times a second. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "epics", "EPICS gateway", Options
    examples = ("", "--json > epics.json", "--pvs 300 --rounds 2")
    about = (
        "PV Access on loopback: updates that p4p's client was given of so many PVs that change ten times a second "
        "each, and puts one after the other; our gateway beside pvxs' IOC, by turns."
    )

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many rounds as fit: a turn takes some seconds more than its time."""
        return Options(max(1, round(seconds / 2 / 10)), 3.0)

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """They take turns."""
        return (GATEWAY, IOC)

    def take(self, peer: str) -> Turn:
        """One of them, started for it and ended after it. Raises NotMeasured."""
        missing = [name for name in NEEDED if find_spec(name) is None]
        if missing:
            raise NotMeasured(f"{', '.join(missing)} not installed: `make gateways` installs them")
        with scratch_folder("epics", "/dev/shm") as folder:
            root = Path(folder)
            environment = loopback() | {"RINGMASTER_WORKSPACES": folder}
            serve = _gateway if peer == GATEWAY else _ioc
            with serve(root, self.options.pvs, environment) as pid:
                return self._turn(peer, pid, environment)

    def _turn(self, peer: str, pid: int, environment: Mapping[str, str]) -> Turn:
        pvs, seconds = self.options.pvs, self.options.seconds
        begin, before = monotonic(), cpu_s(pid)
        monitored = client("monitor", environment, seconds, str(pvs), f"{seconds:g}")
        cores = (cpu_s(pid) - before) / (monotonic() - begin)
        updates = figures(CLIENTS, monitored, lambda said: (said["updates_per_s"], said["client_cores"]))
        times = figures(CLIENTS, client("put", environment, seconds, f"{seconds / 2:g}"), lambda said: Times(**said))
        return Turn(peer, updates[0], pvs * HZ, cores, updates[1], times)

    def _of(self, peer: str) -> list[Turn]:
        return [row for row in self.rows if row.peer == peer]

    def headlines(self) -> list[Headline]:
        """Delivered updates first."""

        def of(peer: str, value: str) -> Figure | None:
            return of_values([getattr(row, value) for row in self._of(peer)], "rounds")

        def put_us(peer: str, what: str) -> Figure | None:
            return of_values([getattr(row.put, what) / 1e3 for row in self._of(peer)], "rounds")

        ratios = [
            ours.updates_per_s / theirs.updates_per_s
            for ours, theirs in pairwise(self.rows)
            if (ours.peer, theirs.peer) == (GATEWAY, IOC) and theirs.updates_per_s
        ]
        return [
            Headline("ratio_to_pvxs_ioc", of_values(ratios, "rounds"), "×", RATIO, at_most=False, about="updates"),
            Headline("pva_updates_per_s", of(GATEWAY, "updates_per_s"), "1/s", about="delivered by the gateway"),
            Headline("ioc_updates_per_s", of(IOC, "updates_per_s"), "1/s", about="delivered by pvxs' IOC"),
            Headline("gateway_cores", of(GATEWAY, "server_cores"), "cores", about="that the gateway took"),
            Headline("ioc_cores", of(IOC, "server_cores"), "cores", about="that the IOC took"),
            Headline(
                "put_us_epics", put_us(GATEWAY, "median"), "µs", about="put through the gateway to its owner, p50"
            ),
            Headline("put_us_epics_p99", put_us(GATEWAY, "p99"), "µs", about="and p99"),
            Headline("put_us_plain_ioc", put_us(IOC, "median"), "µs", about="put to the IOC, p50"),
            Headline("put_us_plain_ioc_p99", put_us(IOC, "p99"), "µs", about="and p99"),
        ]

    def tables(self) -> list[Table]:
        """Every turn."""
        columns: Columns = {
            "": lambda row: row.peer,
            "updates/s": lambda row: row.updates_per_s,
            "offered/s": lambda row: row.offered_per_s,
            "cores": lambda row: row.server_cores,
            "client's cores": lambda row: row.client_cores,
            "put p50 µs": lambda row: row.put.median / 1e3,
            "put p99 µs": lambda row: row.put.p99 / 1e3,
        }
        return [Table.of("Turn by turn", self.rows, columns)] if self.rows else []

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": [asdict(row) for row in self.rows]}


def loopback() -> dict[str, str]:
    """EPICS' variables for a server and its client that no other program meets, and whose threads are ordinary ones:
    root's would be real-time threads in one peer, and half of them in the other.
    """
    ports = []
    held = [socket.socket(socket.AF_INET, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_STREAM)]
    for each in held:
        each.bind(("127.0.0.1", 0))
        ports.append(str(each.getsockname()[1]))
    for each in held:
        each.close()
    here = "127.0.0.1"
    server = {"INTF_ADDR_LIST": here, "BEACON_ADDR_LIST": here, "AUTO_BEACON_ADDR_LIST": "NO"}
    pva = {"SERVER_PORT": ports[0], "BROADCAST_PORT": ports[1]}
    return {
        "EPICS_ALLOW_POSIX_THREAD_PRIORITY_SCHEDULING": "NO",
        **{f"EPICS_{kind}_{name}": value for kind in ("PVAS", "CAS") for name, value in server.items()},
        **{f"EPICS_{kind}_{name}": value for kind in ("PVAS", "PVA") for name, value in pva.items()},
        "EPICS_PVA_ADDR_LIST": here,
        "EPICS_PVA_AUTO_ADDR_LIST": "NO",
        "EPICS_CA_SERVER_PORT": ports[2],
    }


def client(what: str, environment: Mapping[str, str], seconds: float, *arguments: str) -> str:
    """What the client prints."""
    return printed(
        f"PVAccess {what}", [sys.executable, "-m", CLIENTS, what, *arguments], seconds + 120, None, environment
    )


def cpu_s(pid: int) -> float:
    """Time that a process has had of all cores; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _running(command: list[str], environment: Mapping[str, str], ready: str, log: Path) -> Iterator[int]:
    """A program that ends with us; it is there when its log says so. It tells each put: a pipe would fill."""
    with (
        log.open("w") as told,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(environment),
        ) as process,
    ):
        try:
            give_up = monotonic() + START_S
            while ready not in log.read_text():
                if process.poll() is not None or monotonic() > give_up:
                    raise NotMeasured(f"{command[2]} did not start: {log.read_text().strip()[-200:]}")
                sleep(0.05)
            yield process.pid
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(START_S)
            process.kill()


@contextmanager
def _gateway(root: Path, pvs: int, environment: Mapping[str, str]) -> Iterator[int]:
    (root / "bench").mkdir()
    file = root / "gateway.yaml"
    file.write_text(f'every_ms: {EVERY_MS}\nputs: [{{to: "*"}}]\n')
    owner = [sys.executable, "-m", CLIENTS, "own", str(root / "bench"), str(pvs), f"{HZ:g}"]
    command = [sys.executable, "-m", "ringmaster", "gateway", "epics", str(file), "-w", str(root / "bench")]
    with (
        _running(owner, environment, "ready", root / "owner.log"),
        _running(command, environment, "PVs of", root / "gateway.log") as pid,
    ):
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
    with _running(command, environment, "", root / "ioc.log") as pid:
        yield pid  # it may not be ready yet: the client waits for its PVs
