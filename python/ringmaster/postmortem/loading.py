# SPDX-License-Identifier: Apache-2.0
"""Evidence from memory, living or dead, and from exported files.

A server that was killed leaves its segments, and with them all streams as they were: ``attach(name, dead=True)`` reads
them. Values are physical where streams are calibrated.
"""

from collections.abc import Iterable
from pathlib import Path

import h5py
import numpy as np

from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.evidence import Actuation, Evidence, Series
from ringmaster.postmortem.machine import Machine
from ringmaster.recordings.export import is_export
from ringmaster.recordings.export import read as read_export

TURN_RATE = "server/turn_rate_hz"


def from_workspace(
    ws: Workspace, turn_zero: int, before_turns: int, after_turns: int, machine: Machine | None = None
) -> Evidence:
    """What its rings still have of these turns. Raises ObjectNotFound where it has no turn rate."""
    series = []
    for stream in ws.streams.values():
        one = _of_stream(stream, turn_zero - before_turns, turn_zero + after_turns)
        if one is not None:
            series.append(one)
    return Evidence(
        turn_zero,
        float(ws.parameters[TURN_RATE].number),
        tuple(series),
        machine,
        sent=_last_sent(ws),
        source=f"workspace {ws.name}" + ("" if ws.alive else ", whose server has ended"),
    )


def newest_turn(ws: Workspace) -> int | None:
    """The last turn of any stream: turn zero of a server that has ended."""
    heads = [head for head in (stream.head for stream in ws.streams.values()) if head is not None]
    return max(heads, default=None)


def _of_stream(stream: Stream, first: int, end: int) -> Series | None:
    oldest, head = stream.oldest(), stream.head
    if oldest is None or head is None:
        return None
    low, high = max(first, oldest), min(end, head)
    low += -low % stream.period
    count = min((high - low) // stream.period + 1, stream.capacity)
    if count < 2:
        return None
    window = stream.read(low, count, physical=True)
    units = stream.physical_units
    lanes = [lane for lane in window.lanes if lane in units]
    return Series(
        stream.name,
        stream.instrument_kind,
        stream.period,
        window.turn,
        tuple(lanes),
        tuple(units[lane] for lane in lanes),
        np.stack([window.values(lane) for lane in lanes], axis=1),
        stream.filter,
        stream.group_delay_turns,
    )


def _last_sent(ws: Workspace) -> Actuation | None:
    """The newest setpoint vector: memory has no older ones."""
    if "sent" not in ws.setpoints:
        return None
    vector = ws.setpoints["sent"].read()
    if vector is None or not vector.names:
        return None
    units = tuple(ws.parameters[f"{name}/setpoint"].unit for name in vector.names)
    turn = np.array([vector.input_turn or 0], np.uint64)
    return Actuation(vector.names, units, turn, vector.values[None])


def from_exports(
    paths: Iterable[Path], turn_zero: int, turn_rate_hz: float, machine: Machine | None = None
) -> Evidence:
    """Windows that ``ringmaster get --hdf5`` wrote. Raises ValueError for what is none."""
    files = list(paths)
    series = [one for path in files for one in _of_export(path)]
    return Evidence(turn_zero, turn_rate_hz, tuple(series), machine, source=", ".join(path.name for path in files))


def _of_export(path: Path) -> list[Series]:
    with h5py.File(path, "r") as file:
        if not is_export(file):
            raise ValueError(f"{path}: no window of streams that `ringmaster get` wrote")
        groups = [group for parent in file.values() for group in parent.values()]
        about = [(group.name.lstrip("/"), dict(group.attrs), np.array(group["turn"])) for group in groups]
    made = []
    for recorded, (name, attributes, turn) in zip(read_export(path), about, strict=True):
        values = np.stack([lane.values.astype(np.float64) for lane in recorded.lanes], axis=1)
        units = {lane.name: lane.unit for lane in recorded.lanes}
        if recorded.calibration is not None and attributes["calibrated"] == "in_reading":
            raw = {lane.name: lane.values for lane in recorded.lanes}
            names = list(raw)
            physical = recorded.calibration.apply({n: raw[n] for n in recorded.calibration.lanes})
            for lane, numbers in physical.items():
                values[:, names.index(lane)] = numbers
                units[lane] = recorded.calibration.unit(lane)
        if recorded.ok is not None:
            values[~recorded.ok] = np.nan
        made.append(
            Series(
                name,
                recorded.kind,
                int(attributes["period_turns"]),
                turn.astype(np.uint64),
                tuple(lane.name for lane in recorded.lanes),
                tuple(units[lane.name] for lane in recorded.lanes),
                values,
                str(attributes["filter"]),
            )
        )
    return made
