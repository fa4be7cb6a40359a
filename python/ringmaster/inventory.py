# SPDX-License-Identifier: Apache-2.0
"""The objects of a workspace in plain Python, as ``ringmaster ls`` and ``ringmaster get`` show them."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ringmaster.clock import ClockReading
from ringmaster.layout import Calibrated, ObjectKind
from ringmaster.naming import not_found
from ringmaster.segment import ObjectInfo
from ringmaster.stream import Stream
from ringmaster.workspace import Workspace

Plain = dict[str, Any]
"""What JSON can hold."""


def matching(ws: Workspace, pattern: str) -> list[ObjectInfo]:
    """Objects whose name matches a shell pattern: the whole name, or else without its first part ("bpm01/*").

    Raises ObjectNotFound when there is none.
    """
    by_whole_name = [info for info in ws.objects.values() if fnmatchcase(info.name, pattern)]
    found = by_whole_name or [info for info in ws.objects.values() if fnmatchcase(short_name(info), pattern)]
    if not found:
        raise not_found("object", pattern, list(ws.objects) + [short_name(info) for info in ws.objects.values()])
    return found


def short_name(info: ObjectInfo) -> str:
    """The name as the mappings of a workspace have it: "bpm01/turn", "stream/bpm01"."""
    prefix = {ObjectKind.STREAM: "stream/", ObjectKind.COUNTERS: "counters/"}.get(info.kind, "")
    return info.name.removeprefix(prefix)


def describe(ws: Workspace, info: ObjectInfo) -> Plain:
    """What an object is."""
    plain: Plain = {
        "name": info.name,
        "kind": info.kind.name.lower(),
        "owner": info.owner,
        "unit": info.unit,
        "shape": list(info.shape),
        "description": info.description,
    }
    if info.kind == ObjectKind.STREAM:
        plain |= _describe_stream(ws, ws.streams[short_name(info)])
    return plain


def _describe_stream(ws: Workspace, stream: Stream) -> Plain:
    turn_rate_hz = ws.clock.read().turn_rate_hz
    return {
        "instrument": stream.instrument_kind.name.lower(),
        "source": stream.source,
        "id": stream.instrument_id,
        "rate_hz": turn_rate_hz / stream.period,
        "period_turns": stream.period,
        "capacity_records": stream.capacity,
        "head_turn": stream.head,
        "first_turn": stream.first,
        "machine_epoch": stream.machine_epoch,
        "filter": stream.filter,
        "group_delay_turns": stream.group_delay_turns,
        "calibrated": stream.calibrated.name.lower(),
        "lanes": [{"name": lane.name, "unit": lane.unit, "type": lane.type.name.lower()} for lane in stream.lanes],
    }


def read(ws: Workspace, info: ObjectInfo) -> Plain:
    """What an object says now; a stream its newest record. Rows and setpoints are only described."""
    readers: dict[ObjectKind, Callable[[Workspace, str], Plain]] = {
        ObjectKind.STREAM: _read_stream,
        ObjectKind.PARAMETER: _read_parameter,
        ObjectKind.COUNTERS: lambda ws, name: dict(ws.counters(name)),
        ObjectKind.CLOCK: lambda ws, _: _read_clock(ws.clock.read()),
        ObjectKind.HISTOGRAM: lambda ws, name: {f"{k}_ns": v for k, v in ws.histograms[name].read().summary().items()},
        ObjectKind.TEXT: lambda ws, name: {"text": ws.texts[name]},
    }
    reader = readers.get(info.kind)
    return reader(ws, short_name(info)) if reader else describe(ws, info)


def _read_stream(ws: Workspace, name: str) -> Plain:
    stream = ws.streams[name]
    window = stream.latest(1)
    if not len(window):
        return {"turn": None}
    clock = ws.clock.read()
    lanes = (stream.record_type.names or ())[2:]
    plain: Plain = {
        "turn": int(window.turn[0]),
        "ok": bool(window.ok[0]),
        "status": int(window.status[0]),
        "missing": int(window.missing[0]),
        "tsc": int(window.tsc[0]),
        "tai_ns": clock.tai_ns_at(int(window.tsc[0])) if clock.tsc_hz and window.ok[0] else None,
        "lanes": {lane: window[lane][0].item() for lane in lanes},
    }
    if stream.calibrated == Calibrated.IN_READING and stream.calibration is not None:
        physical, units = stream.physical(window), stream.physical_units
        values = {lane: physical[lane][0].item() for lane in stream.calibration.lanes}
        plain["physical"] = {lane: {"value": value, "unit": units[lane]} for lane, value in values.items()}
    return plain


def _read_parameter(ws: Workspace, name: str) -> Plain:
    parameter = ws.parameters[name]
    reading = parameter.read()
    return {
        "value": reading.value.tolist() if isinstance(reading.value, np.ndarray) else reading.value,
        "unit": parameter.unit,
        "timestamp_tai_ns": reading.timestamp_tai_ns,
        "turn": reading.turn,
        "severity": reading.severity.name.lower(),
        "limits": {name: limit for name, limit in vars(parameter.limits).items() if limit is not None},
    }


def _read_clock(clock: ClockReading) -> Plain:
    return {**vars(clock), "turn_rate_hz": clock.turn_rate_hz}
