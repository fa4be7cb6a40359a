# SPDX-License-Identifier: Apache-2.0
"""Inter-packet times of a running machine, from the records of its server's streams.

Every record carries the TSC at which its burst was taken from the port. So records of one burst are apart by nothing,
and the next by what lies between two polls: adaptive polling, which waits for a few datagrams at a time, is seen in
single intervals and not in averages.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import sleep

from ringmaster.bench.interval_tables import (
    Observed,
    averages_table,
    by_instrument,
    charts,
    headlines,
    singles_table,
)
from ringmaster.bench.intervals import Instrument, of_stamps
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.report.section import Section

RECORDS = 1 << 14
"""That a look takes of each stream, at most; a quarter of its ring, too."""
ABOUT = """\
Every record of a full-rate stream carries the time at which its burst was taken from the port. The average of an \
instrument is over all that was looked at; records of one burst are apart by nothing, and bursts by the time between \
two polls."""


@dataclass(frozen=True)
class Options:
    """Which server, and for how long."""

    workspace: str | None
    seconds: float = 5.0
    looks: int = 10


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Looks at all full-rate streams of instruments. Raises NotMeasured where nothing comes, WorkspaceError."""
    log, looks, interrupted = Log(say), list[list[Instrument]](), False
    with attach(options.workspace) as ws:
        streams, nominal_ns, tsc_hz = _streams(ws), _nominal_ns(ws), ws.clock.read().tsc_hz
        try:
            for number in range(options.looks):
                looks.append(_look(streams, tsc_hz))
                log.say(f"{number + 1}/{options.looks}: {len(looks[-1])} of {len(streams)} instruments")
                step()
                sleep(options.seconds / options.looks)
        except KeyboardInterrupt:
            interrupted = True
            log.note("interrupted: what follows is what was measured until then")
        name = ws.name
    if not any(looks):
        raise NotMeasured(f"interval: nothing comes in the {len(streams)} full-rate streams of workspace {name!r}")
    return _section(options, Observed(name, nominal_ns, looks), log, interrupted)


def _streams(ws: Workspace) -> list[Stream]:
    found = [
        stream
        for stream in ws.streams.values()
        if stream.period == 1 and stream.instrument_kind != InstrumentKind.APPLICATION
    ]
    if not found:
        raise NotMeasured(f"interval: workspace {ws.name!r} has no full-rate stream of an instrument")
    return found


def _nominal_ns(ws: Workspace) -> float:
    """The period of a turn, as the server was told it."""
    return 1e9 / float(ws.parameters["server/turn_rate_hz"].value)


def _look(streams: list[Stream], tsc_hz: float) -> list[Instrument]:
    """The newest records of each stream, those of which two or more were had."""
    found = []
    for stream in streams:
        window = stream.latest(min(RECORDS, stream.capacity // 4))
        one = of_stamps(stream.instrument, [(window.turn[window.ok], window.tsc[window.ok])], tsc_hz)
        if one is not None:
            found.append(one)
    return found


def _section(options: Options, observed: Observed, log: Log, interrupted: bool) -> Section:
    where = f" --workspace {options.workspace}" if options.workspace else ""
    return Section(
        name="interval",
        title=f"Inter-packet time, workspace {observed.name}",
        about=ABOUT,
        command=f"ringmaster bench interval{where} --seconds {options.seconds:g}",
        headlines=headlines(observed),
        tables=[averages_table([observed]), singles_table([observed]), by_instrument(observed)],
        charts=charts([observed]),
        notes=list(log.notes),
        interrupted=interrupted,
        data={"options": asdict(options), "nominal_ns": observed.nominal_ns},
    )
