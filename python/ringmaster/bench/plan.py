# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench plan`: what `ringmaster plan` predicts for two, four and eight roles, beside what they do here.

In each round one receive role is measured first, and the planner's costs are multiplied by what its load was of the
predicted one. With these costs the planner predicts the others of the same round, for as many packets as came.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import sleep

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, SECONDS, option
from ringmaster.bench.receivers import SETTLE_S, parse_sent
from ringmaster.bench.setups import LANES, TURN_RATE_HZ, UDP_PORT, Mapping, buffers, lanes_of
from ringmaster.bench.workspace import own_workspace
from ringmaster.fabric.workspace import Workspace
from ringmaster.places import CONFIGS
from ringmaster.plan.costs import DEFAULT
from ringmaster.plan.demand import read_demand
from ringmaster.plan.judge import Judged, judge
from ringmaster.plan.machine_file import read_machine
from ringmaster.plan.place import make_plan
from ringmaster.plan.predict import predict
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

ROLES = (1, 2, 4, 8)
"""The first gives the costs."""
INSTRUMENTS = 8
"""Of all roles together, so that the packets are as many, however many roles share them."""
WHOLE_CORE = 0.9
"""Of its core that the sender has at least, as it polls without a pause; else others had the core meanwhile."""
DISTURBED_MAX = 20
"""Windows of one number of roles: then the machine is too busy to go on."""


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(7, "Each of one, two, four and eight roles.", COUNT)
    seconds: float = option(2.0, "Of a window.", SECONDS)
    turn_rate: float = option(TURN_RATE_HZ / 4, "At which eight instruments send.", SECONDS)


@dataclass(frozen=True)
class Loaded:
    """So many receive roles, for a while."""

    round: int
    roles: int
    cores: int
    """That they share."""
    predicted: float
    """Of the fullest core, by the default's costs, for as many packets as came."""
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
class Compared:
    """Roles of one round: predicted with the costs of its one role, and measured."""

    roles: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Measured by predicted, less 1."""
        return self.measured / self.predicted - 1


def scale_of(first: Loaded) -> float:
    """What the default's costs have to be multiplied by, so that one role's load is as measured."""
    return first.measured / first.predicted


def compared(rows: Sequence[Loaded]) -> list[Compared]:
    """Of rounds whose one role was measured in a window of the same class."""
    firsts = {row.round: row for row in rows if row.roles == ROLES[0]}
    return [
        Compared(row.roles, scale_of(first) * row.predicted, row.measured)
        for row in rows
        if row.roles != ROLES[0]
        if (first := firsts.get(row.round)) is not None and first.distance == row.distance
    ]


def large_plan(scale: float) -> Judged:
    """Elettra 2.0 on 256 cores, with the default's costs so many times."""
    machines = CONFIGS / "machines"
    machine, demand = read_machine(machines / "epyc-9755-dual.yaml"), read_demand(machines / "elettra2.yaml")
    return judge(make_plan(machine, demand, DEFAULT.scaled(scale)))


class PlannedRoles(Measurement[Options, Loaded]):
    """Measure the load of two, four and eight receive roles beside what `ringmaster plan` predicts.

    Eight instruments are dealt out to as many ports as there are roles. The costs are those of one role, measured in
    the same round and class of windows. Then: what the same costs come to for Elettra 2.0 on 256 cores.
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
        return [str(count) for count in ROLES]

    def take(self, peer: str) -> Loaded:
        """Starts a server of so many roles and its sender, looks on, and ends both."""
        round_ = sum(row.roles == int(peer) for row in self.rows) + self._failures[peer]
        row = measured(round_, int(peer), self.options.seconds, self.options.turn_rate)
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
    def scale(self) -> Figure | None:
        """Of the default's costs, by the windows of one role."""
        return of_values((scale_of(row) for row in self.rows if row.roles == ROLES[0]), "rounds")

    def headlines(self) -> list[Headline]:
        """How far from the prediction, and what it comes to on 256 cores."""
        errors = [
            Headline(
                f"error_of_{count}_roles",
                of_values((100 * abs(one.error) for one in self._of(count)), "rounds"),
                "%",
                100 * AGREES,
                about="measured beside predicted load",
            )
            for count in ROLES[1:]
        ]
        return [*errors, Headline("cost_scale", self.scale, "×", about="of the planner's default costs, by one role")]

    def tables(self) -> list[Table]:
        """Predicted beside measured, and the large plan."""
        counts = [count for count in ROLES[1:] if self._of(count)]
        columns: Columns = {
            "roles": str,
            "predicted load": lambda count: of_values((one.predicted for one in self._of(count)), "rounds"),
            "measured": lambda count: of_values((one.measured for one in self._of(count)), "rounds"),
            "rounds": lambda count: str(len(self._of(count))),
        }
        made = [Table.of("Load of the fullest core, predicted by one role and measured", counts, columns)]
        if self.scale is not None:
            made.append(Table.of("Elettra 2.0 on 256 cores, by these costs", [large_plan(self.scale.median)], LARGE))
        return made if counts else made[1:]

    def core_shares(self) -> Sequence[float]:
        """The sender's: it polls."""
        return [row.sender_share for row in self.rows]

    def data(self) -> dict[str, object]:
        """Every window."""
        return {"windows": [asdict(row) for row in self.rows], "compared": [asdict(one) for one in self.compared]}


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


def server_file(workspace: str, folder: Path, cores: Sequence[int], roles: int, turn_rate_hz: float) -> str:
    """Ports ring0, ring1, …, each with its part of the instruments and a receive role."""
    each = INSTRUMENTS // roles
    ports: list[Mapping] = [
        {"name": f"ring{i}", "kind": "memif", "socket": str(folder / f"ring{i}.sock"), "role": "server"}
        | {"udp_port": UDP_PORT}
        for i in range(roles)
    ]
    instruments: list[Mapping] = [
        {"name": f"bpm{i}x{j}", "kind": "bpm", "id": j + 1, "port": f"ring{i}", "source": f"10.20.{i}.{j + 1}"}
        | {"lanes": lanes_of(LANES)}
        for i in range(roles)
        for j in range(each)
    ]
    received: list[Mapping] = [
        {"role": "receive", "core": cores[i % len(cores)], "ports": [f"ring{i}"]} for i in range(roles)
    ]
    whole: Mapping = {"workspace": workspace, "turn_rate_hz": turn_rate_hz, "ports": ports, "instruments": instruments}
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


def measured(round_: int, roles: int, seconds: float, turn_rate_hz: float) -> Loaded:
    """One window. Raises NotMeasured or ProgramFailed."""
    sender_core, *cores = allowed_cores()
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        folder = Path(stack.enter_context(scratch_folder("bench")))
        config, other, overlay = (folder / f"{name}.yaml" for name in ("server", "machine", "ring"))
        names = workspace, f"{workspace}-sender"
        for path, name in zip((config, other), names, strict=True):
            path.write_text(server_file(name, folder, cores, roles, turn_rate_hz))
        overlay.write_text(json.dumps({"first_turn": 1_000_000, "core": sender_core}))
        demand = read_demand(config)
        prediction = predict(machine_of(None, None), demand, DEFAULT, written_roles(demand), dealt_by_file(demand))
        probed = stack.enter_context(Probed(sender_core, cores[0]))
        ws, server, sender = stack.enter_context(_running(config, other, names, overlay))
        watched = Watched(sender.pid)
        rows = compare(prediction, look(ws, seconds))
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
    return Loaded(
        round=round_,
        roles=roles,
        cores=len(came),
        predicted=fullest.predicted * fullest.packets_per_s / fullest.expected_packets_per_s,
        measured=fullest.measured or 0.0,
        packets_per_s=sum(row.packets_per_s for row in came),
        sender_share=share,
        core_to_core_ns=probed.ns,
        distance=probed.distance,
    )
