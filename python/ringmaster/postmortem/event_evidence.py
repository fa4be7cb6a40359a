# SPDX-License-Identifier: Apache-2.0
"""The evidence of an event of the catalogue: its streams, from the pinned files and from what was saved of memory.

Only turns of the turn zero's epoch count. What a stream has in both places is taken from where there is more of it.
"""

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from ringmaster.archive.archive import Archive
from ringmaster.fabric.calibration import Calibration, read_units
from ringmaster.fabric.layout import Calibrated, InstrumentKind
from ringmaster.machine.server_file import read_yaml
from ringmaster.postmortem.capture import MACHINE
from ringmaster.postmortem.event import Event
from ringmaster.postmortem.evidence import Evidence, Series
from ringmaster.postmortem.machine import Machine
from ringmaster.postmortem.memory import FOLDER
from ringmaster.postmortem.pinning import MARK

BEFORE_RECORDS, AFTER_RECORDS = 16384, 4096
"""That are looked at, of a stream: what is usual is known from so many, and more take minutes."""

Floats = np.typing.NDArray[np.float64]


class NothingKept(ValueError):
    """The event has no streams to look at: they were released, or there were none."""


def evidence_of(event: Event) -> Evidence:
    """All that is kept of an event. Raises NothingKept, ValueError for damaged files, OSError."""
    found: dict[str, Series] = {}
    for whole in [*_saved(event), *_pinned(event)]:
        series = whole.between(*_looked_at(event.zero.turn, whole.period_turns))
        before = found.get(series.name)
        if before is None or series.ok.sum() > before.ok.sum():
            found[series.name] = series
    if not found:
        raise NothingKept(f"{event.id}: no streams of it are kept" + (", as they were released" * event.released))
    return Evidence(
        turn_zero=event.zero.turn,
        turn_rate_hz=event.turn_rate_hz,
        series=tuple(found[name] for name in sorted(found)),
        machine=_machine(event.folder / MACHINE),
        title=event.reason,
        source=str(event.folder),
        configuration={"workspace": event.workspace, "turn zero": event.zero.how, "when": event.utc},
    )


def _looked_at(zero: int, period: int) -> tuple[int, int]:
    return zero - BEFORE_RECORDS * period, zero + AFTER_RECORDS * period


def _machine(path: Path) -> Machine | None:
    return Machine.from_description(read_yaml(path)) if path.is_file() else None


def _pinned(event: Event) -> Iterator[Series]:
    if not (event.folder / MARK).exists():
        return
    with Archive(event.folder) as archive:
        for stream in archive.streams:
            window = stream.read(event.first_turn, event.last_turn + 1, turn_epoch=event.zero.turn_epoch & 0xFFFF)
            if not len(window):
                continue
            window = stream.physical(window)
            lanes = tuple(lane.name for lane in stream.lanes)
            units = tuple(stream.physical_units[lane] for lane in lanes)
            values = np.stack([window.values(lane) for lane in lanes], axis=1)
            yield Series(
                stream.name,
                stream.instrument_kind,
                stream.period,
                window.turn,
                lanes,
                units,
                values,
                stream.filter,
                stream.group_delay_turns,
            )


def _saved(event: Event) -> Iterator[Series]:
    """Of all parts, joined: each part holds later turns than the one before."""
    parts: dict[str, list[Series]] = {}
    for path in sorted((event.folder / FOLDER).glob("*.h5"), key=lambda path: int(path.stem)):
        with h5py.File(path, "r") as file:
            for instrument in file.values():
                for group in instrument.values() if isinstance(instrument, h5py.Group) else ():
                    if int(group.attrs["turn_epoch"]) == event.zero.turn_epoch:
                        series = _series(group)
                        parts.setdefault(series.name, []).append(series)
    for of_one in parts.values():
        yield _joined(of_one).between(event.first_turn, event.last_turn + 1)


def _series(group: h5py.Group) -> Series:
    ok = group["ok"][:]
    lanes = {name: data[:].astype(np.float64) for name, data in group["lanes"].items()}
    units = {name: str(data.attrs["unit"]) for name, data in group["lanes"].items()}
    if "calibration" in group and Calibrated[group.attrs["calibrated"].upper()] == Calibrated.IN_READING:
        data = group["calibration"]
        calibration = Calibration(np.asarray(data[:], np.float64), read_units(data.attrs["units"]))
        lanes |= calibration.apply({lane: lanes[lane] for lane in calibration.lanes})
        units |= {lane: calibration.unit(lane) for lane in calibration.lanes}
    values: Floats = np.stack([np.where(ok, values, np.nan) for values in lanes.values()], axis=1)
    return Series(
        name=group.name.lstrip("/"),
        kind=InstrumentKind[group.attrs["kind"].upper()],
        period_turns=int(group.attrs["period_turns"]),
        turn=group["turn"][:],
        lanes=tuple(lanes),
        units=tuple(units[lane] for lane in lanes),
        values=values,
        filter=str(group.attrs["filter"]),
    )


def _joined(parts: list[Series]) -> Series:
    """Evenly spaced; what lies between two parts is missing."""
    one = parts[0]
    if len(parts) == 1:
        return one
    first, last = int(one.turn[0]), int(parts[-1].turn[-1])
    turn = np.arange(first, last + 1, one.period_turns, dtype=np.uint64)
    values = np.full((len(turn), len(one.lanes)), np.nan)
    for part in parts:
        at = (int(part.turn[0]) - first) // one.period_turns
        values[at : at + len(part.turn)] = part.values
    return Series(
        one.name, one.kind, one.period_turns, turn, one.lanes, one.units, values, one.filter, one.group_delay_turns
    )
