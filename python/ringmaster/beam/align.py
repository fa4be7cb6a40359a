# SPDX-License-Identifier: Apache-2.0
"""Which instruments count turns differently: all of them see a kick of the beam at the same turn, or should.

::

    with ringmaster.attach() as ws:
        aligner = Aligner(ws)
        for turn in KickWatch(aligner.bpms).kicks(timeout_s=60):
            aligner.add(turn)
        for alignment in aligner.alignments():
            ...

The kick itself is found by ringmaster.beam.kick. The turn at which most BPMs see it is taken for right, or that of a
reference; an instrument's offset is the turns by which it sees the kick later. It is taken off its ``turn_offset``.

A kicked beam passes the BPMs behind the kicker in the same turn, and those before it in the next. By aligning all to
one turn, the turn begins at the kicker.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from ringmaster.beam.bpm import position_lanes
from ringmaster.beam.detection import LINE_TURNS, Detection, first_record, look
from ringmaster.beam.kick import F64, FIT_TURNS, REACH, SCALES, find_change, probability
from ringmaster.beam.kick_watch import read_signals
from ringmaster.beam.tune import find_tune
from ringmaster.fabric.layout import NO_FILTER, InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.spectra.density import PRESENT

RANGE_TURNS = 4096
"""How far off an instrument may be, unless another range is asked for."""
MARGIN_TURNS = FIT_TURNS + REACH + 2 * max(SCALES)
"""What is looked at beyond the range, on either side."""
LINE_BPMS = 16
"""BPMs from which the betatron lines are taken."""
SURE = 0.9
"""Confidence from which an offset is taken for found."""
NEVER = float(np.log(1e-6))
"""Logarithm of the probability that a kick is not near where it was found: with several kicks one may mislead."""


@dataclass(frozen=True)
class Alignment:
    """What was found out about one instrument."""

    name: str
    kind: InstrumentKind
    turn: int | None
    """At which it saw the first kick; None when it saw none."""
    offset: int | None
    """Turns by which it sees kicks later than the reference; None when that is not known."""
    confidence: float
    """Probability of ``offset`` among its neighbours, 0–1."""
    note: str
    """What a person should know besides; may be empty."""

    @property
    def sure(self) -> bool:
        """Whether ``offset`` may be relied upon."""
        return self.offset is not None and self.confidence >= SURE


def full_rate_streams(ws: Workspace) -> list[Stream]:
    """One stream per instrument: the records as they came."""
    streams: dict[str, Stream] = {}
    for stream in ws.streams.values():
        is_instrument = stream.instrument_kind != InstrumentKind.APPLICATION
        if is_instrument and stream.filter == NO_FILTER and stream.instrument not in streams:
            streams[stream.instrument] = stream
    return list(streams.values())


class Aligner:
    """Collects what all instruments show of one kick after another."""

    TIMEOUT_S = 2.0
    """How long the turns after a kick are waited for."""

    def __init__(self, ws: Workspace, range_turns: int = RANGE_TURNS, reference: str | None = None) -> None:
        """Raises ValueError where the reference is no instrument here, or a ring is too short for the range."""
        self._ws = ws
        self._span = range_turns + MARGIN_TURNS
        self._reference = reference
        self._streams = {stream.instrument: stream for stream in full_rate_streams(ws)}
        self._kicks: list[dict[str, Detection]] = []
        self._references: list[int] = []
        if reference is not None and reference not in self._streams:
            raise ValueError(f"no instrument {reference!r} sends every turn here; `ringmaster ls` shows them")
        for stream in self._streams.values():
            if stream.capacity * stream.period < 4 * self._span:
                raise ValueError(
                    f"{stream.name} holds {stream.capacity * stream.period} turns, too few for a range of "
                    f"{range_turns}: expected {4 * self._span}; make buffers.turn_records larger, or the range smaller"
                )

    @property
    def bpms(self) -> list[Stream]:
        """The streams in which a kick is looked for."""
        return [stream for stream in self._streams.values() if _oscillates(stream) and stream.head is not None]

    @property
    def kick_turns(self) -> list[int]:
        """The turns of the kicks so far, by the reference."""
        return list(self._references)

    def add(self, near_turn: int) -> bool:
        """Looks at all instruments around a kick. False when it is none: fewer than half of the BPMs show it."""
        first = max(0, near_turn - self._span)
        self._wait_for(near_turn + self._span)
        signals = {name: read_signals(stream, first, 2 * self._span) for name, stream in self._streams.items()}
        lines = self._find_lines(signals)
        if lines is None:
            return False
        detections = {
            name: look(signals[name], first_record(first, stream.period), stream.period, lines, _oscillates(stream))
            for name, stream in self._streams.items()
        }
        bpms = [detections[stream.instrument] for stream in self.bpms]
        if 2 * sum(detection.turn is not None for detection in bpms) < len(bpms):
            return False
        reference = self._find_reference(detections, bpms)
        if reference is None:
            return False
        self._kicks.append(detections)
        self._references.append(reference)
        return True

    def _wait_for(self, turn: int) -> None:
        give_up = monotonic() + self.TIMEOUT_S
        for stream in self._streams.values():
            if stream.head is not None:
                stream.wait(turn, max(0.0, give_up - monotonic()))

    def _find_lines(self, signals: dict[str, F64]) -> tuple[float, float] | None:
        """The betatron lines x and y, in 1 / turn, from the BPMs that show a change; None when none does."""
        planes: tuple[list[F64], list[F64]] = ([], [])
        for stream in self.bpms:
            change = find_change(signals[stream.instrument], oscillates=True) if stream.period == 1 else None
            if change is None or len(planes[0]) >= LINE_BPMS:
                continue
            after = signals[stream.instrument][:, change[0] : change[0] + LINE_TURNS]
            if after.shape[1] == LINE_TURNS and (np.isfinite(after).mean(axis=1) >= PRESENT).all():
                planes[0].extend(after[0::2])
                planes[1].extend(after[1::2])
        return (find_tune(*planes[0]), find_tune(*planes[1])) if planes[0] else None

    def _find_reference(self, detections: dict[str, Detection], bpms: Sequence[Detection]) -> int | None:
        if self._reference is not None:
            return detections[self._reference].turn
        turns = [detection.turn for detection in bpms if detection.turn is not None and detection.confidence >= SURE]
        turns = turns or [detection.turn for detection in bpms if detection.turn is not None]
        return Counter(turns).most_common(1)[0][0] if turns else None

    def alignments(self) -> list[Alignment]:
        """What all kicks together say of each instrument."""
        return [self._alignment(stream) for stream in self._streams.values()]

    def _alignment(self, stream: Stream) -> Alignment:
        detections = [kick[stream.instrument] for kick in self._kicks]
        seen = [
            (detection, first_record(reference, stream.period))
            for detection, reference in zip(detections, self._references, strict=True)
            if detection.turn is not None
        ]
        note = next((detection.note for detection in detections if detection.note), "") or self._silence(stream)
        if not seen:
            note = note or "shows no kick"
            return Alignment(stream.instrument, stream.instrument_kind, None, None, 0.0, note)
        turn = seen[0][0].turn
        wandering = _wanders(seen)
        if wandering or note:
            return Alignment(stream.instrument, stream.instrument_kind, turn, None, 0.0, wandering or note)
        offset, confidence = _combine(seen)
        note = "" if confidence >= SURE else "not sure: more kicks may tell"
        return Alignment(stream.instrument, stream.instrument_kind, turn, offset, confidence, note)

    def _silence(self, stream: Stream) -> str:
        if stream.head is not None:
            return ""
        name = f"stream/{stream.instrument}"
        counters = self._ws.counters(name) if name in self._ws.counter_blocks else {}
        ahead, behind = counters.get("turn_ahead", 0), counters.get("turn_behind", 0)
        if ahead or behind:
            return (
                f"all its turns are refused ({ahead} too far ahead, {behind} too far behind): set a rough turn_offset"
            )
        if counters.get("turn_out_of_range", 0):
            return "all its turns are out of range: correct its turn_offset, or the counter's field in its format"
        return "sends nothing"


def _oscillates(stream: Stream) -> bool:
    return stream.instrument_kind == InstrumentKind.BPM and bool(position_lanes(stream))


def _wanders(seen: Sequence[tuple[Detection, int]]) -> str:
    """What to say of an instrument whose offset changes from kick to kick."""
    sure = [
        (detection.turn - reference)
        for detection, reference in seen
        if detection.turn is not None and detection.confidence >= SURE
    ]
    if len(sure) < 2 or max(sure) - min(sure) <= 2 * REACH:
        return ""
    found = ", ".join(f"{offset:+d}" for offset in sure)
    return f"its offset changes from kick to kick ({found}): its counter runs at another period"


def _combine(seen: Sequence[tuple[Detection, int]]) -> tuple[int, float]:
    """The offset that all kicks together make most probable, and that probability."""
    logs: list[dict[int, float]] = []
    for detection, reference in seen:
        log = np.log(np.maximum(probability(detection.likelihood), 1e-300))
        logs.append({detection.first + i * detection.period - reference: float(value) for i, value in enumerate(log)})
    offsets = sorted(set().union(*logs), key=abs)
    total = np.array([sum(max(log.get(offset, NEVER), NEVER) for log in logs) for offset in offsets])
    shares = probability(total)
    best = int(np.argmax(shares))
    return offsets[best], float(shares[best])
