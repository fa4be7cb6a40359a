# SPDX-License-Identifier: Apache-2.0
"""Small archives for tests, whose every value follows from its turn."""

from pathlib import Path

import numpy as np
from archive_writer import F32, I32, REDUCED, ArchiveWriter, Description, LogWriter

BEGIN_NS = 1_790_000_000_000_000_000
"""TAI of turn 0."""
TURN_NS = 1000
TURN_NONE = np.uint64(2**64 - 1)
LANES = (("x1", "nm", I32), ("sum", "", F32))
STREAM = Description("bpm01/turn", lanes=LANES)
_RECORD = np.dtype([("turn", "<u8"), ("tag", "<u8"), ("x1", "<i4"), ("sum", "<f4"), ("rest", "V40")])


def records(first: int, count: int, lost: tuple[int, ...] = (), period: int = 1) -> bytes:
    """Records whose x1 is 7 × turn, and their sum turn / 2; zeros where they were lost."""
    out = np.zeros(count, _RECORD)
    out["turn"] = first + period * np.arange(count)
    out["tag"] = 5 << 48
    out["x1"] = 7 * out["turn"].astype(np.int64)
    out["sum"] = out["turn"] / 2
    for turn in lost:
        out[(turn - first) // period] = np.zeros((), _RECORD)
        out["turn"][(turn - first) // period] = TURN_NONE
    return out.tobytes()


def steps(first: int, count: int, step: int) -> bytes:
    """Steps of a reduction of those records."""
    kind = np.dtype([("turn", "<u8"), ("present", "<u4"), ("missing", "<u4"), ("x1", "<f4", 4), ("sum", "<f4", 4)])
    out = np.zeros(count, kind)
    out["turn"] = first + step * np.arange(count)
    out["present"] = step
    last = out["turn"] + np.uint64(step - 1)
    for lane, factor in (("x1", 7.0), ("sum", 0.5)):
        middle = (out["turn"] + last) / 2
        deviation = np.sqrt((step**2 - 1) / 12)
        out[lane] = factor * np.stack([out["turn"], middle, last, np.full(count, deviation)], axis=1)
    return out.tobytes()


def times(first: int, count: int, period: int = 1, begin_ns: int = BEGIN_NS) -> tuple[int, int]:
    """Of the first and the last of so many records."""
    return begin_ns + first * TURN_NS, begin_ns + (first + (count - 1) * period) * TURN_NS


def add(file: LogWriter, number: int, first: int, count: int, **more: object) -> int:
    """Appends records; returns the block's offset."""
    lost = more.pop("lost", ())
    begin_ns = more.pop("begin_ns", BEGIN_NS)
    payload = records(first, count, lost)  # type: ignore[arg-type]
    return file.records(number, payload, 64, first, times(first, count, 1, begin_ns), **more)  # type: ignore[arg-type]


def simple(path: Path, tai_minus_utc_s: int = 37, sealed: bool = True) -> Path:
    """Turns 1000–1999 of one stream but 1500–1599, of which turn 1003 was lost; and its reduction in steps of 100."""
    archive = ArchiveWriter(path)
    file = archive.file("turns", tai_minus_utc_s=tai_minus_utc_s, tai_ns=BEGIN_NS)
    number = file.describe(STREAM)
    add(file, number, 1000, 200, lost=(1003,))
    add(file, number, 1200, 300, codec=1)
    file.mark(number, 5, 1500, 1599, 100)
    add(file, number, 1600, 400)
    _ = file.seal() if sealed else file.save()
    reduced = archive.file("reduced", tai_minus_utc_s=tai_minus_utc_s, tai_ns=BEGIN_NS)
    number = reduced.describe(Description("bpm01/turn", kind=REDUCED, period=100, lanes=LANES))
    reduced.records(number, steps(1000, 10, 100), 48, 1000, times(1000, 10, 100), kind=REDUCED)
    reduced.seal()
    return path
