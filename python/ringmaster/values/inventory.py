# SPDX-License-Identifier: Apache-2.0
"""The objects of a workspace in plain Python, as ``ringmaster ls`` and ``ringmaster get`` show them."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ringmaster.errors import ObjectNotFound, WorkspaceDamaged, WorkspaceWarning
from ringmaster.fabric.clock import ClockReading
from ringmaster.fabric.layout import Calibrated, ObjectKind
from ringmaster.fabric.naming import not_found
from ringmaster.fabric.parameter import ParameterReading
from ringmaster.fabric.rows import Rows
from ringmaster.fabric.segment import ObjectInfo
from ringmaster.fabric.standby import StandbyOrdersReading, StandbyStateReading
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import DAMAGE, Workspace
from ringmaster.values import time_format
from ringmaster.values.value_format import plain, split_name

T = TypeVar("T")

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


_PREFIXES = {ObjectKind.STREAM: "stream/", ObjectKind.ROWS: "rows/", ObjectKind.COUNTERS: "counters/"}


def short_name(info: ObjectInfo) -> str:
    """The name as the mappings of a workspace have it: "bpm01/turn", "stream/bpm01"."""
    return info.name.removeprefix(_PREFIXES.get(info.kind, ""))


def whole(look: Callable[[], T]) -> T | None:
    """What ``look`` gives. None where the object is damaged: then a warning names it, and the rest works."""
    try:
        return look()
    except WorkspaceDamaged as error:
        warnings.warn(f"left out: {error}", WorkspaceWarning, stacklevel=2)
        return None


def describe(ws: Workspace, info: ObjectInfo) -> Plain:
    """What an object is. Raises WorkspaceDamaged."""
    try:
        return _describe(ws, info)
    except DAMAGE as error:
        raise WorkspaceDamaged(f"{info.name!r} of {info.owner} is damaged: {error}; start {info.owner} anew") from None


def _describe(ws: Workspace, info: ObjectInfo) -> Plain:
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
    elif info.kind == ObjectKind.ROWS:
        plain |= _describe_rows(ws, ws.rows[short_name(info)])
    return plain


def _describe_rows(ws: Workspace, rows: Rows) -> Plain:
    return {
        "rate_hz": ws.clock.read().turn_rate_hz / rows.period,
        "period_turns": rows.period,
        "capacity_rows": rows.capacity,
        "width": rows.width,
        "head_turn": rows.head,
        "first_turn": rows.stream.first,
        "turn_epoch": rows.stream.turn_epoch,
        "axis": {
            "name": rows.axis_name,
            "unit": rows.axis_unit,
            "first": float(rows.axis[0]),
            "last": float(rows.axis[-1]),
        },
    }


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
        "turn_epoch": stream.turn_epoch,
        "filter": stream.filter,
        "group_delay_turns": stream.group_delay_turns,
        "delay_turns": stream.delay_turns,
        "calibrated": stream.calibrated.name.lower(),
        "lanes": [{"name": lane.name, "unit": lane.unit, "type": lane.type.name.lower()} for lane in stream.lanes],
    }


def read_all(ws: Workspace, name: str, unit: str | None = None) -> dict[str, Plain]:
    """What the objects that match say now; of NAME[3] that element of a parameter.

    ``unit``: only parameters, those that have it in that unit. Raises ObjectNotFound where there is none, UnitUnknown
    where none has that unit.
    """
    base, first, count = split_name(name)
    if count is not None and name not in ws.objects and base in ws.parameters:
        return {name: _read_parameter(ws, base, unit, slice(first, first + count))}
    infos = matching(ws, name)
    if unit is None and len(infos) == 1:
        return {infos[0].name: read(ws, infos[0])}
    if unit is None:
        return {info.name: reading for info in infos if (reading := whole(partial(read, ws, info))) is not None}
    parameters = [info.name for info in infos if info.kind == ObjectKind.PARAMETER]
    if not parameters:
        raise not_found("parameter", name, list(ws.parameters))
    having = [found for found in parameters if ws.parameters[found].has_unit(unit)] or parameters[:1]
    return {found: _read_parameter(ws, found, unit if found in having else None) for found in parameters}


def read(ws: Workspace, info: ObjectInfo) -> Plain:
    """What an object says now; streams and setpoints what is newest. Rows of cells and requests are only described."""
    readers: dict[ObjectKind, Callable[[Workspace, str], Plain]] = {
        ObjectKind.STREAM: _read_stream,
        ObjectKind.ROWS: _read_rows,
        ObjectKind.PARAMETER: _read_parameter,
        ObjectKind.COUNTERS: lambda ws, name: dict(ws.counters(name)),
        ObjectKind.CLOCK: lambda ws, _: _read_clock(ws.clock.read()),
        ObjectKind.HISTOGRAM: lambda ws, name: {
            key if key == "count" else f"{key}_ns": value for key, value in ws.histograms[name].read().summary().items()
        },
        ObjectKind.TEXT: lambda ws, name: {"text": ws.texts[name]},
        ObjectKind.GROUP: _read_group,
        ObjectKind.SETPOINTS: _read_setpoints,
        ObjectKind.GRANT: _read_grant,
        ObjectKind.INTENDED: _read_intended,
        ObjectKind.STANDBY_STATE: lambda ws, name: _read_standby(ws.standby[name].read()),
        ObjectKind.STANDBY_ORDERS: lambda ws, name: _read_standby(ws.standby_orders[name].read()),
        ObjectKind.STATE: _read_state,
        ObjectKind.REPLIES: lambda ws, name: dict(ws.replies[name].read()),
    }
    reader = readers.get(info.kind)
    try:
        return reader(ws, short_name(info)) if reader else describe(ws, info)
    except DAMAGE as error:
        raise WorkspaceDamaged(f"{info.name!r} of {info.owner} is damaged: {error}; start {info.owner} anew") from None


_CLOCK_UNITS = {
    **dict.fromkeys(("turn_rate_hz", "measured_turn_rate_hz", "tsc_hz"), "Hz"),
    **dict.fromkeys(("turn_tsc", "tai_tsc", "residual_ticks", "ticks_per_turn", "measured_ticks_per_turn"), "ticks"),
    "tai_ns": "ns",
}


def units_of(ws: Workspace, name: str) -> dict[str, str]:
    """Units of the numbers that an object has several of: lanes, counters, setpoints, the clock."""
    info = ws.objects.get(name)
    if info is None:
        return {}
    if info.kind == ObjectKind.STREAM:
        return {lane.name: lane.unit for lane in ws.streams[short_name(info)].lanes} | {"tai_ns": "ns", "tsc": "ticks"}
    if info.kind == ObjectKind.ROWS:
        return {"values": info.unit}
    if info.kind == ObjectKind.COUNTERS:
        counters = ws.counters(short_name(info)).counters.values()
        return {counter.name: counter.unit for counter in counters if counter.unit not in (counter.name, "times")}
    if info.kind == ObjectKind.SETPOINTS:
        return {supply: ws.supplies[supply].setpoint.unit for supply in ws.supplies} | {"tsc": "ticks"}
    if info.kind == ObjectKind.CLOCK:
        return _CLOCK_UNITS
    return {}


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


def _read_rows(ws: Workspace, name: str) -> Plain:
    window = ws.rows[name].latest(1)
    if not len(window):
        return {"turn": None}
    return {
        "turn": int(window.turn[0]),
        "ok": bool(window.ok[0]),
        "quality": int(window.quality[0]),
        "values": plain(window.values[0]),
    }


def _read_parameter(ws: Workspace, name: str, unit: str | None = None, part: slice | None = None) -> Plain:
    parameter = ws.parameters[name]
    reading = parameter.read(unit)
    if part is not None:
        values = np.atleast_1d(np.asarray(reading.value)).ravel()[part]
        if not values.size:
            raise ObjectNotFound(f"{name} has {parameter.count} elements, from 0 on; {part.start} is none of them")
        reading = replace(reading, value=values.item() if values.size == 1 else values)
    return {
        **_plain_reading(reading),
        "owner": parameter.owner,
        "writable": parameter.writable,
        "setting": parameter.setting,
        "group": parameter.group,
        "units": list(parameter.units),
        "limits": {name: limit for name, limit in vars(parameter.limits).items() if limit is not None},
    }


def _plain_reading(reading: ParameterReading) -> Plain:
    return {
        "value": plain(reading.value),
        "unit": reading.unit,
        "timestamp_tai_ns": reading.timestamp_tai_ns,
        "turn": reading.turn,
        "severity": reading.severity.name.lower(),
        "changes": reading.changes,
    }


def _read_group(ws: Workspace, name: str) -> Plain:
    reading = ws.groups[name].read()
    return {
        "changes": reading.changes,
        "timestamp_tai_ns": reading.timestamp_tai_ns,
        "turn": reading.turn,
        "members": {member: _plain_reading(value) for member, value in reading.readings.items()},
    }


def _read_setpoints(ws: Workspace, name: str) -> Plain:
    row = ws.setpoints[name.removeprefix("setpoints/")].read()
    if row is None:
        return {"vector": None}
    names = row.names or tuple(f"[{i}]" for i in range(len(row.values)))
    return {
        "vector": row.number,
        "grant_number": row.grant_number,
        "input_turn": row.input_turn,
        "tsc": row.tsc,
        "setpoints": dict(zip(names, row.values.tolist(), strict=True)),
    }


def _read_intended(ws: Workspace, _: str) -> Plain:
    plain: Plain = {}
    for index, chain in enumerate(ws.chains):
        reading = ws.intended.read(index)
        plain[chain] = {
            "intended": reading.intended,
            "transmitted": reading.transmitted,
            "setpoints": reading.setpoints.tolist(),
            "doubtful": None if reading.doubtful is None else reading.doubtful.tolist(),
        }
    return plain


def _read_standby(reading: StandbyStateReading | StandbyOrdersReading | None) -> Plain:
    if reading is None:
        return {"written": False}
    plain: Plain = {
        name: value.name.lower() if isinstance(value, IntEnum) else value for name, value in vars(reading).items()
    }
    if isinstance(reading, StandbyStateReading):
        plain["since"] = time_format.iso(plain.pop("since_tai_ns"))
    return plain


def _read_state(ws: Workspace, name: str) -> Plain:
    reading = ws.states[name].read()
    if reading is None:
        return {"turn": None}
    return {
        "turn": reading.turn,
        "steps": reading.steps,
        "bytes": reading.content.size,
        "checksum": f"{reading.checksum:016x}",
    }


def _read_grant(ws: Workspace, name: str) -> Plain:
    grant = ws.grants[name.removeprefix("grant/")]
    reading = grant.read()
    offence = reading.offence
    return {
        "application": grant.application,
        "state": reading.state.name.lower(),
        "grant_number": reading.grant_number,
        "pid": reading.pid,
        "instance": reading.instance,
        "since": time_format.iso(reading.since_tai_ns) if reading.since_tai_ns else None,
        "stalls": reading.stalls,
        "restarts": reading.restarts,
        "actuators": grant.actuator_count,
        "period_turns": grant.period_turns,
        "freshness_turns": grant.freshness_turns,
        "watchdog_cycles": grant.watchdog_cycles,
        "when_it_stops": grant.stop.name.lower(),
        "refused_last": None if offence is None else offence.reason,
        "refused_last_at_turn": None if offence is None else offence.turn,
    }


def _read_clock(clock: ClockReading) -> Plain:
    return {
        **vars(clock),
        "turn_rate_hz": clock.turn_rate_hz,
        "measured_turn_rate_hz": clock.measured_turn_rate_hz,
    }
