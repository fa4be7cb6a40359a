# SPDX-License-Identifier: Apache-2.0
"""What a running workspace does just now, in figures: rates, losses, cores, links, faults, orbit, tune."""

from collections import deque
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from time import monotonic

from ringmaster.beam.orbit import Orbit, read_orbit
from ringmaster.beam.tune import read_tunes
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.histogram import HistogramReading
from ringmaster.fabric.simulated_time import is_simulated, real_time_ratio
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.monitor.driving import (
    ApplicationFigures,
    ChainFigures,
    SupplyFigures,
    SupplyReader,
    read_applications,
    read_chains,
    read_supplies,
)
from ringmaster.monitor.faults import Fault, FaultWatch
from ringmaster.monitor.feedback import FeedbackFigures, FeedbackReader
from ringmaster.monitor.figures import (
    ClockFigures,
    CoreFigures,
    GeneratorFigures,
    PathFigures,
    PortFigures,
    RateFigures,
    Reading,
    SenderFigures,
    Steering,
    StreamFigures,
    Unsent,
    core_figures,
    generator_figures,
    let_pass,
    not_asked_for,
    path_figures,
    period_of,
    port_figures,
    read_steering,
    sender_figures,
    stream_figures,
)
from ringmaster.monitor.postmortem import PostmortemFigures, read_postmortem
from ringmaster.monitor.standby import StandbyLook, read_standby_look
from ringmaster.monitor.tune import TuneFigures, read_simulated, read_tune
from ringmaster.monitor.tune_spectrum import TuneLines, read_tune_spectrum

Totals = dict[str, dict[str, int]]
"""The values of all counter blocks, by name."""

STEERING = "server/steering"
RECEIVE_LATENCY = "latency/receive/0"
"""The histogram of a server's first core that receives: from the arrival of a burst to its records being visible."""


@dataclass(frozen=True)
class Snapshot:
    """One look at a workspace."""

    workspace: str
    alive: bool
    turn_rate_hz: float
    """As the turn clock has fitted it; 0 until it is anchored."""
    clock: ClockFigures
    streams: tuple[StreamFigures, ...]
    ports: tuple[PortFigures, ...]
    cores: tuple[CoreFigures, ...]
    paths: tuple[PathFigures, ...]
    """The mirrored networks, where there are any."""
    senders: tuple[SenderFigures, ...]
    applications: tuple[ApplicationFigures, ...]
    """Who wants setpoints; empty where the server drives no supplies, as are the next two."""
    chains: tuple[ChainFigures, ...]
    supplies: tuple[SupplyFigures, ...]
    feedback: FeedbackFigures | None
    """None where no orbit feedback runs."""
    steering: tuple[Steering, ...]
    """Empty where the server does not say."""
    faults: tuple[Fault, ...]
    """Newest change first."""
    latency_ns: dict[str, dict[str, float]]
    """Of each histogram: count, p50, p90, p99, p99.9, max."""
    latency_about: dict[str, str]
    """Of each histogram: from when to when it measures, in its owner's words."""
    orbit: Orbit | None
    """None until a BPM has sent something."""
    tunes: tuple[float, float] | None
    """Fractional tunes x and y as an application measures them, else from the newest turns; None until there are
    enough."""
    tunes_simulated: tuple[float, float] | None
    """Those of the virtual ring, where there is one."""
    tune: TuneFigures | None = None
    """None where no application measures the tune."""
    tune_lines: TuneLines | None = None
    """Of the spectrum of the tune itself; None where there is none yet."""
    generators: tuple[GeneratorFigures, ...] = ()
    """Ports by which the server generates packets."""
    postmortem: PostmortemFigures | None = None
    """None where no watch of the post-mortem runs."""
    standby: StandbyLook | None = None
    """None where the server is not one of two."""
    real_time_ratio: float | None = None
    """In simulated time, seconds of the machine per second of the clock; None where time is real."""


@dataclass(frozen=True)
class _Sample:
    """What was counted at one time."""

    time_s: float
    totals: Totals
    heads: dict[str, int | None] = field(default_factory=dict)


class Monitor:
    """Looks at a workspace again and again, and makes rates out of the differences."""

    def __init__(self, ws: Workspace, window_s: float = 0.0) -> None:
        """Rates are over the time since the last look, or over the last ``window_s`` where that is longer."""
        self._ws = ws
        self._window_s = window_s
        self._sets = {block.name: block.set_name for block in ws.counter_blocks.values()}
        self._streams: dict[str, list[Stream]] = {}
        for stream in ws.streams.values():
            self._streams.setdefault(stream.instrument, []).append(stream)
        self._supplies = SupplyReader(ws)
        self._feedback = FeedbackReader(ws)
        self._base: Totals = {}
        self._base_latency: dict[str, HistogramReading] = {}
        self._lost: dict[str, int] = {}
        self._faults = FaultWatch()
        self._samples = deque([self._sample()])

    def reset(self) -> None:
        """Counts begin at zero from now on. The server's own stay as they are."""
        self._base = self._samples[-1].totals
        self._base_latency = self.latency()
        self._lost = {}
        self._faults = FaultWatch()

    def latency(self) -> dict[str, HistogramReading]:
        """All histograms as they are now, since the server started."""
        return {name: histogram.read() for name, histogram in self._ws.histograms.items()}

    def look(self, beam: bool = True) -> Snapshot:
        """Figures of now. ``beam=False`` spares the reading of orbit, turns and spectra: they are None then."""
        ws = self._ws
        now = self._sample()
        while len(self._samples) > 1 and self._samples[1].time_s <= now.time_s - self._window_s:
            self._samples.popleft()
        before = self._samples[0]
        self._samples.append(now)
        readings = self._readings(before, now)
        clock, tsc_hz = self._clock()
        streams = tuple(self._instruments(readings, clock.expected_turn_rate_hz, before, now))
        cores = tuple(core_figures(reading, tsc_hz) for reading in readings.get("core", []))
        standby = read_standby_look(ws)
        tune, spectrum = read_tune(ws), read_tune_spectrum(ws) if beam else None
        return Snapshot(
            workspace=ws.name,
            alive=ws.alive,
            turn_rate_hz=clock.turn_rate_hz,
            clock=clock,
            streams=tuple(streams),
            ports=tuple(map(port_figures, readings.get("port", []))),
            cores=cores,
            paths=tuple(map(path_figures, readings.get("path", []))),
            senders=tuple(sender_figures(reading, tsc_hz) for reading in readings.get("sender", [])),
            applications=read_applications(ws, readings.get("guard", []), readings.get("application", [])),
            chains=read_chains(ws, readings.get("chain", [])),
            supplies=read_supplies(self._supplies),
            feedback=self._feedback.read(),
            steering=_steering(ws),
            faults=self._faults.look(
                readings, streams, cores, clock, now.time_s, is_simulated(ws), standby.figures if standby else None
            ),
            latency_ns=self._latencies(),
            latency_about={name: histogram.description for name, histogram in ws.histograms.items()},
            orbit=_orbit(ws) if beam else None,
            tunes=(tune.x.tune, tune.y.tune) if tune else _tunes(ws) if beam else None,
            tunes_simulated=read_simulated(ws),
            tune=tune,
            tune_lines=spectrum.lines if spectrum else None,
            generators=tuple(map(generator_figures, readings.get("generator", []))),
            postmortem=read_postmortem(ws),
            standby=standby,
            real_time_ratio=real_time_ratio(ws),
        )

    def _sample(self) -> _Sample:
        totals = {name: dict(block) for name, block in self._ws.counter_blocks.items()}
        return _Sample(monotonic(), totals, {name: stream.head for name, stream in self._ws.streams.items()})

    def _readings(self, before: _Sample, now: _Sample) -> dict[str, list[Reading]]:
        """Counter blocks by set, in the order of the workspace."""
        elapsed = max(now.time_s - before.time_s, 1e-9)
        readings: dict[str, list[Reading]] = {}
        for name, totals in now.totals.items():
            reading = Reading(
                name.partition("/")[2], totals, before.totals[name], self._base.get(name, {}), elapsed_s=elapsed
            )
            readings.setdefault(self._sets[name], []).append(reading)
        return readings

    def _instruments(
        self, readings: Mapping[str, list[Reading]], turn_rate_hz: float, before: _Sample, now: _Sample
    ) -> Iterator[StreamFigures]:
        senders = {sender.name: sender for sender in readings.get("sender", [])}
        chains = {chain.name for chain in readings.get("chain", [])}
        transmit = next(iter(readings.get("transmit", [])), None)
        for reading in readings.get("stream", []):
            kind, rate_hz, streams = self._rates(reading.name, turn_rate_hz, before, now)
            unsent = Unsent()
            if sender := _sender_of(reading.name, senders):
                unsent = let_pass(sender, period_of(streams))
            elif transmit and _answers(reading.name, chains):
                unsent = not_asked_for(transmit)
            figures = stream_figures(reading, unsent, kind, rate_hz, streams)
            self._lost[reading.name] = max(figures.lost, self._lost.get(reading.name, 0))
            yield replace(figures, lost=self._lost[reading.name])

    def _rates(
        self, instrument: str, turn_rate_hz: float, before: _Sample, now: _Sample
    ) -> tuple[str, float, tuple[RateFigures, ...]]:
        """Kind of an instrument, the turn rate, and its streams."""
        elapsed = max(now.time_s - before.time_s, 1e-9)
        rates = []
        streams = self._streams.get(instrument, [])
        for stream in streams:
            head, earlier = now.heads[stream.name], before.heads[stream.name]
            grown = 0 if head is None or earlier is None else max(0, head - earlier)
            rates.append(RateFigures(stream.name, stream.period, grown / stream.period / elapsed, stream.filter, head))
        kind = streams[0].instrument_kind.name.lower() if streams else ""
        return kind, turn_rate_hz, tuple(rates)

    def _clock(self) -> tuple[ClockFigures, float]:
        """The clock, and TSC ticks per second; NaN where there is no clock."""
        counts = next((block for block in self._ws.counter_blocks.values() if block.set_name == "clock"), None)
        try:
            fit = self._ws.clock.read()
        except WorkspaceError:
            return ClockFigures(False, 0, 0.0, float("nan"), 0, 0, 0, 0, 0), float("nan")
        tsc_hz = fit.tsc_hz or float("nan")
        figures = ClockFigures(
            anchored=fit.anchored,
            turn=fit.turn,
            turn_rate_hz=fit.turn_rate_hz,
            residual_ns=fit.residual_ticks / tsc_hz * 1e9,
            turn_epoch=fit.turn_epoch,
            anchors=counts["anchors"] if counts else 0,
            streams_live=counts["streams_live"] if counts else 0,
            quorum_votes=counts["quorum_votes"] if counts else 0,
            quorum_needed=counts["quorum_needed"] if counts else 0,
            measured_turn_rate_hz=fit.measured_turn_rate_hz,
            supported=fit.supported,
            phase_limit_turns=counts["phase_limit"] if counts else 0,
        )
        return figures, tsc_hz

    def _latencies(self) -> dict[str, dict[str, float]]:
        base = self._base_latency
        return {
            name: (reading.since(base[name]) if name in base else reading).summary()
            for name, reading in self.latency().items()
        }


def _sender_of(instrument: str, senders: Mapping[str, Reading]) -> Reading | None:
    """Its virtual sender: of its own name, or without the number where one sends for many ("bpm" for "bpm07")."""
    return senders.get(instrument) or senders.get(instrument.rstrip("0123456789"))


def _answers(instrument: str, chains: Set[str]) -> bool:
    """Whether it is a chain, or a part of one's answers: "c01_a" of "c01"."""
    return instrument in chains or instrument.rpartition("_")[0] in chains


def _steering(ws: Workspace) -> tuple[Steering, ...]:
    if STEERING in ws.parameters:
        return read_steering(str(ws.parameters[STEERING].value))
    return read_steering(ws.texts[STEERING]) if STEERING in ws.texts else ()


def _orbit(ws: Workspace) -> Orbit | None:
    try:
        return read_orbit(ws)
    except ValueError:
        return None


def _tunes(ws: Workspace) -> tuple[float, float] | None:
    try:
        return read_tunes(ws)
    except ValueError:
        return None
