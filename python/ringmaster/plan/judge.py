# SPDX-License-Identifier: Apache-2.0
"""Does it fit? What does not, why, and what it would cost to add; and how sure all of it is."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ringmaster.plan.place import Plan, make_plan
from ringmaster.plan.predict import SAFE_SHARE, CoreLoad, Flow, Prediction, predict
from ringmaster.plan.roles import senders_of

OTHER_PROCESSOR = 1.5
"""Times and by: where costs were measured on another processor. A packet took 25 ns on one server, 54 on another."""
DRIVER = 1.15
"""Times and by: no card's driver was measured; its poll takes some 5 ns more or less than that of a virtual port."""
SCALE = 1.06
"""Times and by: one to seven receive cores side by side took 53 to 56 ns a packet (docs/notes/receiving.md)."""


@dataclass(frozen=True)
class Misfit:
    """Something that does not fit."""

    what: str
    why: str
    remedy: str
    """With how much of it."""


@dataclass(frozen=True)
class Range:
    """From the best to the worst that the costs allow."""

    low: float
    high: float


@dataclass(frozen=True)
class Uncertainty:
    """Of the plan's figures: the factors are taken for independent, and their logarithms are added as squares."""

    factor: float
    """The load is as predicted, times and by this."""
    peak: Range
    receive_cores: Range
    fits_at_worst: bool
    parts: dict[str, float]
    """What it is made of, each times and by."""


@dataclass(frozen=True)
class Judged:
    """A plan, what follows, and what is wrong with it."""

    plan: Plan
    prediction: Prediction
    misfits: tuple[Misfit, ...]
    tight: tuple[str, ...]
    """Fits, but with less room than it should have."""
    uncertainty: Uncertainty

    @property
    def fits(self) -> bool:
        """Whether nothing is overloaded."""
        return not self.misfits


def judge(plan: Plan) -> Judged:
    """Of a plan that was made."""
    prediction = predict(plan.machine, plan.demand, plan.costs, plan.roles, plan.dealt)
    misfits = [*_cores(plan, prediction), *_flows(prediction)]
    return Judged(plan, prediction, tuple(misfits), tuple(_tight(plan, prediction)), uncertainty(plan, prediction))


def uncertainty(plan: Plan, prediction: Prediction) -> Uncertainty:
    """Plans anew with costs at both ends."""
    ratios = [
        math.sqrt(one.high / one.low) for one in prediction.cores if one.low > 0 and one.packets_per_s and one.load
    ]
    parts = {
        "spread of the measured costs": max(ratios, default=1.0),
        "cores beside each other": SCALE,
        "the card's driver": DRIVER,
    }
    if not _same_processor(plan):
        parts["another processor than the measured one"] = OTHER_PROCESSOR
    factor = math.exp(math.sqrt(sum(math.log(part) ** 2 for part in parts.values())))
    ends = []
    for scale in (1 / factor, factor):
        other = make_plan(plan.machine, plan.demand, plan.costs.scaled(scale), plan.rules)
        ends.append(predict(plan.machine, plan.demand, other.costs, other.roles, other.dealt))
    low, high = ends
    return Uncertainty(
        factor=factor,
        peak=Range(prediction.peak / factor, prediction.peak * factor),
        receive_cores=Range(low.receive_cores, high.receive_cores),
        fits_at_worst=high.peak <= 1.0,
        parts=parts,
    )


def _same_processor(plan: Plan) -> bool:
    """Whether the costs are of the machine: both name the same model."""
    return plan.machine.processor != "" and plan.machine.processor == plan.costs.processor


def _cores(plan: Plan, prediction: Prediction) -> Iterator[Misfit]:
    for one in prediction.cores:
        if one.load <= 1.0:
            continue
        yield _core(plan, one)


def _core(plan: Plan, one: CoreLoad) -> Misfit:
    what = f"core {one.core}"
    names = ", ".join(role.name for role in one.roles)
    load = one.load
    why = f"{names}: {100 * load:.0f} % of a core, {one.packets_per_s / 1e6:.1f} million packets a second"
    receive = [role for role in one.roles if role.kind == "receive"]
    queues = [queue for role in receive for queue in role.queues]
    senders = senders_of(plan.demand, queues, plan.dealt)
    ports = {port.name: port for port in plan.demand.ports if port.name in {name for name, _ in queues}}
    more = math.ceil(load / plan.rules.limit) - 1
    if len(queues) > 1 or len(one.roles) > 1:
        own = len(plan.machine.cores)
        remedy = f"{more} more core{'s' if more > 1 else ''} for it: {plan.machine.name} has {own}"
    elif len(senders) == 1:
        remedy = (
            f"all of it comes from one address, {senders[0].address}, which one queue has: let the instruments send "
            f"from {more + 1} addresses, or to {more + 1} ports"
        )
    elif ports and not all(port.divisible for port in ports.values()):
        name = next(iter(ports))
        remedy = (
            f"port {name} ({ports[name].kind}) cannot share its queues out to several roles: spread: true in the port, "
            f"or a port of kind pci; then {more} more core{'s' if more > 1 else ''}"
        )
    else:
        remedy = f"a core that is {load:.1f} times as fast, or {more} more of them with less on each"
    return Misfit(what, why, remedy)


def _flows(prediction: Prediction) -> Iterator[Misfit]:
    for flow in _all(prediction):
        if flow.share is not None and flow.share > 1.0 and flow.most_bytes_per_s:
            more = math.ceil(flow.share / SAFE_SHARE) - 1
            yield Misfit(
                flow.name,
                f"{flow.bytes_per_s / 1e9:.1f} GB/s, and it carries {flow.most_bytes_per_s / 1e9:.1f}",
                f"{more} more of its kind, with as much of the load on each"
                if not flow.name.startswith("memory")
                else "cache injection of the cards (cache_injection: true), or ports on cards of another socket",
            )


def _all(prediction: Prediction) -> Iterable[Flow]:
    return (*prediction.memory, *prediction.links, *prediction.slots)


def _tight(plan: Plan, prediction: Prediction) -> Iterator[str]:
    for one in prediction.cores:
        if plan.rules.limit < one.load <= 1.0:
            yield (
                f"core {one.core} has {100 * one.load:.0f} % to do, more than the limit of "
                f"{100 * plan.rules.limit:.0f} %: after a stall it catches up slowly"
            )
    for flow in _all(prediction):
        if flow.share is not None and SAFE_SHARE < flow.share <= 1.0:
            most = f"expected {100 * SAFE_SHARE:.0f} % at most"
            yield f"{flow.name} carries {100 * flow.share:.0f} % of what it can, {most}"
