# SPDX-License-Identifier: Apache-2.0
"""All that the round trip test has to say, as a section: figures, tables, charts, notes, and every round."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from ringmaster.bench import rtt_tables
from ringmaster.bench.distribution import Distribution
from ringmaster.bench.links import about
from ringmaster.bench.log import Log
from ringmaster.bench.placements import Placements
from ringmaster.bench.rtt_options import Options
from ringmaster.bench.rtt_run import Round
from ringmaster.bench.rtt_tables import Pooled
from ringmaster.report.conditions import StallFloor
from ringmaster.report.section import Section
from ringmaster.report.verdicts import Conditions, conditions_of


@dataclass
class Measured:
    """What there is of a run."""

    places: Placements
    rounds: list[Round] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    loads: dict[str, str] = field(default_factory=dict)
    """What ran meanwhile, by load."""
    interrupted: bool = False


def section_of(options: Options, measured: Measured, log: Log) -> Section:
    """Of any number of rounds, also of none."""
    pooled = rtt_tables.pool(measured.rounds)
    notes = [*log.notes, *(note for one in pooled for note in _doubts(one))]
    notes += [f"not here: {note}" for note in measured.places.notes]
    section = Section(
        name="rtt",
        title="Round trip time",
        about=_about(options, measured),
        command=options.command,
        headlines=rtt_tables.headlines(pooled),
        conditions=_conditions(measured),
        notes=list(dict.fromkeys(notes)),
        interrupted=measured.interrupted,
        data={
            "options": asdict(options),
            "placements": [asdict(place) for place in measured.places.found],
            "loads": measured.loads,
            "rounds": [_as_json(done) for done in measured.rounds],
        },
    )
    if pooled:
        section.tables += rtt_tables.tables(pooled)
        section.charts += rtt_tables.charts(pooled)
    return section


def _about(options: Options, measured: Measured) -> str:
    places = "; ".join(f"{place.name} {place.cores[0]} and {place.cores[1]}" for place in measured.places.found)
    between = [f"{left} to {right}" for left, right in options.endpoints] or [about(kind) for kind in options.kinds]
    ways = "; ".join(f"{name}: {what}" for name, what in zip(options.ways, between, strict=True))
    loaded_by = f" Loaded by {measured.loads['loaded']}." if "loaded" in measured.loads else ""
    return (
        f"A sender and a reflector, two processes on {places}. {options.rate_hz:g} probes a second of {options.size} "
        f"bytes on a schedule, {options.rounds} rounds of {options.seconds:g} s for each way and load, by turns, each "
        f"after {options.warm_up_s:g} s of warm-up. {ways}.{loaded_by}"
    )


def _doubts(one: Pooled) -> Iterator[str]:
    """What to know of a variant's figures."""
    if one.lost:
        yield f"{one.name}: {one.lost:,} of {one.probes:,} probes were lost"
    if one.variant.load == "idle":
        yield from _disturbances(one)
    elif one.variant.placement.name.startswith("ordinary"):
        yield (
            "loaded, ordinary cores: the load runs on the cores that are measured; a program that polls has its share "
            "of them (see Rounds) and waits for the rest, one that sleeps is woken soon"
        )
    for stamps in sorted({str(done.said.get("hardware_stamps", "none")) for done in one.rounds} - {"none"}):
        yield f"{one.name}: hardware time stamps of the card: {stamps}"


def _disturbances(one: Pooled) -> Iterator[str]:
    late_share = one.summed("sent_late") / max(1, one.probes)
    late = f"{late_share:.0%} of the probes were sent more than a period late"
    disturbed = len(one.rounds) - len(one.undisturbed)
    if disturbed and not rtt_tables.sleeps(one.variant.way):
        rounds = f"in {disturbed} of {len(one.rounds)} rounds others used this machine"
        yield f"{one.name}: {rounds}, sender or reflector had {min(one.least_shares):.0%} of its core; {late}"
    elif disturbed or late_share > rtt_tables.SENT_LATE:
        yield f"{one.name}: {late}: others use this machine, or the rate is more than it can send"


def _conditions(measured: Measured) -> Conditions:
    """By all probes around rounds; shares of the core are of idle ones, for under a load it has its own."""
    probes = [probe for done in measured.rounds for probe in done.core_to_core_ns]
    idle = [done for done in measured.rounds if done.variant.load == "idle"]
    polled = [done for done in idle if not rtt_tables.sleeps(done.variant.way)]
    shares = [share for done in polled for share in (done.sender_share, done.reflector_share)]
    return conditions_of(probes, measured.floors, shares)


def _as_json(done: Round) -> dict[str, object]:
    """A round without its samples."""
    kept = {name: value for name, value in vars(done).items() if name not in ("due_us", "sent_us", "variant")}
    due, sent = Distribution.of(done.due_us, done.lost), Distribution.of(done.sent_us, done.lost)
    figures = {"due_us": asdict(due) if due else None, "sent_us": asdict(sent) if sent else None}
    return {**asdict(done.variant), **kept, **figures}
