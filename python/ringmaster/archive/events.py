# SPDX-License-Identifier: Apache-2.0
"""Events of an archive: lines of JSON, as docs/archive-format.md lists them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmaster.archive._library import call, ffi, lib
from ringmaster.archive.times import END_NS, Time, iso, utc_ns
from ringmaster.errors import ArchiveDamaged
from ringmaster.fabric.calibration import Calibration, read_units

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive


@dataclass(frozen=True)
class Event:
    """Something that happened beside the streams."""

    utc_ns: int
    what: dict[str, Any]
    """As it was recorded."""

    def __str__(self) -> str:
        return f"{iso(self.utc_ns)} {json.dumps(self.what, ensure_ascii=False)}"


def read(archive: "Archive", objects: Sequence[int], start: Time | None, stop: Time | None) -> list[Event]:
    """The events of these objects in [start, stop), in the order of their times; what is damaged is left out."""
    begin = 0 if start is None else utc_ns(start)
    end = END_NS if stop is None else utc_ns(stop)
    offsets = [file.tai_minus_utc_s * 10**9 for file in archive.files]
    found = [event for number in objects for event in _of_object(archive, number, offsets, begin, end)]
    return sorted(found, key=lambda event: event.utc_ns)


def _of_object(archive: "Archive", number: int, offsets: list[int], begin: int, end: int) -> list[Event]:
    its = archive.object_at(number)
    found: list[Event] = []
    for i in range(its.block_count):
        block, offset = its.block[i], offsets[its.block[i].file]
        if block.block.last_tai_ns - offset < begin or block.block.first_tai_ns - offset >= end:
            continue
        events = (_event(line, block.block.first_tai_ns, offset) for line in _lines(archive, number, i))
        found += (event for event in events if event is not None and begin <= event.utc_ns < end)
    return found


def _lines(archive: "Archive", number: int, block: int) -> list[bytearray]:
    size = archive.object_at(number).block[block].block.plain_bytes
    payload = bytearray(size)
    try:
        call(lib.rm_archive_payload, archive.handle, number, block, ffi.from_buffer(payload))
    except ArchiveDamaged:
        return []  # archive.damages has it
    return payload.splitlines()


def _event(line: bytearray, tai_ns: int, offset_ns: int) -> Event | None:
    try:
        what = json.loads(line)
    except ValueError:
        return None
    if not isinstance(what, dict):
        return None
    its = what.get("tai_ns")
    return Event(max((its if isinstance(its, int) else tai_ns) - offset_ns, 0), what)


def calibration(archive: "Archive", objects: Sequence[int], instrument: str, until_ns: int) -> Calibration | None:
    """The one of that time: of the parameter "calibration/INSTRUMENT", and the text of its units."""
    name = f"calibration/{instrument}"
    values = last_value(archive, objects, name, until_ns)
    units = last_value(archive, objects, f"{name}/units", until_ns)
    if not isinstance(values, list) or not isinstance(units, str):
        return None
    return Calibration(np.array(values, np.float64), read_units(units))


def last_value(archive: "Archive", objects: Sequence[int], name: str, until_ns: int = END_NS) -> object:
    """What a parameter or text was at a time of UTC: the newest until then; None where there is none.

    Looks from the newest block backwards, and only at lines that have the name.
    """
    offsets = [file.tai_minus_utc_s * 10**9 for file in archive.files]
    word = json.dumps(name).encode()
    for number in objects:
        its = archive.object_at(number)
        for i in reversed(range(its.block_count)):
            block, offset = its.block[i].block, offsets[its.block[i].file]
            if block.first_tai_ns - offset > until_ns:
                continue
            lines = [line for line in reversed(_lines(archive, number, i)) if word in line]
            for event in (_event(line, block.first_tai_ns, offset) for line in lines):
                if event is not None and event.what.get("name") == name and "value" in event.what:
                    return event.what["value"]
    return None
