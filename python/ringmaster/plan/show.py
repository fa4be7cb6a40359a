# SPDX-License-Identifier: Apache-2.0
"""A plan for people, and for scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from ringmaster.console.marks import bar
from ringmaster.console.units import duration_ns, quantity, share
from ringmaster.doctor import cpu_list
from ringmaster.plan.judge import Judged
from ringmaster.plan.predict import CoreLoad, Flow
from ringmaster.plan.roles import Role
from ringmaster.plan.watch import AGREES, Beside, Move, agreement

BAR_WIDTH = 12
FLOW_TIGHT, LOAD_FULL = 0.7, 1.0


def head(judged: Judged) -> Iterator[Text]:
    """The first lines: what is planned, and whether it fits."""
    plan, prediction = judged.plan, judged.prediction
    demand, sure = plan.demand, judged.uncertainty
    yield Text.assemble(
        (demand.workspace, "bold"),
        f" on {plan.machine.name}: {demand.instruments} instruments, "
        f"{quantity(demand.packets_per_s, 'packets/s', 3)} in, {quantity(demand.setpoints_per_s, 'packets/s', 3)} out",
    )
    cores = f"{prediction.receive_cores} of {len(plan.machine.cores)} cores receive"
    range_ = f"{sure.receive_cores.low:.0f} to {sure.receive_cores.high:.0f}"
    if judged.fits:
        yield Text.assemble(
            ("✓ fits", "green"),
            f": {cores} ({range_} by its uncertainty), the fullest core "
            f"{share(prediction.peak)} ({share(sure.peak.low)} to {share(sure.peak.high)})",
        )
    else:
        yield Text.assemble(("✗ does not fit", "bold red"), f": {len(judged.misfits)} of its parts carry too much")


def misfits(judged: Judged) -> Iterator[Text]:
    """What does not fit, why, and what it would cost to add; then what is tight, and what to know."""
    for one in judged.misfits:
        yield Text.assemble(("✗ ", "bold red"), (one.what, "bold"), f": {one.why}\n    add: {one.remedy}")
    for line in judged.tight:
        yield Text.assemble(("! ", "yellow"), line)
    for line in judged.plan.remarks:
        yield Text.assemble(("! ", "yellow"), line)
    if judged.fits and not judged.uncertainty.fits_at_worst:
        yield Text.assemble(("! ", "yellow"), "were all costs at the high end of their uncertainty, it would not fit")


def cores_table(judged: Judged) -> Table:
    """A row for each core that has something to do."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, side in (("core", "right"), ("at", "left"), ("does", "left"), ("load", "left"), ("", "right")):
        table.add_column(name, justify=side, header_style="dim", overflow="fold")  # type: ignore[arg-type]
    table.add_column("packets/s", justify="right", header_style="dim")
    table.add_column("instruments", justify="right", header_style="dim")
    for one in judged.prediction.cores:
        core = judged.plan.machine.core_of(one.core)
        where = f"socket {core.socket}, chiplet {core.chiplet}" if core else ""
        does = ", ".join(role_words(role) for role in one.roles)
        table.add_row(str(one.core), where, does, *_load(one), *_traffic(one))
    return table


def role_words(role: Role) -> str:
    """For people: "receive a0/0 a0/1", "process tune"."""
    what = role.application or " ".join(f"{port}/{queue}" for port, queue in role.queues)
    return f"{role.kind} {what}".strip()


def _load(one: CoreLoad) -> tuple[Text, Text]:
    style = "red" if one.load > LOAD_FULL else "yellow" if one.load > FLOW_TIGHT else "green"
    return Text(bar(one.load, BAR_WIDTH), style), Text(share(one.load) + (" + ?" if one.unknown else ""))


def _traffic(one: CoreLoad) -> tuple[str, str]:
    if not one.packets_per_s:
        return "", ""
    return quantity(one.packets_per_s, "", 3), str(one.instruments)


def flows_table(judged: Judged) -> Table:
    """Memory, links, slots."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    for flow in flows(judged):
        table.add_row(flow.name, quantity(flow.bytes_per_s, "B/s", 3), *_share(flow))
    return table


def flows(judged: Judged) -> Sequence[Flow]:
    """All that carry bytes."""
    prediction = judged.prediction
    return (*prediction.memory, *prediction.links, *prediction.slots)


def _share(flow: Flow) -> tuple[Text, Text]:
    if flow.share is None:
        return Text("(its limit is not known)", "dim"), Text("")
    style = "red" if flow.share > LOAD_FULL else "yellow" if flow.share > FLOW_TIGHT else "green"
    return Text(f"of {quantity(flow.most_bytes_per_s or 0, 'B/s', 3)}"), Text(share(flow.share), style)


def tail(judged: Judged) -> Iterator[Text]:
    """Latency, Linux, how sure, and where costs come from."""
    plan, prediction, sure = judged.plan, judged.prediction, judged.uncertainty
    if prediction.latency:
        slowest = max(prediction.latency, key=lambda one: one.mean_ns)
        yield Text(
            f"card to shared memory: mean {duration_ns(slowest.mean_ns)}, {duration_ns(slowest.worst_ns)} with all "
            f"senders at once (port {slowest.port}, the slowest); stalls of the machine come on top"
        )
    for name, ns in prediction.hand_over_ns.items():
        if ns > 0:
            yield Text(f"to {name}: {duration_ns(ns)} more, the way of a cache line from its furthest input")
    if unknown := [name for one in prediction.cores for name in one.unknown]:
        yield Text(f"load not known beforehand: {', '.join(unknown)}; `ringmaster plan watch` measures it", "dim")
    yield Text(f"Linux: {cpu_list.words(plan.linux) if plan.linux else 'shares all cores'}")
    parts = ", ".join(f"{name} {part:.2f}" for name, part in sure.parts.items())
    yield Text(f"how sure: times and by {sure.factor:.2f} ({parts})", "dim")
    yield Text(f"costs: {plan.costs.processor} ({plan.costs.measured})", "dim")
    best = "no other assignment has a lower peak" if plan.proven else "searched for some time, not to the end"
    yield Text(f"planned in {plan.seconds * 1e3:.0f} ms of computing; {best}", "dim")


def as_json(judged: Judged) -> dict[str, Any]:
    """For scripts."""
    plan, prediction = judged.plan, judged.prediction
    return {
        "workspace": plan.demand.workspace,
        "machine": plan.machine.name,
        "fits": judged.fits,
        "instruments": plan.demand.instruments,
        "packets_per_s": plan.demand.packets_per_s,
        "setpoints_per_s": plan.demand.setpoints_per_s,
        "receive_cores": prediction.receive_cores,
        "load": {str(one.core): one.load for one in prediction.cores},
        "peak_load": prediction.peak,
        "memory_bytes_per_s": prediction.memory_bytes_per_s,
        "roles": [
            {
                "role": role.kind,
                "core": role.core,
                "queues": [f"{port}/{queue}" for port, queue in role.queues],
                "application": role.application or None,
            }
            for role in plan.roles
        ],
        "queues": dict(plan.dealt),
        "linux": list(plan.linux),
        "near": plan.tier,
        "flows": {flow.name: asdict(flow) | {"share": flow.share} for flow in flows(judged)},
        "latency_ns": {one.port: {"mean": one.mean_ns, "worst": one.worst_ns} for one in prediction.latency},
        "hand_over_ns": dict(prediction.hand_over_ns),
        "misfits": [asdict(one) for one in judged.misfits],
        "tight": list(judged.tight),
        "remarks": list(plan.remarks),
        "uncertainty": asdict(judged.uncertainty),
        "costs": plan.costs.as_json(),
        "plan_cpu_s": plan.seconds,
    }


def beside_table(rows: Sequence[Beside]) -> Table:
    """Predicted and measured load of each core."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("core", "does", "predicted", "measured", "", "packets/s", "of expected"):
        table.add_column(name, justify="left" if name in ("does", "") else "right", header_style="dim")
    for one in rows:
        does = ", ".join(role_words(role) for role in one.roles)
        measured = ("–", Text("no such core of the server", "yellow"))
        if one.measured is not None:
            style = "yellow" if one.measured > FLOW_TIGHT else "green"
            measured = (share(one.measured), Text(bar(one.measured, BAR_WIDTH), style))
        predicted = share(one.predicted) + (" + ?" if one.unknown else "")
        came = quantity(one.packets_per_s, "", 3) if one.expected_packets_per_s else ""
        of = share(one.packets_per_s / one.expected_packets_per_s) if one.expected_packets_per_s else ""
        table.add_row(str(one.core), does, predicted, *measured, came, of)
    return table


def move_lines(rows: Sequence[Beside], move: Move | None, is_made: bool = False) -> Iterator[Text]:
    """How well the prediction holds, and what to do, unless the move is made right now."""
    ratio = agreement(rows)
    if ratio is None:
        yield Text("nothing is received: no load to compare")
    elif abs(ratio - 1) <= AGREES:
        yield Text(
            f"measured by predicted, for as many packets: {ratio:.2f}; they agree within {share(AGREES)}", "green"
        )
    else:
        yield Text(
            f"measured by predicted, for as many packets: {ratio:.2f}; the costs are of another machine or another "
            f"hour: `ringmaster plan costs -o costs.json` measures them here",
            "yellow",
        )
    if move is None:
        yield Text("no move would help", "green")
        return
    yield Text.assemble(
        ("move ", "bold"), f"{role_words(move.role)} from core {move.role.core} to core {move.core}: {move.reason}"
    )
    if not move.kept:
        yield Text(
            f"the server keeps no core {move.core}: name it in `spare_cores` or `roles`, and start the server anew",
            "yellow",
        )
    elif not is_made:
        yield Text("to make it: --apply, or write the core into the file and `ringmaster reload` it", "dim")
