# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench plan`: what `ringmaster plan` predicts for two, four and eight roles, beside what they do here.

One receive role is measured with one instrument and with eight: a turn is one burst of either, so the two loads say
what a packet and what a burst cost. With these costs the planner predicts two, four and eight roles, for as many
packets as came, where the windows are of the same class.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import sleep

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, SECONDS, option
from ringmaster.bench.receivers import SETTLE_S, parse_sent
from ringmaster.bench.setups import LANES, TURN_RATE_HZ, UDP_PORT, buffers, lanes_of
from ringmaster.bench.workspace import own_workspace
from ringmaster.fabric.workspace import Workspace
from ringmaster.places import CONFIGS
from ringmaster.plan.costs import DEFAULT, Cost
from ringmaster.plan.demand import Demand, read_demand
from ringmaster.plan.judge import Judged, judge
from ringmaster.plan.machine_file import read_machine
from ringmaster.plan.place import make_plan
from ringmaster.plan.predict import Prediction, predict
from ringmaster.plan.roles import dealt_by_file, written_roles
from ringmaster.plan.setting import machine_of
from ringmaster.plan.watch import AGREES, compare, look
from ringmaster.programs.cores import allowed_cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import release_workspace, scratch_folder
from ringmaster.report.conditions import Probed, Watched
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

ROLES = (2, 4, 8)
"""That are predicted."""
INSTRUMENTS = 8
"""Of all roles together, so that the packets are as many, however many roles share them."""
WINDOWS = {"one instrument": (1, 1)} | {str(count): (count, INSTRUMENTS) for count in (1, *ROLES)}
"""Roles, and instruments of all of them; the first two give the costs."""
PORT_KIND = "memif"
MICROSECOND = 1e-6
WHOLE_CORE = 0.9
"""Of its core that the sender has at least, as it polls without a pause; else others had the core meanwhile."""
DISTURBED_MAX = 20
"""Windows of one number of roles: then the machine is too busy to go on."""


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(7, "Each of one role with one instrument, and of one, two, four and eight.", COUNT)
    seconds: float = option(2.0, "Of a window.", SECONDS)
    turn_rate: float = option(TURN_RATE_HZ / 4, "At which eight instruments send.", SECONDS)


@dataclass(frozen=True)
class Loaded:
    """So many receive roles, for a while."""

    roles: int
    instruments: int
    """Of all roles together."""
    cores: int
    """That they share."""
    packets_load: float
    """Of the fullest core, predicted by the default's costs of packets alone, for as many as came."""
    bursts_per_s: float
    """Of that core, as the planner predicts them."""
    measured: float
    packets_per_s: float
    sender_share: float
    """Of its core."""
    core_to_core_ns: float
    distance: str
    """The window's class."""

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"{self.roles} role{'s' if self.roles > 1 else ''} on {self.cores} core{'s' if self.cores > 1 else ''}: "
            f"{self.packets_per_s / 1e6:.2f} Mpps, busy {self.measured:.3f}"
        )


@dataclass(frozen=True)
class Fitted:
    """Costs of one class of windows."""

    scale: float
    """Of the default's costs of packets."""
    burst_ns: float

    def load(self, row: Loaded) -> float:
        """That they come to."""
        return self.scale * row.packets_load + 1e-9 * self.burst_ns * row.bursts_per_s


@dataclass(frozen=True)
class Compared:
    """Several roles, predicted with the costs of one, and measured."""

    roles: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Measured by predicted, less 1."""
        return self.measured / self.predicted - 1


def _middle(rows: Sequence[Loaded]) -> tuple[float, float, float]:
    """Load of packets, bursts a second, measured load: the medians."""
    return (
        median(row.packets_load for row in rows),
        median(row.bursts_per_s for row in rows),
        median(row.measured for row in rows),
    )


def fitted(rows: Sequence[Loaded]) -> dict[str, Fitted]:
    """By class: the costs with which the loads of one role, with one instrument and with eight, are as measured.

    A class without both, or whose noise leaves no costs above 0, has none.
    """
    found = {}
    for distance in sorted({row.distance for row in rows}):
        ones = [row for row in rows if row.roles == 1 and row.distance == distance]
        few, many = ([row for row in ones if row.instruments == count] for count in (1, INSTRUMENTS))
        if not few or not many:
            continue
        few_load, few_bursts, few_measured = _middle(few)
        many_load, many_bursts, many_measured = _middle(many)
        apart = many_load * few_bursts - few_load * many_bursts
        scale = (many_measured * few_bursts - few_measured * many_bursts) / apart
        burst_s = (few_measured * many_load - many_measured * few_load) / apart
        if scale > 0 and burst_s > 0:
            found[distance] = Fitted(scale, 1e9 * burst_s)
    return found


def compared(rows: Sequence[Loaded]) -> list[Compared]:
    """Windows of several roles whose class has costs."""
    costs = fitted(rows)
    return [
        Compared(row.roles, costs[row.distance].load(row), row.measured)
        for row in rows
        if row.roles > 1 and row.distance in costs
    ]


def large_plan(scale: float) -> Judged:
    """Elettra 2.0 on 256 cores, with the default's costs so many times: cards' bursts cost in proportion."""
    machines = CONFIGS / "machines"
    machine, demand = read_machine(machines / "epyc-9755-dual.yaml"), read_demand(machines / "elettra2.yaml")
    return judge(make_plan(machine, demand, DEFAULT.scaled(scale)))


class PlannedRoles(Measurement[Options, Loaded]):
    """Measure the load of two, four and eight receive roles beside what `ringmaster plan` predicts.

    Eight instruments are dealt out to as many ports as there are roles. The costs of a packet and of a burst are those
    of one role with one and with eight instruments, measured in the same run and class of windows. Then: what the same
    costs come to for Elettra 2.0 on 256 cores.
    """

    name, title, options_type = "plan", "Plans", Options
    examples = ("", "--json > plan.json", "--rounds 3 --seconds 1")
    given_up = DISTURBED_MAX
    two_cores = "one for the roles and one for the ring"
    about = (
        "One sender on a core of its own, and one memif port for each receive role. Roles share the cores that are "
        "left. Load is the share of its time in which a core had work, as the server counts it."
    )

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """By how many roles there are."""
        return list(WINDOWS)

    def take(self, peer: str) -> Loaded:
        """Starts a server of so many roles and its sender, looks on, and ends both."""
        row = measured(*WINDOWS[peer], self.options.seconds, self.options.turn_rate)
        if row.sender_share < WHOLE_CORE:
            raise NotMeasured(
                f"the sender had {100 * row.sender_share:.0f} % of its core, expected {100 * WHOLE_CORE:.0f} % at "
                f"least: measure on an idle machine"
            )
        return row

    @property
    def compared(self) -> list[Compared]:
        """Of all rounds so far."""
        return compared(self.rows)

    def _of(self, roles: int) -> list[Compared]:
        return [one for one in self.compared if one.roles == roles]

    @property
    def costs(self) -> Mapping[str, Fitted]:
        """Of each class of windows."""
        return fitted(self.rows)

    @property
    def scale(self) -> Figure | None:
        """Of the default's costs of packets, by the windows of one role."""
        return of_values((one.scale for one in self.costs.values()), "classes")

    def headlines(self) -> list[Headline]:
        """How far from the prediction, and what it comes to on 256 cores."""
        errors = [
            Headline(
                f"error_of_{count}_roles",
                of_values((100 * abs(one.error) for one in self._of(count)), "windows"),
                "%",
                100 * AGREES,
                about="measured beside predicted load",
            )
            for count in ROLES
        ]
        burst = of_values((one.burst_ns for one in self.costs.values()), "classes")
        return [
            *errors,
            Headline("cost_scale", self.scale, "×", about="of the planner's default costs of packets, by one role"),
            Headline("burst", burst, "ns", about=f"by {PORT_KIND}, besides its packets"),
        ]

    def tables(self) -> list[Table]:
        """Predicted beside measured, and the large plan."""
        counts = [count for count in ROLES if self._of(count)]
        columns: Columns = {
            "roles": str,
            "predicted load": lambda count: of_values((one.predicted for one in self._of(count)), "windows"),
            "measured": lambda count: of_values((one.measured for one in self._of(count)), "windows"),
            "windows": lambda count: str(len(self._of(count))),
        }
        made = [Table.of("Load of the fullest core, predicted by one role and measured", counts, columns)]
        if self.scale is not None:
            made.append(Table.of("Elettra 2.0 on 256 cores, by these costs", [large_plan(self.scale.median)], LARGE))
        return made if counts else made[1:]

    def core_shares(self) -> Sequence[float]:
        """The sender's: it polls."""
        return [row.sender_share for row in self.rows]

    def data(self) -> dict[str, object]:
        """Every window, and the costs of each class."""
        return {
            "windows": [asdict(row) for row in self.rows],
            "costs": {distance: asdict(one) for distance, one in self.costs.items()},
            "compared": [asdict(one) for one in self.compared],
        }


LARGE: Columns = {
    "Mpps": lambda judged: judged.plan.demand.packets_per_s / 1e6,
    "receive cores": lambda judged: str(judged.prediction.receive_cores),
    "low … high": lambda judged: (
        f"{judged.uncertainty.receive_cores.low:.0f} … {judged.uncertainty.receive_cores.high:.0f}"
    ),
    "fullest core": lambda judged: judged.prediction.peak,
    "uncertainty": lambda judged: f"times and by {judged.uncertainty.factor:.2f}",
    "memory GB/s": lambda judged: judged.prediction.memory_bytes_per_s / 1e9,
}


def server_file(
    workspace: str, folder: Path, cores: Sequence[int], roles: int, turn_rate_hz: float, instruments: int = INSTRUMENTS
) -> str:
    """Ports ring0, ring1, …, each with its part of the instruments and a receive role."""
    each = instruments // roles
    ports: list[Mapping[str, object]] = [
        {"name": f"ring{i}", "kind": PORT_KIND, "socket": str(folder / f"ring{i}.sock"), "role": "server"}
        | {"udp_port": UDP_PORT}
        for i in range(roles)
    ]
    listed: list[Mapping[str, object]] = [
        {"name": f"bpm{i}x{j}", "kind": "bpm", "id": j + 1, "port": f"ring{i}", "source": f"10.20.{i}.{j + 1}"}
        | {"lanes": lanes_of(LANES)}
        for i in range(roles)
        for j in range(each)
    ]
    received: list[Mapping[str, object]] = [
        {"role": "receive", "core": cores[i % len(cores)], "ports": [f"ring{i}"]} for i in range(roles)
    ]
    whole: Mapping[str, object] = {
        "workspace": workspace,
        "turn_rate_hz": turn_rate_hz,
        "ports": ports,
        "instruments": listed,
    }
    return json.dumps({**whole, "roles": received, "buffers": buffers(1 << 14)}, indent=1)


@contextmanager
def _running(
    config: Path, sender_config: Path, workspaces: tuple[str, str], overlay: Path
) -> Iterator[tuple[Workspace, Program, Program]]:
    with ExitStack() as stack:
        server = stack.enter_context(Program("ringmaster-server", "run", config))
        ws = stack.enter_context(attach_to(workspaces[0], server))
        stack.callback(release_workspace, workspaces[1])
        sender = stack.enter_context(Program("ringmaster-instruments", "run", sender_config, overlay, "--json"))
        sleep(SETTLE_S)
        yield ws, server, sender


def _predicted(demand: Demand, burst_ns: float) -> Prediction:
    """With the default's costs of packets, and that of a burst."""
    costs = replace(DEFAULT, burst_ns=dict.fromkeys(DEFAULT.burst_ns, Cost(burst_ns, burst_ns, burst_ns)))
    return predict(machine_of(None, None), demand, costs, written_roles(demand), dealt_by_file(demand))


def measured(roles: int, instruments: int, seconds: float, turn_rate_hz: float) -> Loaded:
    """One window. Raises NotMeasured or ProgramFailed."""
    sender_core, *cores = allowed_cores()
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        folder = Path(stack.enter_context(scratch_folder("bench")))
        config, other, overlay = (folder / f"{name}.yaml" for name in ("server", "machine", "ring"))
        names = workspace, f"{workspace}-sender"
        for path, name in zip((config, other), names, strict=True):
            path.write_text(server_file(name, folder, cores, roles, turn_rate_hz, instruments))
        overlay.write_text(json.dumps({"first_turn": 1_000_000, "core": sender_core}))
        demand = read_demand(config)
        packets_alone, with_bursts = _predicted(demand, 0.0), _predicted(demand, 1e9 * MICROSECOND)
        probed = stack.enter_context(Probed(sender_core, cores[0]))
        ws, server, sender = stack.enter_context(_running(config, other, names, overlay))
        watched = Watched(sender.pid)
        rows = compare(packets_alone, look(ws, seconds))
        (share,) = watched.shares()
        server.check()
        sender.check()
        sender.stop()
        if not parse_sent(sender.words).datagrams:
            raise NotMeasured(f"{roles} roles: the sender sent nothing")
    came = [row for row in rows if row.measured is not None and row.expected_packets_per_s and row.packets_per_s]
    if not came:
        raise NotMeasured(f"{roles} roles: no core of the server received anything")
    fullest = max(came, key=lambda row: row.predicted)
    part = fullest.packets_per_s / fullest.expected_packets_per_s
    bursts = {one.core: (one.load - fullest.predicted) / MICROSECOND for one in with_bursts.cores}
    return Loaded(
        roles=roles,
        instruments=instruments,
        cores=len(came),
        packets_load=fullest.predicted * part,
        bursts_per_s=bursts[fullest.core] * part,
        measured=fullest.measured or 0.0,
        packets_per_s=sum(row.packets_per_s for row in came),
        sender_share=share,
        core_to_core_ns=probed.ns,
        distance=probed.distance,
    )
